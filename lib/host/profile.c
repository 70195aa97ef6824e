/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "host/lines.h"
#include "policy/embedded.h"

enum { MAX_LIKE = 4 };		/* profiles that build on one another */

struct parser {
	struct nsrun_profile	*profile;
	struct nsrun_lines	l;
	unsigned int		depth;		/* of `like` */
	bool			began;		/* a line was read that stays */
	unsigned int		said;		/* enum once, as bits */
	uint64_t		named;		/* lists said here, as bits */
};

/* What a text may say only once, though its base may have said it too. */
enum once { ONCE_NAME, ONCE_FILTER, ONCE_NESTING, ONCE_HOSTNAME };

/* Complain about word i of this line. */
static int
bad(struct parser *p, size_t i, const char *rule)
{
	return nsrun_lines_bad(&p->l, i, rule);
}

static int
no_memory(struct parser *p)
{
	return nsrun_lines_nomem(&p->l);
}

static int
set_once(struct parser *p, enum once which, const char **slot)
{
	if (p->said & 1U << which)
		return bad(p, 0, "is said twice");
	p->said |= 1U << which;
	*slot = p->l.words[1];
	return 0;
}

static int
do_profile(struct parser *p)
{
	return set_once(p, ONCE_NAME, &p->profile->name);
}

static int
do_filter(struct parser *p)
{
	if (p->said & 1U << ONCE_NESTING)
		return bad(p, 0, "stands before nesting");
	/* The base's would get round it. */
	p->profile->nesting = NULL;
	return set_once(p, ONCE_FILTER, &p->profile->filter);
}

static int
do_nesting(struct parser *p)
{
	if (set_once(p, ONCE_NESTING, &p->profile->nesting) < 0)
		return -1;
	if (!strcmp(p->profile->nesting, "none"))
		p->profile->nesting = NULL;
	return 0;
}

static int
do_hostname(struct parser *p)
{
	return set_once(p, ONCE_HOSTNAME, &p->profile->hostname);
}

static int
do_network(struct parser *p)
{
	memset(p->profile->networks, 0, sizeof p->profile->networks);
	for (size_t i = 1; i < p->l.n_words; i++) {
		int n = 0;

		while (n < NSRUN_N_NETWORKS && strcmp(p->l.words[i],
		    nsrun_network_name((enum nsrun_network)n)))
			n++;
		if (n == NSRUN_N_NETWORKS)
			return bad(p, i, "is neither denied nor isolated");
		if (i == 1)
			p->profile->network = (enum nsrun_network)n;
		p->profile->networks[n] = true;
	}
	return 0;
}

static int
do_wall(struct parser *p)
{
	if (!strcmp(p->l.words[1], "none"))
		p->profile->wall_ms = 0;
	else if (nsrun_duration_parse(p->l.words[1],
	    &p->profile->wall_ms) < 0 || p->profile->wall_ms == 0)
		return bad(p, 1, "is not a duration like 300s");
	return 0;
}

static int
do_stdin(struct parser *p)
{
	p->profile->stdin_null = !strcmp(p->l.words[1], "null");
	if (!p->profile->stdin_null && strcmp(p->l.words[1], "inherit"))
		return bad(p, 1, "is neither inherit nor null");
	return 0;
}

static int
do_git(struct parser *p)
{
	static const char *const words[] = {
		[NSRUN_GIT_NONE] = "none", [NSRUN_GIT_MINIMAL] = "minimal",
		[NSRUN_GIT_WORKTREE] = "worktree",
	};

	for (int i = NSRUN_GIT_NONE; i <= NSRUN_GIT_WORKTREE; i++)
		if (!strcmp(p->l.words[1], words[i])) {
			p->profile->git = (enum nsrun_git)i;
			return 0;
		}
	return bad(p, 1, "is neither none, minimal nor worktree");
}

