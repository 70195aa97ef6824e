/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From rules to cBPF.
 *
 *	ld arch; jeq ARCH, else kill the thread; ld nr
 *	a balanced tree of `jge` over the spans of numbers of equal action
 *	at a leaf: one `ret`, or the rules of a call that look at its
 *	arguments, and what is decided when none of them matches
 *
 * Whatever loads an argument stands behind its number's match, so that the
 * kernel can answer the others from its bitmap.
 */
#include "kafel/tree.h"

#include <linux/seccomp.h>
#include <stdlib.h>

#include "policy/asm.h"

#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_AT_LEAST (BPF_JMP | BPF_JGE | BPF_K)

/* The numbers from `from` up to the next span. */
struct span {
	uint32_t		from;
	uint32_t		action;		/* when no rule matches */
	const struct kafel_rule	*rules;		/* with conditions */
	size_t			n;
};

static int
compare(const void *a, const void *b)
{
	const struct kafel_rule *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Append a span, unless it only continues the one before. */
static size_t
add_span(struct span *spans, size_t n, struct span span)
{
	if (n > 0 && span.n == 0 && spans[n - 1].n == 0 &&
	    spans[n - 1].action == span.action)
		return n;
	spans[n] = span;
	return n + 1;
}

/* The numbers from `from` to the one before `end` that no rule is about. */
static size_t
add_gap(const struct kafel_rules *rules, struct span *spans, size_t n,
    uint32_t from, uint64_t end)
{
	struct span gap = { .from = from, .action = rules->def };

	if (from < KAFEL_X32 && from < end)
		n = add_span(spans, n, gap);
	gap.action = rules->high_def;
	if (from < KAFEL_X32)
		gap.from = KAFEL_X32;
	return gap.from < end ? add_span(spans, n, gap) : n;
}

/*
 * The first rule without a condition ends those of its call. Returns how
 * many rules are about it.
 */
static size_t
fill(const struct kafel_rules *rules, size_t i, struct span *span)
{
	const struct kafel_rule *v = rules->v;
	size_t end = i;

	*span = (struct span){ .from = v[i].nr, .rules = &v[i] };
	span->action = v[i].nr < KAFEL_X32 ? rules->def : rules->high_def;
	while (end < rules->n && v[end].nr == v[i].nr && v[end].when)
		end++;
	span->n = end - i;
	if (end < rules->n && v[end].nr == v[i].nr)
		span->action = v[end].action;
	while (end < rules->n && v[end].nr == v[i].nr)
		end++;
	return end - i;
}

/* Cut all 2^32 numbers into spans. */
static size_t
cut(const struct kafel_rules *rules, struct span *spans)
{
	uint64_t from = 0;
	size_t n = 0;

	for (size_t i = 0; i < rules->n;) {
		struct span span;

		if (rules->v[i].nr > from)
			n = add_gap(rules, spans, n, (uint32_t)from,
			    rules->v[i].nr);
		i += fill(rules, i, &span);
		n = add_span(spans, n, span);
		from = (uint64_t)span.from + 1;
	}
	if (from <= UINT32_MAX)
		n = add_gap(rules, spans, n, (uint32_t)from,
		    (uint64_t)UINT32_MAX + 1);
	return n;
}

static unsigned int
leaf(struct nsrun_asm *as, const struct span *span)
{
	unsigned int next = nsrun_asm_ret(as, span->action);

	for (size_t i = span->n; i-- > 0;)
		next = kafel_emit_cond(as, span->rules[i].when,
		    nsrun_asm_ret(as, span->rules[i].action), next);
	return next;
}

static unsigned int
tree(struct nsrun_asm *as, const struct span *spans, size_t n)
{
	unsigned int left, right;

	if (as->full)
		return as->n;
	if (n == 1)
		return leaf(as, spans);
	right = tree(as, spans + n / 2, n - n / 2);
	left = tree(as, spans, n / 2);
	if (left == right)
		return left;
	return nsrun_asm_jump(as, IF_AT_LEAST, spans[n / 2].from, right, left);
}

static void
program_write(struct nsrun_asm *as, const struct span *spans, size_t n,
    uint32_t audit_arch)
{
	unsigned int entry = tree(as, spans, n);

	/* Without a jump over it the number is of no interest. */
	if (entry == as->n && n > 1)
		entry = nsrun_asm_load(as, offsetof(struct seccomp_data, nr));
	nsrun_asm_jump(as, IF_EQUAL, audit_arch, entry,
	    nsrun_asm_ret(as, SECCOMP_RET_KILL_THREAD));
	nsrun_asm_load(as, offsetof(struct seccomp_data, arch));
	nsrun_asm_reverse(as);
}

int
kafel_emit(struct nsrun_arena *arena, struct kafel_rules *rules,
    uint32_t audit_arch, const char *file, struct kafel_program *program,
    struct nsrun_err *err)
{
	struct sock_filter insns[BPF_MAXINSNS];
	struct nsrun_asm as = { .insns = insns };
	struct span *spans = nsrun_arena_alloc(arena,
	    (2 * rules->n + 2) * sizeof *spans);

	if (!spans)
		return nsrun_err_nomem(err, file);
	if (rules->n)
		qsort(rules->v, rules->n, sizeof *rules->v, compare);
	program_write(&as, spans, cut(rules, spans), audit_arch);
	if (as.full)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "more than 4096 instructions", file, NULL);
	program->insns = nsrun_arena_dup(arena, insns, as.n * sizeof *insns);
	program->n = (unsigned short)as.n;
	return program->insns ? 0 : nsrun_err_nomem(err, file);
}
