/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Between the two halves of the parser: parse.c knows the lines, parse_cond.c
 * what stands behind `if`. One token is looked at before it is taken.
 */
#ifndef NSRUN_POLICY_PARSE_H
#define NSRUN_POLICY_PARSE_H

#include "policy/lex.h"
#include "policy/policy.h"

struct nsrun_parser {
	struct nsrun_lex	lex;
	struct nsrun_token	tok;	/* the next one, not yet taken */
	struct nsrun_policy	*policy;
	struct nsrun_err	*err;
	int			variant; /* of the rules to come; -1: all */
	int			has_default;
};

/* Read the token behind p->tok into p->tok. */
int nsrun_parser_next(struct nsrun_parser *p);

/* p->tok breaks a rule; its word is part of the message. Returns -1. */
int nsrun_parser_fail(struct nsrun_parser *p, const char *rule);

/* If p->tok is this word, read on and return 1. Else 0, or -1. */
int nsrun_parser_accept(struct nsrun_parser *p, const char *word);

/* TEST [and TEST]... to the end of the rule, appended to policy->conds. */
int nsrun_parser_conds(struct nsrun_parser *p);

#endif
