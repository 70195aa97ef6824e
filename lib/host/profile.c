/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"

enum { MAX_WORDS = 32, MAX_TEXT = 65536 };

struct parser {
	struct nsrun_profile	*profile;
	const char		*file;
	unsigned int		line;
	const char		*line_start;
	const char		*at[MAX_WORDS];		/* where each began */
	char			*words[MAX_WORDS];
	size_t			n_words;
	struct nsrun_err	*err;
};

/* Complain about word i of this line. */
static int
bad(struct parser *p, size_t i, const char *rule)
{
	char where[256];

	snprintf(where, sizeof where, "%s:%u:%d", p->file, p->line,
	    (int)(p->at[i] - p->line_start) + 1);
	return nsrun_err_rule(p->err, NSRUN_STEP_POLICY, rule, where, NULL);
}

static int
no_memory(struct parser *p)
{
	return nsrun_err_nomem(p->err, p->file);
}

static int
set_once(struct parser *p, const char **slot)
{
	if (*slot)
		return bad(p, 0, "is said twice");
	*slot = p->words[1];
	return 0;
}

static int
do_profile(struct parser *p)
{
	return set_once(p, &p->profile->name);
}

static int
do_filter(struct parser *p)
{
	return set_once(p, &p->profile->filter);
}

static int
do_hostname(struct parser *p)
{
	return set_once(p, &p->profile->hostname);
}

static int
do_network(struct parser *p)
{
	for (size_t i = 1; i < p->n_words; i++) {
		int n = 0;

		while (n < NSRUN_N_NETWORKS && strcmp(p->words[i],
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
	if (!strcmp(p->words[1], "none"))
		p->profile->wall_ms = 0;
	else if (nsrun_duration_parse(p->words[1], &p->profile->wall_ms) < 0 ||
	    p->profile->wall_ms == 0)
		return bad(p, 1, "is not a duration like 300s");
	return 0;
}

static int
do_stdin(struct parser *p)
{
	p->profile->stdin_null = !strcmp(p->words[1], "null");
	if (!p->profile->stdin_null && strcmp(p->words[1], "inherit"))
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
		if (!strcmp(p->words[1], words[i])) {
			p->profile->git = (enum nsrun_git)i;
			return 0;
		}
	return bad(p, 1, "is neither none, minimal nor worktree");
}

static int
do_limit(struct parser *p)
{
	int kind = nsrun_limit_find(p->words[1]);
	struct nsrun_limit *limit;

	if (kind < 0)
		return bad(p, 1, "is no limit");
	limit = &p->profile->limits[kind];
	limit->set = true;
	if (nsrun_size_parse(p->words[2], &limit->value) < 0)
		return bad(p, 2, "is not a number");
	return 0;
}

static int
do_tmpfs(struct parser *p)
{
	uint64_t *size = &p->profile->tmpfs_size;
	uint64_t *inodes = &p->profile->tmpfs_inodes;

	if (nsrun_size_parse(p->words[1], size) < 0 || !*size)
		return bad(p, 1, "is not a size like 1G");
	if (nsrun_number_parse(p->words[2], UINT32_MAX, inodes) < 0 || !*inodes)
		return bad(p, 2, "is not a number of inodes");
	return 0;
}

static int
do_on_hazard(struct parser *p)
{
	p->profile->on_hazard = nsrun_on_hazard_parse(p->words[1]);
	return p->profile->on_hazard ? 0 :
	    bad(p, 1, "is neither refuse nor shield");
}

static int
do_scan(struct parser *p)
{
	struct nsrun_scan_limits *scan = &p->profile->scan;

	if (nsrun_size_parse(p->words[1], &scan->entries) < 0 ||
	    !scan->entries)
		return bad(p, 1, "is not a number of entries like 4M");
	if (nsrun_number_parse(p->words[2], UINT32_MAX - 1, &scan->depth) < 0 ||
	    !scan->depth)
		return bad(p, 2, "is not a depth");
	if (nsrun_duration_parse(p->words[3], &scan->time_ms) < 0 ||
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
	unsigned long mode = strtoul(p->words[2], &end, 8);

	if (!v)
		return no_memory(p);
	profile->privates = v;
	if (*p->words[1] != '/' && strcmp(p->words[1], "home"))
		return bad(p, 1, "is neither an absolute path nor home");
	if (*end || mode > 01777 || *p->words[2] < '0' || *p->words[2] > '7')
		return bad(p, 2, "is not an octal mode");
	v[profile->n_privates++] = (struct nsrun_private){
		p->words[1], (mode_t)mode,
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
	v[(*n)++] = (struct nsrun_pair){ p->words[1], value };
	return 0;
}

static int
do_lower(struct parser *p)
{
	char *value = p->words[2];

	/* A value of several words, like kernel/sem's, keeps its blanks. */
	for (size_t i = 3; i < p->n_words && value; i++)
		value = nsrun_arena_printf(&p->profile->arena, "%s %s", value,
		    p->words[i]);
	if (*p->words[1] == '/' || strstr(p->words[1], ".."))
		return bad(p, 1, "is not a name below /proc/sys");
	return add_pair(p, &p->profile->lower, &p->profile->n_lower, value);
}

static int
do_set(struct parser *p)
{
	return add_pair(p, &p->profile->set, &p->profile->n_set, p->words[2]);
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

	for (size_t i = 1; i < p->n_words; i++) {
		const char *word = p->words[i];
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
	{ "filter", 1, 1, do_filter },
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
};

static int
parse_words(struct parser *p)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!strcmp(lists[i].name, p->words[0]))
			return p->n_words > 1 ? do_list(p, i) :
			    bad(p, 0, "wants a list");
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(keywords[i].name, p->words[0]))
			return p->n_words - 1 >= keywords[i].min &&
			    p->n_words - 1 <= keywords[i].max ?
			    keywords[i].handle(p) :
			    bad(p, 0, "has the wrong number of words");
	return bad(p, 0, "is no keyword of a profile");
}

/* Split one line, up to '#', into words; returns the next line. */
static int
parse_line(struct parser *p, const char **text)
{
	static const char blanks[] = " \t";
	const char *s = *text, *end = s + strcspn(s, "\n");

	p->line++;
	p->line_start = s;
	p->n_words = 0;
	*text = *end ? end + 1 : end;
	for (;;) {
		s += strspn(s, blanks);
		if (s >= end || *s == '#')
			break;
		p->at[p->n_words] = s;
		if (p->n_words == MAX_WORDS - 1)
			return bad(p, p->n_words, "is one word too many");
		size_t n = strcspn(s, " \t\n");

		/* Zeroed by the arena, so terminated. */
		p->words[p->n_words] = nsrun_arena_alloc(&p->profile->arena,
		    n + 1);
		if (!p->words[p->n_words])
			return no_memory(p);
		memcpy(p->words[p->n_words++], s, n);
		s += n;
	}
	return p->n_words ? parse_words(p) : 0;
}

/* A profile that leaves out one of these would be less than it seems. */
static int
check_complete(struct parser *p)
{
	const struct nsrun_profile *profile = p->profile;

	p->at[0] = p->line_start;
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
	struct parser p = { .profile = profile, .file = file, .err = err,
	    .line_start = text };
	int rc = 0;

	*profile = (struct nsrun_profile){
		.arena = NSRUN_ARENA_INIT, .scan = NSRUN_SCAN_LIMITS,
	};
	p.at[0] = text;
	if (strlen(text) > MAX_TEXT)
		rc = bad(&p, 0, "is larger than 64K");
	while (rc == 0 && *text)
		rc = parse_line(&p, &text);
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
