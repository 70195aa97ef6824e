/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/file.h"
#include "kafel/tree.h"

/* The program is left in the scratch arena. */
static int
compile(struct nsrun_arena *scratch, const struct kafel_source *source,
    uint32_t audit_arch, struct kafel_program *program, struct nsrun_err *err)
{
	struct kafel_lex lex = {
		.arena = scratch, .include_dir = source->include_dir,
		.err = err,
	};
	enum kafel_arch arch = audit_arch == AUDIT_ARCH_AARCH64 ?
	    KAFEL_AARCH64 : KAFEL_X86_64;
	struct kafel_rules rules;
	struct kafel_tree tree;

	if (arch == KAFEL_X86_64 && audit_arch != AUDIT_ARCH_X86_64)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "no Kafel policy for this architecture", source->name,
		    NULL);
	if (kafel_lex_push(&lex, source->name, source->text,
	    source->len) < 0 ||
	    kafel_parse(&lex, arch, &tree) < 0 ||
	    kafel_resolve(scratch, &tree, arch, &rules, err) < 0)
		return -1;
	if (source->refuse_x32 && arch == KAFEL_X86_64 &&
	    (rules.def == SECCOMP_RET_ALLOW || rules.def == SECCOMP_RET_LOG))
		rules.high_def = SECCOMP_RET_ERRNO | ENOSYS;
	return kafel_emit(scratch, &rules, audit_arch, source->name, program,
	    err);
}

int
kafel_compile(struct nsrun_arena *arena, const struct kafel_source *source,
    uint32_t arch, struct kafel_program *program, struct nsrun_err *err)
{
	struct nsrun_arena scratch = NSRUN_ARENA_INIT;
	struct kafel_program made;
	int wrong = compile(&scratch, source, arch, &made, err);

	if (!wrong) {
		made.insns = nsrun_arena_dup(arena, made.insns,
		    made.n * sizeof *made.insns);
		if (made.insns)
			*program = made;
		else
			wrong = nsrun_err_nomem(err, source->name);
	}
	nsrun_arena_deinit(&scratch);
	return wrong;
}

int
kafel_compile_file(struct nsrun_arena *arena,
    const struct kafel_source *source, uint32_t arch,
    struct kafel_program *program, struct nsrun_err *err)
{
	const char *path = source->name;
	nsrun_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct kafel_source read = *source;
	char *text;
	int wrong;

	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "open", path,
		    NULL);
	text = nsrun_file_read_fd(fd, KAFEL_TEXT_MAX, &read.len);
	if (!text)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "read", path,
		    NULL);
	read.text = text;
	wrong = kafel_compile(arena, &read, arch, program, err);
	free(text);
	return wrong;
}