static int
do_limit(struct parser *p)
{
	int kind = nsrun_limit_find(p->l.words[1]);
	struct nsrun_limit *limit;

	if (kind < 0)
		return bad(p, 1, "is no limit");
	limit = &p->profile->limits[kind];
	limit->set = strcmp(p->l.words[2], "none");
	limit->value = 0;
	if (!limit->set)
		return 0;
	if (nsrun_limit_value((enum nsrun_limit_kind)kind, p->l.words[2],
	    &limit->value) < 0)
		return bad(p, 2, "is neither a number nor none");
	return 0;
}

static int
do_tmpfs(struct parser *p)
{
	uint64_t *size = &p->profile->tmpfs_size;
	uint64_t *inodes = &p->profile->tmpfs_inodes;

	if (nsrun_size_parse(p->l.words[1], size) < 0 || !*size)
		return bad(p, 1, "is not a size like 1G");
	if (nsrun_number_parse(p->l.words[2], UINT32_MAX, inodes) < 0 ||
	    !*inodes)
		return bad(p, 2, "is not a number of inodes");
	return 0;
}

static int
do_on_hazard(struct parser *p)
{
	p->profile->on_hazard = nsrun_on_hazard_parse(p->l.words[1]);
	return p->profile->on_hazard ? 0 :
	    bad(p, 1, "is neither refuse nor shield");
}

static int
do_scan(struct parser *p)
{
	struct nsrun_scan_limits *scan = &p->profile->scan;

	if (nsrun_size_parse(p->l.words[1], &scan->entries) < 0 ||
	    !scan->entries)
		return bad(p, 1, "is not a number of entries like 4M");
	if (nsrun_number_parse(p->l.words[2], UINT32_MAX - 1,
	    &scan->depth) < 0 || !scan->depth)
		return bad(p, 2, "is not a depth");
	if (nsrun_duration_parse(p->l.words[3], &scan->time_ms) < 0 ||
	    !scan->time_ms)
		return bad(p, 3, "is not a duration like 120s");
	return 0;
}

static int
do_private(struct parser *p)
{
	struct nsrun_profile *profile = p->profile;
	struct nsrun_private *v = nsrun_arena_grow(&profile->arena,
	    profile->privates, profile->n_privates, sizeof *v);
	char *end;
	const char *word = p->l.words[2];
	unsigned long mode = strtoul(word, &end, 8);

	if (!v)
		return no_memory(p);
	profile->privates = v;
	if (*p->l.words[1] != '/' && strcmp(p->l.words[1], "home"))
		return bad(p, 1, "is neither an absolute path nor home");
	if (*end || mode > 01777 || *word < '0' || *word > '7')
		return bad(p, 2, "is not an octal mode");
	v[profile->n_privates++] = (struct nsrun_private){
		p->l.words[1], (mode_t)mode,
	};
	return 0;
}

static int
add_pair(struct parser *p, struct nsrun_pair **pairs, size_t *n,
    const char *value)
{
	struct nsrun_pair *v = nsrun_arena_grow(&p->profile->arena, *pairs, *n,
	    sizeof *v);

	if (!v || !value)
		return no_memory(p);
	*pairs = v;
	v[(*n)++] = (struct nsrun_pair){ p->l.words[1], value };
	return 0;
}

static int
do_lower(struct parser *p)
{
	char *value = p->l.words[2];

	/* A value of several words, like kernel/sem's, keeps its blanks. */
	for (size_t i = 3; i < p->l.n_words && value; i++)
		value = nsrun_arena_printf(&p->profile->arena, "%s %s", value,
		    p->l.words[i]);
	if (*p->l.words[1] == '/' || strstr(p->l.words[1], ".."))
		return bad(p, 1, "is not a name below /proc/sys");
	return add_pair(p, &p->profile->lower, &p->profile->n_lower, value);
}

static int
do_set(struct parser *p)
{
	return add_pair(p, &p->profile->set, &p->profile->n_set, p->l.words[2]);
}

