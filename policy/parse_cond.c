/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/parse.h"

#include <string.h>

#include "policy/names.h"

static int
parse_value(struct nsrun_parser *p, uint64_t *value)
{
	const char *wrong;

	if (p->tok.kind != NSRUN_TOKEN_WORD)
		return nsrun_parser_fail(p, "a value is missing");
	wrong = nsrun_value_parse(p->tok.word, value);
	return wrong ? nsrun_parser_fail(p, wrong) : 0;
}

/* Insert the value so that the list ascends: the emitter groups by halves. */
static int
add_value(struct nsrun_parser *p, struct nsrun_policy_cond *cond)
{
	struct nsrun_policy *policy = p->policy;
	uint64_t value, *v = policy->values;
	unsigned int at = policy->n_values;

	if (parse_value(p, &value) < 0)
		return -1;
	if (value & ~cond->mask)
		return nsrun_parser_fail(p, "bits outside the mask");
	if (at == NSRUN_POLICY_VALUES_MAX)
		return nsrun_parser_fail(p, "too many values");
	for (; at > cond->first && v[at - 1] >= value; at--) {
		if (v[at - 1] == value)
			return nsrun_parser_fail(p, "the value twice");
		v[at] = v[at - 1];
	}
	v[at] = value;
	policy->n_values++;
	cond->n++;
	return nsrun_parser_next(p);
}

static int
parse_list(struct nsrun_parser *p, struct nsrun_policy_cond *cond)
{
	do {
		if (add_value(p, cond) < 0)
			return -1;
	} while (p->tok.kind == NSRUN_TOKEN_WORD &&
	    strcmp(p->tok.word, "and") != 0);
	return 0;
}

/* A mask and nothing more: is any of its bits set, that is, not in {0}? */
static int
any_bit(struct nsrun_parser *p, struct nsrun_policy_cond *cond)
{
	if (p->policy->n_values == NSRUN_POLICY_VALUES_MAX)
		return nsrun_parser_fail(p, "too many values");
	p->policy->values[p->policy->n_values++] = 0;
	cond->op = NSRUN_POLICY_NOT_IN;
	cond->n = 1;
	return 0;
}

static int
parse_comparison(struct nsrun_parser *p, struct nsrun_policy_cond *cond,
    int has_mask)
{
	static const struct {
		const char		*word;
		enum nsrun_policy_op	op;
		int			(*values)(struct nsrun_parser *,
					    struct nsrun_policy_cond *);
	} ops[] = {
		{ "==", NSRUN_POLICY_IN, add_value },
		{ "!=", NSRUN_POLICY_NOT_IN, add_value },
		{ "in", NSRUN_POLICY_IN, parse_list },
		{ "not", NSRUN_POLICY_NOT_IN, parse_list },
	};
	int found;

	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		if ((found = nsrun_parser_accept(p, ops[i].word)) < 0)
			return -1;
		if (!found)
			continue;
		cond->op = ops[i].op;
		if (strcmp(ops[i].word, "not") == 0 &&
		    (found = nsrun_parser_accept(p, "in")) <= 0)
			return found < 0 ? -1 :
			    nsrun_parser_fail(p, "expected \"in\"");
		return ops[i].values(p, cond);
	}
	if (has_mask && (p->tok.kind != NSRUN_TOKEN_WORD ||
	    strcmp(p->tok.word, "and") == 0))
		return any_bit(p, cond);
	return nsrun_parser_fail(p, "expected a comparison");
}

static int
parse_mask(struct nsrun_parser *p, uint64_t width, uint64_t *mask)
{
	if (parse_value(p, mask) < 0)
		return -1;
	if (*mask == 0)
		return nsrun_parser_fail(p, "a mask without bits");
	if (*mask & ~width)
		return nsrun_parser_fail(p, "bits outside the mask");
	return nsrun_parser_next(p);
}

/* A second test of the same bits either contradicts the first or repeats it. */
static int
check_new(struct nsrun_parser *p, const struct nsrun_policy_cond *cond,
    unsigned int first, const struct nsrun_token *at)
{
	const struct nsrun_policy_cond *c = p->policy->conds;

	for (unsigned int i = first; i < p->policy->n_conds; i++)
		if (c[i].arg == cond->arg && c[i].mask == cond->mask)
			return nsrun_lex_fail(&p->lex, at->line, at->col,
			    "tests the same bits twice", at->word, p->err);
	return 0;
}

static int
parse_test(struct nsrun_parser *p, unsigned int first)
{
	struct nsrun_policy *policy = p->policy;
	struct nsrun_policy_cond cond = { .first = policy->n_values };
	int low32 = nsrun_parser_accept(p, "low32"), has_mask;
	struct nsrun_token at = p->tok;

	if (low32 < 0)
		return -1;
	if (at.kind != NSRUN_TOKEN_WORD)
		return nsrun_parser_fail(p, "a test is missing");
	if (policy->n_conds == NSRUN_POLICY_CONDS_MAX)
		return nsrun_parser_fail(p, "too many tests");
	if (strncmp(at.word, "arg", 3) != 0 || strlen(at.word) != 4 ||
	    at.word[3] < '0' || at.word[3] >= '0' + NSRUN_POLICY_ARGS)
		return nsrun_parser_fail(p, "expected arg0 to arg5");
	cond.arg = (unsigned int)(at.word[3] - '0');
	cond.mask = low32 ? UINT32_MAX : UINT64_MAX;
	if (nsrun_parser_next(p) < 0 ||
	    (has_mask = nsrun_parser_accept(p, "&")) < 0 ||
	    (has_mask && parse_mask(p, cond.mask, &cond.mask) < 0) ||
	    parse_comparison(p, &cond, has_mask) < 0 ||
	    check_new(p, &cond, first, &at) < 0)
		return -1;
	policy->conds[policy->n_conds++] = cond;
	return 0;
}

/* A line that begins with `and` goes on with the rule before it. */
static int
accept_and(struct nsrun_parser *p)
{
	struct nsrun_parser before = *p;
	int found;

	while (p->tok.kind == NSRUN_TOKEN_EOL)
		if (nsrun_parser_next(p) < 0)
			return -1;
	found = nsrun_parser_accept(p, "and");
	if (!found)
		*p = before;
	return found;
}

int
nsrun_parser_conds(struct nsrun_parser *p)
{
	unsigned int first = p->policy->n_conds;
	int more;

	do {
		if (parse_test(p, first) < 0)
			return -1;
		more = accept_and(p);
	} while (more > 0);
	return more;
}
