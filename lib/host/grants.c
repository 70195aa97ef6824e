/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/grants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/name.h"
#include "host/envpolicy.h"
#include "host/server.h"
#include "host/session.h"

static const char blanks[] = " \t";

bool
nsrun_text_is_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		int n = nsrun_utf8_length(s);

		if (n == 0)
			return false;
		s += n;
	}
	return true;
}

int
nsrun_words_add(struct nsrun_words *words, struct nsrun_arena *arena,
    const char *word)
{
	const char **v;

	for (size_t i = 0; i < words->n; i++)
		if (!strcmp(words->v[i], word))
			return 0;
	v = nsrun_arena_grow(arena, words->v, words->n, sizeof *v);
	if (!v)
		return -1;
	words->v = v;
	v[words->n++] = word;
	return 0;
}

/* Name the variable in what is wrong with a word of it. */
static int
name_variable(const char *variable, struct nsrun_err *err)
{
	char subject[sizeof err->subject];

	snprintf(subject, sizeof subject, "%s: %.300s", variable, err->subject);
	memcpy(err->subject, subject, sizeof subject);
	return -1;
}

static int
bad(const char *variable, const char *rule, struct nsrun_err *err)
{
	return nsrun_err_rule(err, NSRUN_STEP_ENVIRONMENT, rule, variable,
	    NULL);
}

/* Words between commas; blanks around them, and empty ones, mean nothing. */
static int
read_list(struct nsrun_words *words, struct nsrun_arena *arena,
    const char *variable, int (*check)(const char *word, struct nsrun_err *err),
    struct nsrun_err *err)
{
	const char *s = getenv(variable);

	for (; s && *s; s += *s == ',') {
		size_t n = strcspn(s += strspn(s, blanks), ",");
		char *word = nsrun_arena_printf(arena, "%.*s", (int)n, s);

		s += n;
		while (word && n && strchr(blanks, word[n - 1]))
			word[--n] = '\0';
		if (word && !*word)
			continue;
		if (word && check(word, err) < 0)
			return name_variable(variable, err);
		if (!word || nsrun_words_add(words, arena, word) < 0)
			return nsrun_err_nomem(err, variable);
	}
	return 0;
}

/* Paths between colons, each there. */
static int
read_paths(struct nsrun_words *words, struct nsrun_arena *arena,
    const char *variable, struct nsrun_err *err)
{
	const char *s = getenv(variable);

	if (!s || !*s)
		return 0;
	for (;; s++) {
		size_t n = strcspn(s, ":");
		const char *path = nsrun_arena_printf(arena, "%.*s", (int)n, s);

		if (!n)
			return bad(variable, "has an empty path", err);
		if (*s != '/')
			return bad(variable, "has a relative path", err);
		if (!path || nsrun_words_add(words, arena, path) < 0)
			return nsrun_err_nomem(err, variable);
		s += n;
		if (!*s)
			return 0;
	}
}

/* The variable without blanks around it is one of the words, in any case. */
static bool
is_one_of(const char *variable, const char *const *words)
{
	const char *s = getenv(variable);
	size_t n;

	s = s ? s + strspn(s, blanks) : "";
	n = strlen(s);
	while (n && strchr(blanks, s[n - 1]))
		n--;
	for (; *words; words++)
		if (strlen(*words) == n && !strncasecmp(*words, s, n))
			return true;
	return false;
}

static int
read_switches(struct nsrun_grants *grants, struct nsrun_err *err)
{
	static const char *const on[] = { "", "on", "1", "true", "required",
	    NULL };
	static const char *const off[] = { "off", "0", "false", "disabled",
	    NULL };
	static const char *const yes[] = { "1", "true", "on", "yes", NULL };
	static const char *const no[] = { "", "0", "false", "off", "no", NULL };
	static const char *const denied[] = { "denied", NULL };
	static const char *const unset[] = { "", NULL };

	grants->network_denied = is_one_of("OPENCLAUDIA_AGENT_NETWORK", denied);
	if (!grants->network_denied &&
	    !is_one_of("OPENCLAUDIA_AGENT_NETWORK", unset))
		return bad("OPENCLAUDIA_AGENT_NETWORK", "can only be denied",
		    err);
	grants->unsandboxed = is_one_of("OPENCLAUDIA_BASH_SANDBOX", off);
	if (!grants->unsandboxed && !is_one_of("OPENCLAUDIA_BASH_SANDBOX", on))
		return bad("OPENCLAUDIA_BASH_SANDBOX", "is neither on nor off",
		    err);
	grants->trusts_hooks = is_one_of("OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS",
	    yes);
	if (!grants->trusts_hooks &&
	    !is_one_of("OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS", no))
		return bad("OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS",
		    "is neither true nor false", err);
	return 0;
}

int
nsrun_grants_read(struct nsrun_grants *grants, struct nsrun_arena *arena,
    struct nsrun_err *err)
{
	*grants = (struct nsrun_grants){ 0 };
	if (read_paths(&grants->read_only, arena,
	    "OPENCLAUDIA_AGENT_READ_ONLY_ROOTS", err) < 0 ||
	    read_paths(&grants->read_write, arena,
	    "OPENCLAUDIA_AGENT_READ_WRITE_ROOTS", err) < 0 ||
	    read_list(&grants->env, arena, "OPENCLAUDIA_AGENT_ENV_GRANTS",
	    nsrun_envpolicy_check_ambient, err) < 0 ||
	    read_list(&grants->server_env, arena, "OPENCLAUDIA_MCP_ENV_GRANTS",
	    nsrun_envpolicy_check_name, err) < 0 ||
	    read_list(&grants->servers, arena, "OPENCLAUDIA_TRUST_MCP_SERVERS",
	    nsrun_server_check, err) < 0 ||
	    read_list(&grants->masks, arena,
	    "OPENCLAUDIA_PROJECT_SECRET_MASKS", nsrun_mask_check, err) < 0)
		return -1;
	return read_switches(grants, err);
}

int
nsrun_mask_check(const char *path, struct nsrun_err *err)
{
	const char *rule = *path == '/' ? "is an absolute path: masks are"
	    " relative to the project" : !nsrun_text_is_utf8(path) ?
	    "is not UTF-8" : NULL;

	for (const char *s = path; !rule; ) {
		size_t n = strcspn(s, "/");

		if ((n == 1 && *s == '.') || (n == 2 && !strncmp(s, "..", 2)))
			rule = "has . or .. in it";
		s += n;
		s += strspn(s, "/");
		if (!*s)
			break;
	}
	return rule ? nsrun_err_rule(err, NSRUN_STEP_PROJECT, rule, path,
	    NULL) : 0;
}
