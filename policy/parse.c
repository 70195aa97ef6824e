/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/parse.h"

#include <linux/seccomp.h>
#include <string.h>

#include "policy/names.h"

static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

int
nsrun_parser_next(struct nsrun_parser *p)
{
	return nsrun_lex_next(&p->lex, &p->tok, p->err);
}

int
nsrun_parser_fail(struct nsrun_parser *p, const char *rule)
{
	return nsrun_lex_fail(&p->lex, p->tok.line, p->tok.col, rule,
	    p->tok.kind == NSRUN_TOKEN_WORD ? p->tok.word : NULL, p->err);
}

int
nsrun_parser_accept(struct nsrun_parser *p, const char *word)
{
	if (p->tok.kind != NSRUN_TOKEN_WORD || strcmp(p->tok.word, word) != 0)
		return 0;
	return nsrun_parser_next(p) < 0 ? -1 : 1;
}

/* A name of a filter or variant: it becomes part of C and of messages. */
static int
take_name(struct nsrun_parser *p, char name[NSRUN_POLICY_NAME_MAX + 1])
{
	const char *word = p->tok.word;

	if (p->tok.kind != NSRUN_TOKEN_WORD)
		return nsrun_parser_fail(p, "a name is missing");
	if (strlen(word) > NSRUN_POLICY_NAME_MAX)
		return nsrun_parser_fail(p, "a name of more than 31 bytes");
	for (const char *c = word; *c; c++)
		if (!strchr(name_chars, *c) && !(*c == '-' && c > word))
			return nsrun_parser_fail(p, "not a name");
	strcpy(name, word);
	return nsrun_parser_next(p);
}

static int
parse_filter(struct nsrun_parser *p)
{
	if (p->policy->name[0])
		return nsrun_parser_fail(p, "a second name of the filter");
	return take_name(p, p->policy->name);
}

static int
parse_arch(struct nsrun_parser *p)
{
	unsigned int *arches = &p->policy->arches;
	int found;

	if (*arches)
		return nsrun_parser_fail(p, "a second list of architectures");
	while ((found = nsrun_parser_accept(p, "else")) == 0) {
		enum nsrun_arch arch;

		if (p->tok.kind != NSRUN_TOKEN_WORD)
			return nsrun_parser_fail(p, "expected \"else kill\"");
		arch = nsrun_arch_find(p->tok.word);
		if (arch == NSRUN_N_ARCHES)
			return nsrun_parser_fail(p, "unknown architecture");
		if (*arches & 1U << arch)
			return nsrun_parser_fail(p, "the architecture twice");
		*arches |= 1U << arch;
		if (nsrun_parser_next(p) < 0)
			return -1;
	}
	if (found < 0)
		return -1;
	if (!*arches)
		return nsrun_parser_fail(p, "no architecture");
	found = nsrun_parser_accept(p, "kill");
	return found ? found : nsrun_parser_fail(p, "expected \"kill\"");
}

static int
parse_default(struct nsrun_parser *p)
{
	const char *wrong;

	if (p->has_default++)
		return nsrun_parser_fail(p, "a second default");
	if (p->tok.kind != NSRUN_TOKEN_WORD)
		return nsrun_parser_fail(p, "an action is missing");
	wrong = nsrun_action_parse(p->tok.word, &p->policy->def);
	if (wrong)
		return nsrun_parser_fail(p, wrong);
	/* Success for whatever call comes to exist can only be a mistake. */
	if (p->policy->def == SECCOMP_RET_ERRNO)
		return nsrun_parser_fail(p, "not a default");
	return nsrun_parser_next(p);
}

static int
parse_variant(struct nsrun_parser *p)
{
	struct nsrun_policy *policy = p->policy;

	if (policy->n_variants == NSRUN_POLICY_VARIANTS_MAX)
		return nsrun_parser_fail(p, "too many variants");
	for (unsigned int i = 0; i < policy->n_variants; i++)
		if (strcmp(policy->variants[i], p->tok.word) == 0)
			return nsrun_parser_fail(p, "a second variant");
	p->variant = (int)policy->n_variants;
	return take_name(p, policy->variants[policy->n_variants++]);
}

/*
 * The number after `=`. It stands for a name that this libseccomp need not
 * know; one that does know the name has to agree.
 */
static int
take_number(struct nsrun_parser *p, const char *name, char *number,
    struct nsrun_policy_rule *rule)
{
	char *at = strchr(number, '@');
	enum nsrun_arch only = NSRUN_N_ARCHES;
	uint64_t nr;

	if (at) {
		*at++ = '\0';
		only = nsrun_arch_find(at);
		if (only == NSRUN_N_ARCHES ||
		    !(p->policy->arches & 1U << only))
			return nsrun_parser_fail(p,
			    "not for that architecture");
	}
	if (*number < '0' || *number > '9' || nsrun_value_parse(number, &nr) ||
	    nr >= NSRUN_POLICY_NR_END)
		return nsrun_parser_fail(p, "not the number of a call");
	for (int a = 0; a < NSRUN_N_ARCHES; a++) {
		int known = nsrun_syscall_number((enum nsrun_arch)a, name);

		if (!(p->policy->arches & 1U << a) || (at && a != (int)only))
			continue;
		if (known >= 0 && (uint64_t)known != nr)
			return nsrun_parser_fail(p, "libseccomp disagrees");
		rule->nr[a] = (int32_t)nr;
	}
	return 0;
}