static int
do_server(struct parser *p)
{
	p->profile->needs_server = true;
	return 0;
}

static int
do_hook(struct parser *p)
{
	p->profile->is_hook = true;
	return 0;
}

/* NAME MARKER DIR...: see nsrun-profiles(5). */
static int
do_toolchain_env(struct parser *p)
{
	struct nsrun_profile *profile = p->profile;
	struct nsrun_toolchain *v = nsrun_arena_grow(&profile->arena,
	    profile->toolchains, profile->n_toolchains, sizeof *v);
	const char **dirs = nsrun_arena_dup(&profile->arena, &p->l.words[3],
	    (p->l.n_words - 3) * sizeof *dirs);

	if (!v || !dirs)
		return no_memory(p);
	for (size_t i = 2; i < p->l.n_words; i++)
		if (*p->l.words[i] == '/' || strstr(p->l.words[i], ".."))
			return bad(p, i, "is not a relative path");
	profile->toolchains = v;
	v[profile->n_toolchains++] = (struct nsrun_toolchain){
		.name = p->l.words[1], .marker = p->l.words[2],
		.dirs = { dirs, p->l.n_words - 3 },
	};
	return 0;
}

static int parse_text(struct parser *p, const char *file, const char *text);

/* All that another profile of the release says, before what this one does. */
static int
do_like(struct parser *p)
{
	const struct nsrun_policy_text *base = nsrun_policy_text_find("profile",
	    p->l.words[1]);
	struct nsrun_lines lines = p->l;
	unsigned int said = p->said;
	const char *name = p->profile->name;
	char file[64];

	if (p->began)
		return bad(p, 0, "must stand before all but `profile`");
	if (!base)
		return bad(p, 1, "is no profile of this release");
	if (++p->depth > MAX_LIKE)
		return bad(p, 1, "builds on too many others");
	snprintf(file, sizeof file, "%.40s.profile", p->l.words[1]);
	p->said = 0;
	if (parse_text(p, file, base->text) < 0)
		return -1;
	p->l = lines;
	p->said = said;
	p->named = 0;
	p->profile->name = name;
	p->began = true;
	return 0;
}

/* Keywords that take a list: where it goes, and how each word must begin. */
static const struct {
	const char *name;
	size_t offset;
	char first;		/* '/': absolute; 'r': relative, beneath */
} lists[] = {
	{ "system", offsetof(struct nsrun_profile, system), '/' },
	{ "merged", offsetof(struct nsrun_profile, merged), '/' },
	{ "toolchain", offsetof(struct nsrun_profile, toolchain), 'r' },
	{ "path", offsetof(struct nsrun_profile, path), 0 },
	{ "pass", offsetof(struct nsrun_profile, pass), 0 },
	{ "etc", offsetof(struct nsrun_profile, etc), 'r' },
	{ "device", offsetof(struct nsrun_profile, device), 'r' },
	{ "control", offsetof(struct nsrun_profile, control), 'r' },
	{ "cover", offsetof(struct nsrun_profile, cover), 'r' },
	{ "mask", offsetof(struct nsrun_profile, mask), 'r' },
	{ "root-cover", offsetof(struct nsrun_profile, root_cover), 'r' },
	{ "root-mask", offsetof(struct nsrun_profile, root_mask), 'r' },
};

static int
do_list(struct parser *p, size_t which)
{
	struct nsrun_words *words = (struct nsrun_words *)
	    ((char *)p->profile + lists[which].offset);

	/* A list that is named here takes the place of the base's. */
	if (!(p->named & 1ULL << which))
		*words = (struct nsrun_words){ 0 };
	p->named |= 1ULL << which;
	if (p->l.n_words == 2 && !strcmp(p->l.words[1], "none"))
		return 0;
	for (size_t i = 1; i < p->l.n_words; i++) {
		const char *word = p->l.words[i];
		const char **v = nsrun_arena_grow(&p->profile->arena, words->v,
		    words->n, sizeof *v);

		if (!v)
			return no_memory(p);
		if (lists[which].first == '/' && *word != '/')
			return bad(p, i, "is not an absolute path");
		if (lists[which].first == 'r' &&
		    (*word == '/' || strstr(word, "..")))
			return bad(p, i, "is not a relative path");
		words->v = v;
		v[words->n++] = word;
	}
	return 0;
}

