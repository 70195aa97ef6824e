/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/parse.h"

#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

void *
kafel_alloc(struct kafel_parser *p, size_t size)
{
	void *new = nsrun_arena_alloc(p->lex->arena, size);

	if (!new)
		nsrun_err_nomem(p->lex->err, p->tok.place.file);
	return new;
}

int
kafel_next(struct kafel_parser *p)
{
	return kafel_lex_next(p->lex, &p->tok);
}

int
kafel_at(const struct kafel_parser *p, const char *word)
{
	return p->tok.kind == KAFEL_TOKEN_WORD && !strcmp(p->tok.word, word);
}

int
kafel_accept(struct kafel_parser *p, const char *word)
{
	if (!kafel_at(p, word))
		return 0;
	return kafel_next(p) < 0 ? -1 : 1;
}

int
kafel_expect(struct kafel_parser *p, const char *word)
{
	char what[32];

	if (kafel_at(p, word))
		return kafel_next(p);
	snprintf(what, sizeof what, "\"%s\"", word);
	return kafel_expected(p, what);
}

int
kafel_expected(struct kafel_parser *p, const char *what)
{
	char words[sizeof p->lex->err->call];

	if (p->tok.kind == KAFEL_TOKEN_END)
		snprintf(words, sizeof words, "expected %s, not the end",
		    what);
	else
		snprintf(words, sizeof words, "expected %s, not \"%.60s\"",
		    what, p->tok.word);
	return kafel_fail(&p->tok.place, words, NULL, p->lex->err);
}

int
kafel_take_name(struct kafel_parser *p, const char *what, const char **name)
{
	if (p->tok.kind != KAFEL_TOKEN_NAME)
		return kafel_expected(p, what);
	*name = p->tok.word;
	return kafel_next(p);
}

int
kafel_take_number(struct kafel_parser *p, uint64_t *number)
{
	if (p->tok.kind != KAFEL_TOKEN_NUMBER)
		return kafel_expected(p, "a number");
	*number = p->tok.number;
	return kafel_next(p);
}

/* A name that stands for nothing yet. */
static int
add_name(struct kafel_parser *p, struct kafel_names *names,
    const struct kafel_place *place, const struct kafel_named *named)
{
	if (names->n == KAFEL_NAMES_MAX)
		return kafel_fail(place, "more than 4096 names", NULL,
		    p->lex->err);
	if (kafel_name_add(p->lex->arena, names, named) < 0)
		return nsrun_err_nomem(p->lex->err, place->file);
	return 0;
}

static int
parse_define(struct kafel_parser *p)
{
	struct kafel_place place;
	const struct kafel_named *old;
	struct kafel_named new = { .policy = NULL };

	if (kafel_next(p) < 0 || kafel_expect(p, "define") < 0)
		return -1;
	place = p->tok.place;
	if (kafel_take_name(p, "the name of a constant", &new.name) < 0 ||
	    kafel_take_number(p, &new.value) < 0)
		return -1;
	old = kafel_name_find(&p->consts, new.name);
	if (!old)
		return add_name(p, &p->consts, &place, &new);
	if (old->value == new.value)
		return 0;
	return kafel_fail(&place, "another value of the constant", new.name,
	    p->lex->err);
}

/* Returns 1 and the action, or 0: the next token is none; or -1. */
static int
parse_action(struct kafel_parser *p, uint32_t *action)
{
	static const struct {
		const char	*word;
		uint32_t	action;
		int		has_data;
	} actions[] = {
		{ "ALLOW", SECCOMP_RET_ALLOW, 0 },
		{ "LOG", SECCOMP_RET_LOG, 0 },
		{ "KILL", SECCOMP_RET_KILL_THREAD, 0 },
		{ "KILL_THREAD", SECCOMP_RET_KILL_THREAD, 0 },
		{ "DENY", SECCOMP_RET_KILL_THREAD, 0 },
		{ "KILL_PROCESS", SECCOMP_RET_KILL_PROCESS, 0 },
		{ "USER_NOTIF", SECCOMP_RET_USER_NOTIF, 0 },
		{ "ERRNO", SECCOMP_RET_ERRNO, 1 },
		{ "TRAP", SECCOMP_RET_TRAP, 1 },
		{ "TRACE", SECCOMP_RET_TRACE, 1 },
	};
	struct kafel_place place;
	uint64_t data = 0;
	size_t i = 0;

	while (i < sizeof actions / sizeof actions[0] &&
	    !kafel_at(p, actions[i].word))
		i++;
	if (i == sizeof actions / sizeof actions[0])
		return 0;
	*action = actions[i].action;
	if (kafel_next(p) < 0)
		return -1;
	if (!actions[i].has_data)
		return 1;
	if (kafel_expect(p, "(") < 0)
		return -1;
	place = p->tok.place;
	if (kafel_take_number(p, &data) < 0)
		return -1;
	if (data > SECCOMP_RET_DATA)
		return kafel_fail(&place, "more than 65535", NULL,
		    p->lex->err);
	*action |= (uint32_t)data;
	return kafel_expect(p, ")") < 0 ? -1 : 1;
}

