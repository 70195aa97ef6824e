/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *	expr	or { "," or }
 *	or	and { "||" and }
 *	and	prim { "&&" prim }
 *	prim	"(" expr ")" | "!" prim | value ( == | != | ... ) value
 *	value	masked { "|" masked }
 *	masked	operand { "&" operand }
 *	operand	NUMBER | NAME | "(" value ")"
 *
 * Whether a parenthesis holds a condition or a value is known only when it
 * has been read: each function returns either, and the one that can take but
 * one of them looks. Unlike in C, & and | bind closer than comparisons.
 */
#include "kafel/parse.h"

#include <string.h>

static int expr(struct kafel_parser *p, struct kafel_node **node);

static int
is_condition(const struct kafel_node *node)
{
	return node->op >= KAFEL_EQ;
}

static int
need_condition(struct kafel_parser *p, const struct kafel_node *node)
{
	if (is_condition(node))
		return 0;
	return kafel_expected(p, "a comparison");
}

static int
need_value(struct kafel_parser *p, const struct kafel_node *node)
{
	if (!is_condition(node))
		return 0;
	return kafel_fail(&node->place, "a condition instead of a value",
	    NULL, p->lex->err);
}

static int
new_node(struct kafel_parser *p, enum kafel_op op, struct kafel_node *left,
    struct kafel_node *right, struct kafel_node **node)
{
	struct kafel_node *new = kafel_alloc(p, sizeof *new);

	if (!new)
		return -1;
	*new = (struct kafel_node){
		.op = op, .left = left, .right = right,
		.place = left ? left->place : p->tok.place,
	};
	if (left)
		new->depth = left->depth + 1;
	if (right && right->depth >= new->depth)
		new->depth = right->depth + 1;
	if (new->depth > KAFEL_DEPTH_MAX)
		return kafel_fail(&new->place, "an expression deeper than 200",
		    NULL, p->lex->err);
	*node = new;
	return 0;
}

/* The depth of the recursion, which parentheses and `!` add to. */
static int
enter(struct kafel_parser *p)
{
	if (p->nesting == KAFEL_DEPTH_MAX)
		return kafel_fail(&p->tok.place,
		    "an expression deeper than 200", NULL, p->lex->err);
	p->nesting++;
	return kafel_next(p);
}

static int
parenthesis(struct kafel_parser *p, struct kafel_node **node)
{
	struct kafel_place place = p->tok.place;

	if (enter(p) < 0 || expr(p, node) < 0 || kafel_expect(p, ")") < 0)
		return -1;
	p->nesting--;
	if ((*node)->left)
		(*node)->place = place;
	return 0;
}

static int
operand(struct kafel_parser *p, struct kafel_node **node)
{
	const struct kafel_named *found;

	if (kafel_at(p, "("))
		return parenthesis(p, node);
	if (p->tok.kind != KAFEL_TOKEN_NAME &&
	    p->tok.kind != KAFEL_TOKEN_NUMBER)
		return kafel_expected(p, "a value");
	if (new_node(p, KAFEL_NUMBER, NULL, NULL, node) < 0)
		return -1;
	(*node)->number = p->tok.number;
	if (p->tok.kind == KAFEL_TOKEN_NAME) {
		found = kafel_name_find(&p->consts, p->tok.word);
		(*node)->op = found ? KAFEL_NUMBER : KAFEL_NAME;
		(*node)->number = found ? found->value : 0;
		(*node)->name = p->tok.word;
	}
	return kafel_next(p);
}

/* operand { word operand }, or one condition in parentheses. */
static int
chain(struct kafel_parser *p, const char *word, enum kafel_op op,
    int (*part)(struct kafel_parser *, struct kafel_node **),
    int (*need)(struct kafel_parser *, const struct kafel_node *),
    struct kafel_node **node)
{
	struct kafel_node *right;

	if (part(p, node) < 0)
		return -1;
	while (kafel_at(p, word)) {
		if (need(p, *node) < 0 || kafel_next(p) < 0 ||
		    part(p, &right) < 0 || need(p, right) < 0 ||
		    new_node(p, op, *node, right, node) < 0)
			return -1;
	}
	return 0;
}

static int
masked(struct kafel_parser *p, struct kafel_node **node)
{
	return chain(p, "&", KAFEL_BIT_AND, operand, need_value, node);
}

static int
value(struct kafel_parser *p, struct kafel_node **node)
{
	return chain(p, "|", KAFEL_BIT_OR, masked, need_value, node);
}

static int
comparison(struct kafel_parser *p, struct kafel_node **node)
{
	static const struct {
		const char	*word;
		enum kafel_op	op;
	} ops[] = {
		{ "==", KAFEL_EQ }, { "!=", KAFEL_NE }, { "<", KAFEL_LT },
		{ "<=", KAFEL_LE }, { ">", KAFEL_GT }, { ">=", KAFEL_GE },
	};
	struct kafel_node *right;

	if (value(p, node) < 0)
		return -1;
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		if (!kafel_at(p, ops[i].word))
			continue;
		if (need_value(p, *node) < 0 || kafel_next(p) < 0 ||
		    value(p, &right) < 0 || need_value(p, right) < 0)
			return -1;
		return new_node(p, ops[i].op, *node, right, node);
	}
	return 0;
}

static int
prim(struct kafel_parser *p, struct kafel_node **node)
{
	struct kafel_place place = p->tok.place;

	if (!kafel_at(p, "!"))
		return comparison(p, node);
	if (enter(p) < 0 || prim(p, node) < 0 || need_condition(p, *node) < 0 ||
	    new_node(p, KAFEL_NOT, *node, NULL, node) < 0)
		return -1;
	p->nesting--;
	(*node)->place = place;
	return 0;
}

static int
and(struct kafel_parser *p, struct kafel_node **node)
{
	return chain(p, "&&", KAFEL_AND, prim, need_condition, node);
}

static int
or(struct kafel_parser *p, struct kafel_node **node)
{
	return chain(p, "||", KAFEL_OR, and, need_condition, node);
}

static int
expr(struct kafel_parser *p, struct kafel_node **node)
{
	return chain(p, ",", KAFEL_OR, or, need_condition, node);
}

int
kafel_parse_expr(struct kafel_parser *p, struct kafel_node **node)
{
	p->nesting = 0;
	if (expr(p, node) < 0)
		return -1;
	return need_condition(p, *node);
}