static int
take_numbers(struct nsrun_parser *p, const char *name,
    struct nsrun_policy_rule *rule)
{
	int known = 0, found = 0;

	for (int a = 0; a < NSRUN_N_ARCHES; a++) {
		int nr = nsrun_syscall_number((enum nsrun_arch)a, name);

		known |= nr > -2;
		if (!(p->policy->arches & 1U << a) || nr < 0)
			continue;
		rule->nr[a] = nr;
		found = 1;
	}
	if (!known)
		return nsrun_parser_fail(p, "unknown system call");
	return found ? 0 : nsrun_parser_fail(p, "no architecture has it");
}

/* One call of a line; its tests are not read yet. */
static int
add_rule(struct nsrun_parser *p, uint32_t action)
{
	struct nsrun_policy *policy = p->policy;
	struct nsrun_policy_rule rule = {
		.action = action, .variant = p->variant,
		.nr = { [0 ... NSRUN_N_ARCHES - 1] = -1 },
		.line = p->tok.line, .col = p->tok.col,
	};
	char name[NSRUN_WORD_MAX + 1], *number;

	strcpy(name, p->tok.word);
	number = strchr(name, '=');
	if (number)
		*number++ = '\0';
	if (!*name || name[strspn(name, name_chars)])
		return nsrun_parser_fail(p, "not the name of a call");
	if ((number ? take_number(p, name, number, &rule) :
	    take_numbers(p, name, &rule)) < 0)
		return -1;
	if (policy->n_rules == NSRUN_POLICY_RULES_MAX)
		return nsrun_parser_fail(p, "too many rules");
	policy->rules[policy->n_rules++] = rule;
	return nsrun_parser_next(p);
}

static int
parse_rule(struct nsrun_parser *p, uint32_t action)
{
	struct nsrun_policy *policy = p->policy;
	unsigned int first_rule = policy->n_rules, first = policy->n_conds;
	int has_if;

	if (!policy->name[0] || !policy->arches || !p->has_default)
		return nsrun_parser_fail(p,
		    "a rule before \"filter\", \"arch\" and \"default\"");
	if (nsrun_parser_next(p) < 0)
		return -1;
	while ((has_if = nsrun_parser_accept(p, "if")) == 0 &&
	    p->tok.kind == NSRUN_TOKEN_WORD)
		if (add_rule(p, action) < 0)
			return -1;
	if (has_if < 0 || (has_if && nsrun_parser_conds(p) < 0))
		return -1;
	if (policy->n_rules == first_rule)
		return nsrun_parser_fail(p, "a rule without a call");
	for (unsigned int i = first_rule; i < policy->n_rules; i++) {
		policy->rules[i].first = first;
		policy->rules[i].n_conds = policy->n_conds - first;
	}
	return 0;
}

static int
parse_statement(struct nsrun_parser *p)
{
	static const struct {
		const char	*word;
		int		(*parse)(struct nsrun_parser *);
	} keywords[] = {
		{ "filter", parse_filter },
		{ "arch", parse_arch },
		{ "default", parse_default },
		{ "variant", parse_variant },
	};
	uint32_t action;
	int found;

	for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
		found = nsrun_parser_accept(p, keywords[i].word);
		if (found)
			return found < 0 ? -1 : keywords[i].parse(p);
	}
	if (nsrun_action_parse(p->tok.word, &action))
		return nsrun_parser_fail(p, "neither a keyword nor an action");
	return parse_rule(p, action);
}

static int
parse_lines(struct nsrun_parser *p)
{
	if (nsrun_parser_next(p) < 0)
		return -1;
	while (p->tok.kind != NSRUN_TOKEN_END) {
		if (p->tok.kind == NSRUN_TOKEN_WORD && parse_statement(p) < 0)
			return -1;
		if (p->tok.kind == NSRUN_TOKEN_WORD)
			return nsrun_parser_fail(p, "a word too many");
		if (p->tok.kind == NSRUN_TOKEN_EOL && nsrun_parser_next(p) < 0)
			return -1;
	}
	if (!p->policy->n_rules)
		return nsrun_parser_fail(p, "a filter without rules");
	return 0;
}

int
nsrun_policy_parse(struct nsrun_policy *policy, const char *file,
    const char *text, size_t len, struct nsrun_err *err)
{
	struct nsrun_parser p = { .policy = policy, .err = err, .variant = -1 };

	memset(policy, 0, sizeof *policy);
	nsrun_lex_init(&p.lex, file, text, len);
	if (len > NSRUN_POLICY_TEXT_MAX)
		return nsrun_lex_fail(&p.lex, 1, 1, "more than 64 KiB", NULL,
		    err);
	if (parse_lines(&p) < 0)
		return -1;
	if (!policy->n_variants)
		policy->n_variants = 1;
	return nsrun_policy_check(policy, file, err);
}
