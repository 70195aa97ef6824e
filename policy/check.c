/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>

#include "policy/lex.h"
#include "policy/names.h"

/* qsort() carries no context: the number goes with the rule. */
struct entry {
	int32_t				nr;
	const struct nsrun_policy_rule	*rule;
};

static int
compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	/* In one array, so a lower address is an earlier word of the text. */
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

unsigned int
nsrun_policy_select(const struct nsrun_policy *policy, unsigned int variant,
    enum nsrun_arch arch,
    const struct nsrun_policy_rule *rules[NSRUN_POLICY_RULES_MAX])
{
	struct entry entries[NSRUN_POLICY_RULES_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < policy->n_rules; i++) {
		const struct nsrun_policy_rule *r = &policy->rules[i];

		if (r->nr[arch] >= 0 &&
		    (r->variant < 0 || r->variant == (int)variant))
			entries[n++] = (struct entry){ r->nr[arch], r };
	}
	qsort(entries, n, sizeof entries[0], compare);
	for (unsigned int i = 0; i < n; i++)
		rules[i] = entries[i].rule;
	return n;
}

/* How many of the values of a are values of b too? */
static unsigned int
count_common(const struct nsrun_policy *policy,
    const struct nsrun_policy_cond *a, const struct nsrun_policy_cond *b)
{
	const uint64_t *v = policy->values;
	unsigned int common = 0;

	for (unsigned int i = 0; i < a->n; i++)
		for (unsigned int j = 0; j < b->n; j++)
			common += v[a->first + i] == v[b->first + j];
	return common;
}

/* Is test a true whenever test b is? */
static int
follows(const struct nsrun_policy *policy, const struct nsrun_policy_cond *a,
    const struct nsrun_policy_cond *b)
{
	if (a->arg != b->arg || a->mask != b->mask)
		return 0;
	if (a->op != b->op)
		return a->op == NSRUN_POLICY_NOT_IN &&
		    count_common(policy, a, b) == 0;
	return count_common(policy, a, b) ==
	    (a->op == NSRUN_POLICY_IN ? b->n : a->n);
}

/* Does rule a take every call that rule b would match? */
static int
covers(const struct nsrun_policy *policy, const struct nsrun_policy_rule *a,
    const struct nsrun_policy_rule *b)
{
	const struct nsrun_policy_cond *c = policy->conds;

	for (unsigned int i = a->first; i < a->first + a->n_conds; i++) {
		unsigned int j = b->first, end = b->first + b->n_conds;

		while (j < end && !follows(policy, &c[i], &c[j]))
			j++;
		if (j == end)
			return 0;
	}
	return 1;
}

static int
fail(const char *file, const struct nsrun_policy_rule *rule,
    const char *words, const struct nsrun_policy_rule *other,
    struct nsrun_err *err)
{
	struct nsrun_lex lex = { .file = file };
	char line[16];

	snprintf(line, sizeof line, "%u", other ? other->line : 0);
	return nsrun_lex_fail(&lex, rule->line, rule->col, words,
	    other ? line : NULL, err);
}

static int
check_rules(const struct nsrun_policy *policy, const char *file,
    unsigned int variant, enum nsrun_arch arch, struct nsrun_err *err)
{
	const struct nsrun_policy_rule *r[NSRUN_POLICY_RULES_MAX];
	unsigned int n = nsrun_policy_select(policy, variant, arch, r);
	unsigned int first = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (r[i]->nr[arch] != r[first]->nr[arch])
			first = i;
		for (unsigned int j = first; j < i; j++)
			if (covers(policy, r[j], r[i]))
				return fail(file, r[i], r[j]->n_conds ?
				    "never reached after line" :
				    "classified already in line", r[j], err);
		if ((i + 1 == n || r[i + 1]->nr[arch] != r[i]->nr[arch]) &&
		    r[i]->n_conds)
			return fail(file, r[i],
			    "no rule for the other arguments", NULL, err);
	}
	return 0;
}

int
nsrun_policy_check(const struct nsrun_policy *policy, const char *file,
    struct nsrun_err *err)
{
	for (unsigned int v = 0; v < policy->n_variants; v++)
		for (int a = 0; a < NSRUN_N_ARCHES; a++)
			if (policy->arches & 1U << a && check_rules(policy,
			    file, v, (enum nsrun_arch)a, err) < 0)
				return -1;
	return 0;
}
