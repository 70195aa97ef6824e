/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the parts of the parser: parse.c knows the statements,
 * parse_filter.c a call and what stands around it, parse_expr.c what stands
 * in its braces. One token is looked at before it is taken.
 */
#ifndef KAFEL_PARSE_H
#define KAFEL_PARSE_H

#include "kafel/names.h"
#include "kafel/tree.h"

struct kafel_parser {
	struct kafel_lex	*lex;
	struct kafel_token	tok;	/* the next one, not yet taken */
	struct kafel_tree	*tree;
	enum kafel_arch		arch;
	struct kafel_names	consts;
	struct kafel_names	policies;
	unsigned int		nesting;
};

/* Zeroed memory; records that there is none. */
void *kafel_alloc(struct kafel_parser *p, size_t size);

int kafel_next(struct kafel_parser *p);

/* Is the next token this word? */
int kafel_at(const struct kafel_parser *p, const char *word);

/* If it is, read on and return 1. Else 0, or -1. */
int kafel_accept(struct kafel_parser *p, const char *word);

/* It has to be. */
int kafel_expect(struct kafel_parser *p, const char *word);

/* The next token is not what has to stand here. Returns -1. */
int kafel_expected(struct kafel_parser *p, const char *what);

/* Read a name that is not reserved, or a number. */
int kafel_take_name(struct kafel_parser *p, const char *what,
    const char **name);
int kafel_take_number(struct kafel_parser *p, uint64_t *number);

int kafel_parse_filter(struct kafel_parser *p, struct kafel_filter *filter);

/* Conditions joined by commas, up to the closing brace. */
int kafel_parse_expr(struct kafel_parser *p, struct kafel_node **expr);

#endif
