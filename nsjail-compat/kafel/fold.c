/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/tree.h"

/* The operand that decides: 0 of &, all ones of |. */
static uint64_t
absorbs(const struct kafel_node *node)
{
	return node->op == KAFEL_BIT_AND ? 0 : UINT64_MAX;
}

static uint64_t
join(const struct kafel_node *node, uint64_t left, uint64_t right)
{
	return node->op == KAFEL_BIT_AND ? left & right : left | right;
}

/*
 * Kafel joins constants, and drops what a mask cannot change, before it asks
 * how wide a comparison is: `fd & -1 == 1` looks at 32 bits.
 */
static struct kafel_node *
simplify(struct kafel_node *node)
{
	struct kafel_node *left = node->left, *right = node->right;

	if (node->op != KAFEL_BIT_AND && node->op != KAFEL_BIT_OR)
		return node;
	if (left->op == KAFEL_NUMBER && right->op == KAFEL_NUMBER) {
		node->number = join(node, left->number, right->number);
		node->op = KAFEL_NUMBER;
		return node;
	}
	if (left->op == KAFEL_NUMBER) {
		left = node->right;
		right = node->left;
	}
	if (right->op != KAFEL_NUMBER)
		return node;
	if (right->number == absorbs(node))
		return right;
	return right->number == ~absorbs(node) ? left : node;
}

/* A word in memory for what is ready while the other is worked out. */
static unsigned int
memory(const struct kafel_node *left, const struct kafel_node *right,
    enum kafel_half half)
{
	unsigned int l = left->words[half].memory;
	unsigned int r = right->words[half].memory;

	if (left->words[half].is_const || right->words[half].is_const ||
	    left->op == KAFEL_ARG || right->op == KAFEL_ARG || l != r)
		return l > r ? l : r;
	return l + 1;
}

static struct kafel_word
join_words(const struct kafel_node *node, enum kafel_half half)
{
	const struct kafel_word *l = &node->left->words[half];
	const struct kafel_word *r = &node->right->words[half];
	struct kafel_word word = { .k = (uint32_t)absorbs(node) };

	if ((l->is_const && l->k == word.k) || (r->is_const && r->k == word.k))
		word.is_const = 1;
	else if (l->is_const && r->is_const)
		word = (struct kafel_word){
			.is_const = 1, .k = (uint32_t)join(node, l->k, r->k),
		};
	else
		word.memory = memory(node->left, node->right, half);
	return word;
}

struct kafel_node *
kafel_fold(struct kafel_node *node)
{
	node = simplify(node);
	if (node->op == KAFEL_NUMBER) {
		node->wide = node->number > UINT32_MAX;
		for (int h = KAFEL_LOW; h <= KAFEL_HIGH; h++)
			node->words[h] = (struct kafel_word){
				.is_const = 1,
				.k = (uint32_t)(node->number >> 32 * h),
			};
	} else if (node->op != KAFEL_ARG) {
		node->wide = node->left->wide ||
		    (node->right && node->right->wide);
	}
	if (node->op == KAFEL_BIT_AND || node->op == KAFEL_BIT_OR)
		for (int h = KAFEL_LOW; h <= KAFEL_HIGH; h++)
			node->words[h] = join_words(node, (enum kafel_half)h);
	return node;
}
