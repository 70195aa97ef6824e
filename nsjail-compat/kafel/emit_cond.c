/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Conditions. cBPF has words of 32 bits, one accumulator (A), one index
 * register (X) and 16 words of memory.
 *
 * A comparison is of 64 bits when anything in it is; its high words then come
 * first, and its low ones only where those are equal.
 */
#include "kafel/tree.h"

#include <assert.h>
#include <linux/seccomp.h>

#include "policy/asm.h"

static void value(struct nsrun_asm *as, const struct kafel_node *node,
    enum kafel_half half, unsigned int memory);

/*
 * Load one value into A and another into X, for what was made last. Memory
 * below `memory` is in use.
 */
static void
both(struct nsrun_asm *as, const struct kafel_node *a,
    const struct kafel_node *x, enum kafel_half half, unsigned int memory)
{
	if (a->op == KAFEL_ARG) {
		value(as, a, half, memory);
		nsrun_asm_put(as, BPF_MISC | BPF_TAX, 0, 0, 0);
	} else if (memory >= BPF_MEMWORDS) {
		/* It takes 2^16 arguments: more than there is room for. */
		as->full = 1;
		return;
	} else {
		nsrun_asm_put(as, BPF_LDX | BPF_MEM, 0, 0, memory);
		value(as, a, half, memory + 1);
		nsrun_asm_put(as, BPF_ST, 0, 0, memory);
	}
	value(as, x, half, memory);
}

/* Load half of a value into A, for what was made last. */
static void
value(struct nsrun_asm *as, const struct kafel_node *node,
    enum kafel_half half, unsigned int memory)
{
	const struct kafel_node *a = node->left, *x = node->right;
	unsigned int op = node->op == KAFEL_BIT_AND ? BPF_AND : BPF_OR;

	if (node->op == KAFEL_ARG) {
		nsrun_asm_load(as, offsetof(struct seccomp_data, args) +
		    8 * node->arg + (half == KAFEL_HIGH ? 4 : 0));
		return;
	}
	if (a->words[half].is_const) {
		a = node->right;
		x = node->left;
	}
	if (x->words[half].is_const) {
		uint32_t k = x->words[half].k;

		if (k != (op == BPF_AND ? UINT32_MAX : 0))
			nsrun_asm_put(as, BPF_ALU | op | BPF_K, 0, 0, k);
		value(as, a, half, memory);
		return;
	}
	nsrun_asm_put(as, BPF_ALU | op | BPF_X, 0, 0, 0);
	/* The one that needs more memory is worked out first, into X. */
	if (x->op == KAFEL_ARG || (a->op != KAFEL_ARG &&
	    a->words[half].memory > x->words[half].memory))
		both(as, x, a, half, memory);
	else
		both(as, a, x, half, memory);
}

/* Half of the two values of a comparison. */
struct pair {
	const struct kafel_node	*left;
	const struct kafel_node	*right;
	enum kafel_half		half;
};

/* left <code> right, of which neither or one is known. */
static unsigned int
pair_branch(struct nsrun_asm *as, const struct kafel_word *left,
    const struct kafel_word *right, unsigned int code, unsigned int yes,
    unsigned int no)
{
	if (left->is_const && code != BPF_JEQ)
		/* k > a is not a >= k, and k >= a is not a > k. */
		return pair_branch(as, right, left,
		    code == BPF_JGT ? BPF_JGE : BPF_JGT, no, yes);
	if (left->is_const)
		return pair_branch(as, right, left, code, yes, no);
	if (!right->is_const)
		return nsrun_asm_jump(as, BPF_JMP | code | BPF_X, 0, yes, no);
	if (code == BPF_JGE && right->k == 0)
		return yes;
	if (code == BPF_JGT && right->k == UINT32_MAX)
		return no;
	return nsrun_asm_jump(as, BPF_JMP | code | BPF_K, right->k, yes, no);
}

/* The jump alone, if one is needed: see pair_load(). */
static unsigned int
pair_jump(struct nsrun_asm *as, const struct pair *pair, unsigned int code,
    unsigned int yes, unsigned int no)
{
	const struct kafel_word *left = &pair->left->words[pair->half];
	const struct kafel_word *right = &pair->right->words[pair->half];

	if (yes == no)
		return yes;
	if (!left->is_const || !right->is_const)
		return pair_branch(as, left, right, code, yes, no);
	return (code == BPF_JEQ ? left->k == right->k : code == BPF_JGT ?
	    left->k > right->k : left->k >= right->k) ? yes : no;
}

/* Load what the jumps compare that were made since `before`, if any. */
static unsigned int
pair_load(struct nsrun_asm *as, const struct pair *pair, unsigned int before,
    unsigned int entry)
{
	if (entry <= before)
		return entry;
	if (pair->right->words[pair->half].is_const)
		value(as, pair->left, pair->half, 0);
	else if (pair->left->words[pair->half].is_const)
		value(as, pair->right, pair->half, 0);
	else
		both(as, pair->left, pair->right, pair->half, 0);
	return as->n;
}

/* code: BPF_JEQ, BPF_JGT or BPF_JGE. */
static unsigned int
comparison(struct nsrun_asm *as, const struct kafel_node *node,
    unsigned int code, unsigned int yes, unsigned int no)
{
	struct pair low = { node->left, node->right, KAFEL_LOW };
	struct pair high = { node->left, node->right, KAFEL_HIGH };
	unsigned int before = as->n, entry;

	entry = pair_load(as, &low, before,
	    pair_jump(as, &low, code, yes, no));
	if (!node->wide)
		return entry;
	before = as->n;
	entry = pair_jump(as, &high, BPF_JEQ, entry, no);
	if (code != BPF_JEQ)
		entry = pair_jump(as, &high, BPF_JGT, yes, entry);
	return pair_load(as, &high, before, entry);
}

unsigned int
kafel_emit_cond(struct nsrun_asm *as, const struct kafel_node *node,
    unsigned int yes, unsigned int no)
{
	switch ((int)node->op) {
	case KAFEL_EQ:
		return comparison(as, node, BPF_JEQ, yes, no);
	case KAFEL_NE:
		return comparison(as, node, BPF_JEQ, no, yes);
	case KAFEL_GT:
		return comparison(as, node, BPF_JGT, yes, no);
	case KAFEL_LE:
		return comparison(as, node, BPF_JGT, no, yes);
	case KAFEL_GE:
		return comparison(as, node, BPF_JGE, yes, no);
	case KAFEL_LT:
		return comparison(as, node, BPF_JGE, no, yes);
	case KAFEL_AND:
		yes = kafel_emit_cond(as, node->right, yes, no);
		return kafel_emit_cond(as, node->left, yes, no);
	case KAFEL_OR:
		no = kafel_emit_cond(as, node->right, yes, no);
		return kafel_emit_cond(as, node->left, yes, no);
	default:
		assert(node->op == KAFEL_NOT);
		return kafel_emit_cond(as, node->left, no, yes);
	}
}
