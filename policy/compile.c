/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A site's filter, compiled when it is wanted. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "policy/embedded.h"
#include "policy/names.h"
#include "policy/policy.h"
#include "policy/program.h"

/* Too large for a stack. */
struct work {
	struct nsrun_policy	policy;
	struct nsrun_program	program;
};

static int
add(struct nsrun_arena *arena, const struct work *w, unsigned int variant,
    enum nsrun_arch arch, struct nsrun_filter *f)
{
	const struct nsrun_program *program = &w->program;
	char hash[NSRUN_HASH_SIZE];

	nsrun_program_hash(program->insns, program->n, hash);
	*f = (struct nsrun_filter){
		.name = nsrun_arena_strdup(arena, w->policy.name),
		.variant = nsrun_arena_strdup(arena,
		    w->policy.variants[variant]),
		.audit_arch = nsrun_arch_audit(arch),
		.sha256 = nsrun_arena_strdup(arena, hash),
		.insns = nsrun_arena_dup(arena, program->insns,
		    program->n * sizeof *program->insns),
		.n_insns = program->n,
	};
	return f->name && f->variant && f->sha256 && f->insns ? 0 : -1;
}

static int
compile(struct nsrun_arena *arena, struct work *w, const char *file,
    struct nsrun_filter *filters, size_t *n, struct nsrun_err *err)
{
	for (unsigned int v = 0; v < w->policy.n_variants; v++)
		for (int a = 0; a < NSRUN_N_ARCHES; a++) {
			if (!(w->policy.arches & 1U << a))
				continue;
			if (nsrun_policy_emit(&w->policy, v,
			    (enum nsrun_arch)a, &w->program, err) < 0)
				return -1;
			if (add(arena, w, v, (enum nsrun_arch)a,
			    &filters[(*n)++]) < 0)
				return nsrun_err_nomem(err, file);
		}
	return 0;
}

int
nsrun_filters_compile(struct nsrun_arena *arena, const char *file,
    const char *text, size_t len, struct nsrun_filter **filters, size_t *n,
    struct nsrun_err *err)
{
	struct work *w = malloc(sizeof *w);
	int rc;

	*n = 0;
	*filters = nsrun_arena_alloc(arena, NSRUN_POLICY_VARIANTS_MAX *
	    NSRUN_N_ARCHES * sizeof **filters);
	if (!w || !*filters)
		rc = nsrun_err_nomem(err, file);
	else
		rc = nsrun_policy_parse(&w->policy, file, text, len, err);
	if (rc == 0)
		rc = compile(arena, w, file, *filters, n, err);
	free(w);
	return rc;
}

uint32_t
nsrun_filter_arch_find(const char *name)
{
	enum nsrun_arch arch = nsrun_arch_find(name);

	return arch == NSRUN_N_ARCHES ? 0 : nsrun_arch_audit(arch);
}

const char *
nsrun_filter_arch_name(uint32_t audit_arch)
{
	for (int a = 0; a < NSRUN_N_ARCHES; a++)
		if (nsrun_arch_audit((enum nsrun_arch)a) == audit_arch)
			return nsrun_arch_name((enum nsrun_arch)a);
	return NULL;
}

size_t
nsrun_filter_bytes(const struct nsrun_filter *filter,
    uint8_t out[NSRUN_FILTER_BYTES_MAX])
{
	return nsrun_program_bytes(filter->insns, filter->n_insns, out);
}