/* Keywords with a handler; max 0: one or more. */
static const struct {
	const char *name;
	size_t min, max;	/* words after it */
	int (*handle)(struct parser *p);
} keywords[] = {
	{ "profile", 1, 1, do_profile },
	{ "like", 1, 1, do_like },
	{ "filter", 1, 1, do_filter },
	{ "nesting", 1, 1, do_nesting },
	{ "network", 1, NSRUN_N_NETWORKS, do_network },
	{ "hostname", 1, 1, do_hostname },
	{ "wall", 1, 1, do_wall },
	{ "stdin", 1, 1, do_stdin },
	{ "git", 1, 1, do_git },
	{ "limit", 2, 2, do_limit },
	{ "tmpfs", 2, 2, do_tmpfs },
	{ "on-hazard", 1, 1, do_on_hazard },
	{ "scan", 3, 3, do_scan },
	{ "private", 2, 2, do_private },
	{ "lower", 2, 5, do_lower },
	{ "set", 2, 2, do_set },
	{ "toolchain-env", 3, NSRUN_LINE_WORDS, do_toolchain_env },
	{ "server", 0, 0, do_server },
	{ "hook", 0, 0, do_hook },
};

static int
parse_words(struct parser *p)
{
	p->began |= strcmp(p->l.words[0], "profile") &&
	    strcmp(p->l.words[0], "like");
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!strcmp(lists[i].name, p->l.words[0]))
			return p->l.n_words > 1 ? do_list(p, i) :
			    bad(p, 0, "wants a list");
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(keywords[i].name, p->l.words[0]))
			return p->l.n_words - 1 >= keywords[i].min &&
			    p->l.n_words - 1 <= keywords[i].max ?
			    keywords[i].handle(p) :
			    bad(p, 0, "has the wrong number of words");
	return bad(p, 0, "is no keyword of a profile");
}

static int
parse_text(struct parser *p, const char *file, const char *text)
{
	int rc;

	nsrun_lines_init(&p->l, &p->profile->arena, file, text, p->l.err);
	while ((rc = nsrun_lines_next(&p->l)) > 0)
		if (parse_words(p) < 0)
			return -1;
	return rc;
}

/* A profile that leaves out one of these would be less than it seems. */
static int
check_complete(struct parser *p)
{
	const struct nsrun_profile *profile = p->profile;

	if (!profile->name)
		return bad(p, 0, "the profile has no name");
	if (!profile->filter)
		return bad(p, 0, "the profile has no filter");
	if (!profile->tmpfs_size)
		return bad(p, 0, "the profile says nothing of the tmpfs");
	if (!profile->networks[profile->network])
		return bad(p, 0, "the profile says nothing of the network");
	return 0;
}

int
nsrun_profile_parse(struct nsrun_profile *profile, const char *file,
    const char *text, struct nsrun_err *err)
{
	struct parser p = { .profile = profile, .l.err = err };
	int rc;

	*profile = (struct nsrun_profile){
		.arena = NSRUN_ARENA_INIT, .scan = NSRUN_SCAN_LIMITS,
	};
	rc = parse_text(&p, file, text);
	if (rc == 0)
		rc = check_complete(&p);
	if (rc < 0)
		nsrun_profile_deinit(profile);
	return rc;
}

void
nsrun_profile_deinit(struct nsrun_profile *profile)
{
	nsrun_arena_deinit(&profile->arena);
	*profile = (struct nsrun_profile){ .arena = NSRUN_ARENA_INIT };
}