static int
parse_use(struct kafel_parser *p, struct kafel_stmt *stmt)
{
	struct kafel_place place = p->tok.place;
	const struct kafel_named *found;
	const char *name = NULL;

	if (kafel_take_name(p, "the name of a policy", &name) < 0)
		return -1;
	found = kafel_name_find(&p->policies, name);
	if (!found)
		return kafel_fail(&place, "unknown policy", name,
		    p->lex->err);
	stmt->used = found->policy;
	return 0;
}

static int
parse_filters(struct kafel_parser *p, struct kafel_stmt *stmt)
{
	struct kafel_filter **end = &stmt->filters;
	int more;

	if (kafel_expect(p, "{") < 0)
		return -1;
	more = kafel_at(p, "}") ? 0 : 1;
	while (more > 0) {
		*end = kafel_alloc(p, sizeof **end);
		if (!*end || kafel_parse_filter(p, *end) < 0)
			return -1;
		end = &(*end)->next;
		more = kafel_accept(p, ",");
	}
	return more < 0 ? -1 : kafel_expect(p, "}");
}

static int
parse_stmts(struct kafel_parser *p, struct kafel_policy *policy)
{
	int more, found;

	do {
		struct kafel_stmt *stmt = kafel_alloc(p, sizeof *stmt);

		if (!stmt)
			return -1;
		found = kafel_accept(p, "USE");
		if (found < 0 || (found && parse_use(p, stmt) < 0))
			return -1;
		if (!found) {
			found = parse_action(p, &stmt->action);
			if (found == 0)
				return kafel_expected(p, "an action or USE");
			if (found < 0 || parse_filters(p, stmt) < 0)
				return -1;
		}
		*policy->end = stmt;
		policy->end = &stmt->next;
		more = kafel_accept(p, ",");
	} while (more > 0);
	return more;
}

static int
parse_policy(struct kafel_parser *p)
{
	struct kafel_policy *policy = kafel_alloc(p, sizeof *policy);
	struct kafel_named named = { .policy = policy };
	struct kafel_place place;

	if (!policy || kafel_next(p) < 0)
		return -1;
	place = p->tok.place;
	policy->end = &policy->stmts;
	if (kafel_take_name(p, "the name of a policy", &named.name) < 0)
		return -1;
	if (kafel_name_find(&p->policies, named.name))
		return kafel_fail(&place, "a second policy", named.name,
		    p->lex->err);
	if (kafel_expect(p, "{") < 0 ||
	    (!kafel_at(p, "}") && parse_stmts(p, policy) < 0) ||
	    kafel_expect(p, "}") < 0)
		return -1;
	policy->next = p->tree->policies;
	p->tree->policies = policy;
	return add_name(p, &p->policies, &place, &named);
}

static int
parse_default(struct kafel_parser *p)
{
	struct kafel_place place = p->tok.place;
	int found;

	if (p->tree->has_default++)
		return kafel_fail(&place, "a second default", NULL,
		    p->lex->err);
	if (kafel_next(p) < 0)
		return -1;
	found = parse_action(p, &p->tree->def);
	if (found == 0)
		return kafel_expected(p, "an action");
	return found < 0 ? -1 : 0;
}

int
kafel_parse(struct kafel_lex *lex, enum kafel_arch arch,
    struct kafel_tree *tree)
{
	struct kafel_parser p = { .lex = lex, .tree = tree, .arch = arch };
	int wrong;

	*tree = (struct kafel_tree){ .def = SECCOMP_RET_KILL_THREAD };
	tree->main.end = &tree->main.stmts;
	if (kafel_next(&p) < 0)
		return -1;
	do {
		if (kafel_at(&p, "#"))
			wrong = parse_define(&p);
		else if (kafel_at(&p, "POLICY"))
			wrong = parse_policy(&p);
		else if (kafel_at(&p, "DEFAULT"))
			wrong = parse_default(&p);
		else
			wrong = parse_stmts(&p, &tree->main);
	} while (!wrong && p.tok.kind != KAFEL_TOKEN_END);
	return wrong;
}
