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
 * cBPF only jumps forwards. The program is therefore made from its last
 * instruction to its first, and every target exists before the jump to it.
 * A place is the number of instructions from one to the end.
 */
#include "policy/policy.h"

#include <errno.h>
#include <linux/seccomp.h>

#include "policy/names.h"

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define AND (BPF_ALU | BPF_AND | BPF_K)
#define RET (BPF_RET | BPF_K)
#define JUMP (BPF_JMP | BPF_JA)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_AT_LEAST (BPF_JMP | BPF_JGE | BPF_K)

/*
 * A conditional jump skips at most 255 instructions. Two less, because each
 * of its targets may have to be reached through a `ja` put right behind it.
 */
#define REACH 253

struct gen {
	const struct nsrun_policy	*policy;
	const struct nsrun_policy_rule	*rules[NSRUN_POLICY_RULES_MAX];
	struct sock_filter		*insns;		/* the last one first */
	unsigned int			n;		/* of insns */
	int				full;
};

/* The numbers from `from` up to the next span: one action, or rules. */
struct span {
	uint32_t	from;
	uint32_t	action;		/* unless there are rules */
	unsigned short	first;		/* rule in gen->rules */
	unsigned short	n;		/* rules; 0: none looks at arguments */
};

static unsigned int
put(struct gen *g, unsigned int code, unsigned int jt, unsigned int jf,
    uint32_t k)
{
	if (g->n == BPF_MAXINSNS) {
		g->full = 1;
		return g->n;
	}
	g->insns[g->n++] = (struct sock_filter){
		.code = (uint16_t)code, .jt = (uint8_t)jt, .jf = (uint8_t)jf,
		.k = k,
	};
	return g->n;
}

/* The place itself, or a `ja` to it: one that is there, or a new one. */
static unsigned int
reach(struct gen *g, unsigned int place)
{
	if (g->n - place <= REACH)
		return place;
	for (unsigned int p = g->n; g->n - p <= REACH; p--)
		if (g->insns[p - 1].code == JUMP &&
		    g->insns[p - 1].k == p - 1 - place)
			return p;
	return put(g, JUMP, 0, 0, g->n - place);
}

static unsigned int
jump(struct gen *g, unsigned int code, uint32_t k, unsigned int yes,
    unsigned int no)
{
	yes = reach(g, yes);
	no = reach(g, no);
	return put(g, code, g->n - yes, g->n - no, k);
}

/* Load a word of struct seccomp_data and go on with what was made last. */
static unsigned int
load(struct gen *g, size_t offset)
{
	return put(g, LOAD, 0, 0, (uint32_t)offset);
}

/* A `ret` in reach of the next jump: one that is there, or a new one. */
static unsigned int
ret(struct gen *g, uint32_t action)
{
	for (unsigned int p = g->n; p > 0 && g->n - p <= REACH; p--)
		if (g->insns[p - 1].code == RET && g->insns[p - 1].k == action)
			return p;
	return put(g, RET, 0, 0, action);
}

/* Is one half of an argument, masked, that half of one of the n values? */
static unsigned int
half(struct gen *g, const struct nsrun_policy_cond *cond, unsigned int shift,
    const uint64_t *values, unsigned int n, unsigned int yes, unsigned int no)
{
	uint32_t mask = (uint32_t)(cond->mask >> shift);
	size_t offset = offsetof(struct seccomp_data, args) + 8 * cond->arg +
	    shift / 8;

	while (n-- > 0)
		no = jump(g, IF_EQUAL, (uint32_t)(values[n] >> shift), yes, no);
	if (mask != UINT32_MAX)
		put(g, AND, 0, 0, mask);
	return load(g, offset);
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
		return ret(g, span->action);
	next = ret(g, g->policy->def);
	for (unsigned int i = span->n; i-- > 0;) {
		const struct nsrun_policy_rule *r = g->rules[span->first + i];

		entry = ret(g, r->action);
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
	return jump(g, IF_AT_LEAST, spans[n / 2].from, right, left);
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

/* The program was made backwards. */
static void
reverse(struct sock_filter *insns, unsigned int n)
{
	for (unsigned int i = 0; i < n / 2; i++) {
		struct sock_filter first = insns[i];

		insns[i] = insns[n - 1 - i];
		insns[n - 1 - i] = first;
	}
}

int
nsrun_policy_emit(const struct nsrun_policy *policy, unsigned int variant,
    enum nsrun_arch arch, struct nsrun_program *program, struct nsrun_err *err)
{
	struct gen g = { .policy = policy, .insns = program->insns };
	struct span spans[2 * NSRUN_POLICY_RULES_MAX + 2];
	unsigned int n, entry;

	if (variant >= policy->n_variants || !(policy->arches & 1U << arch))
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "no such variant or architecture", policy->name, NULL);
	n = nsrun_policy_select(policy, variant, arch, g.rules);
	n = cut(&g, arch, n, spans);
	tree(&g, spans, n);
	entry = load(&g, offsetof(struct seccomp_data, nr));
	jump(&g, IF_EQUAL, nsrun_arch_audit(arch), entry,
	    ret(&g, SECCOMP_RET_KILL_PROCESS));
	load(&g, offsetof(struct seccomp_data, arch));
	if (g.full)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "more than 4096 instructions", policy->name,
		    policy->variants[variant]);
	program->n = (unsigned short)g.n;
	reverse(program->insns, g.n);
	return 0;
}
