/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rules to cBPF.
 *
 *	ld arch; jeq ARCH; ld nr
 *	a balanced tree of `jge` over the spans of equal action
 *	at a leaf: one `ret`, or the rules of the one call that looks at
 *	its arguments
 *
 * Whatever loads an argument stands behind its number's match: the kernel
 * runs each number through the program once, when it is loaded, and answers
 * a call that was allowed without such a load from a bitmap for ever after.
 *
 * It is written backwards: see asm.h, also for what a place is.
 */
#include "policy/policy.h"

#include <errno.h>
#include <linux/seccomp.h>

#include "policy/asm.h"
#include "policy/names.h"

#define AND (BPF_ALU | BPF_AND | BPF_K)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_AT_LEAST (BPF_JMP | BPF_JGE | BPF_K)

struct gen {
	const struct nsrun_policy	*policy;
	const struct nsrun_policy_rule	*rules[NSRUN_POLICY_RULES_MAX];
	struct nsrun_asm		as;
};

/* The numbers from `from` up to the next span: one action, or rules. */
struct span {
	uint32_t	from;
	uint32_t	action;		/* unless there are rules */
	unsigned short	first;		/* rule in gen->rules */
	unsigned short	n;		/* rules; 0: none looks at arguments */
};

/* Is one half of an argument, masked, that half of one of the n values? */
static unsigned int
half(struct gen *g, const struct nsrun_policy_cond *cond, unsigned int shift,
    const uint64_t *values, unsigned int n, unsigned int yes, unsigned int no)
{
	uint32_t mask = (uint32_t)(cond->mask >> shift);
	size_t offset = offsetof(struct seccomp_data, args) + 8 * cond->arg +
	    shift / 8;

	while (n-- > 0)
		no = nsrun_asm_jump(&g->as, IF_EQUAL,
		    (uint32_t)(values[n] >> shift), yes, no);
	if (mask != UINT32_MAX)
		nsrun_asm_put(&g->as, AND, 0, 0, mask);
	return nsrun_asm_load(&g->as, offset);
}

/* Decide a test: the place that does, and goes on at `yes` or at `no`. */
static unsigned int
test(struct gen *g, const struct nsrun_policy_cond *cond, unsigned int yes,
    unsigned int no)
{
	const uint64_t *v = g->policy->values + cond->first;
	int negated = cond->op == NSRUN_POLICY_NOT_IN;
	unsigned int in = negated ? no : yes, out = negated ? yes : no;
	unsigned int start, end;

	/* The values ascend: those with the same high half stand together. */
	for (end = cond->n; end > 0; end = start) {
		unsigned int entry = in;

		start = end - 1;
		while (start > 0 && v[start - 1] >> 32 == v[end - 1] >> 32)
			start--;
		if ((uint32_t)cond->mask)
			entry = half(g, cond, 0, v + start, end - start, in,
			    out);
		if (cond->mask >> 32)
			entry = half(g, cond, 32, v + start, 1, entry, out);
		out = entry;
	}
	return out;
}

static unsigned int
leaf(struct gen *g, const struct span *span)
{
	unsigned int next, entry;

	if (span->n == 0)
		return nsrun_asm_ret(&g->as, span->action);
	next = nsrun_asm_ret(&g->as, g->policy->def);
	for (unsigned int i = span->n; i-- > 0;) {
		const struct nsrun_policy_rule *r = g->rules[span->first + i];

		entry = nsrun_asm_ret(&g->as, r->action);
		for (unsigned int c = r->n_conds; c-- > 0;)
			entry = test(g, &g->policy->conds[r->first + c], entry,
			    next);
		next = entry;
	}
	return next;
}

/* The last thing that it makes is the test it begins with. */
static unsigned int
tree(struct gen *g, const struct span *spans, unsigned int n)
{
	unsigned int left, right;

	if (n == 1)
		return leaf(g, spans);
	right = tree(g, spans + n / 2, n - n / 2);
	left = tree(g, spans, n / 2);
	return nsrun_asm_jump(&g->as, IF_AT_LEAST, spans[n / 2].from, right,
	    left);
}

/* Append a span, unless it only continues the one before. */
static unsigned int
add_span(struct span *spans, unsigned int n, struct span span)
{
	if (n > 0 && spans[n - 1].from == span.from)
		n--;
	if (n > 0 && span.n == 0 && spans[n - 1].n == 0 &&
	    spans[n - 1].action == span.action)
		return n;
	spans[n] = span;
	return n + 1;
}

/* Cut all 2^32 numbers into spans. Each call is followed by a gap. */
static unsigned int
cut(const struct gen *g, enum nsrun_arch arch, unsigned int n_rules,
    struct span *spans)
{
	const struct nsrun_policy_rule *const *r = g->rules;
	struct span gap = { .from = 0, .action = g->policy->def };
	unsigned int n = add_span(spans, 0, gap), end;

	for (unsigned int i = 0; i < n_rules; i = end) {
		struct span span = {
			.from = (uint32_t)r[i]->nr[arch],
			.action = r[i]->action, .first = (unsigned short)i,
		};

		end = i + 1;
		while (end < n_rules && r[end]->nr[arch] == r[i]->nr[arch])
			end++;
		if (r[i]->n_conds)
			span.n = (unsigned short)(end - i);
		n = add_span(spans, n, span);
		gap.from = span.from + 1;
		n = add_span(spans, n, gap);
	}
	gap.from = NSRUN_POLICY_NR_END;
	if (gap.action == SECCOMP_RET_ALLOW)
		gap.action = SECCOMP_RET_ERRNO | ENOSYS;
	return add_span(spans, n, gap);
}

int
nsrun_policy_emit(const struct nsrun_policy *policy, unsigned int variant,
    enum nsrun_arch arch, struct nsrun_program *program, struct nsrun_err *err)
{
	struct gen g = { .policy = policy, .as.insns = program->insns };
	struct span spans[2 * NSRUN_POLICY_RULES_MAX + 2];
	unsigned int n, entry;

	if (variant >= policy->n_variants || !(policy->arches & 1U << arch))
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "no such variant or architecture", policy->name, NULL);
	n = nsrun_policy_select(policy, variant, arch, g.rules);
	n = cut(&g, arch, n, spans);
	tree(&g, spans, n);
	entry = nsrun_asm_load(&g.as, offsetof(struct seccomp_data, nr));
	nsrun_asm_jump(&g.as, IF_EQUAL, nsrun_arch_audit(arch), entry,
	    nsrun_asm_ret(&g.as, SECCOMP_RET_KILL_PROCESS));
	nsrun_asm_load(&g.as, offsetof(struct seccomp_data, arch));
	if (g.as.full)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "more than 4096 instructions", policy->name,
		    policy->variants[variant]);
	program->n = (unsigned short)g.as.n;
	nsrun_asm_reverse(&g.as);
	return 0;
}
