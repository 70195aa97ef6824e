/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns of masks. Each component is one of fnmatch(3), where a period needs
 * no period and bytes are bytes; "**" stands for any number of directories.
 * Links are not followed. One walk serves all patterns: what each may still
 * match in a directory is a state, and a directory without one is not read.
 */
#include "host/masks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"

/*
 * A component of a pattern. fnmatch(3) is slow, and a name that does not begin
 * and end as the component does is none of it.
 */
struct component {
	const char	*text;		/* NULL: the pattern ends */
	size_t		head, tail;	/* bytes without a wildcard */
	bool		is_wild, is_deep;
};

/* A pattern, and which of its components is to match next. */
struct state {
	const struct component *rest;
};

/* A directory still to be read, beneath the root. */
struct place {
	struct place	*next;
	size_t		n;
	struct state	*states;
	char		path[];		/* "" for the root itself */
};

struct walk {
	struct nsrun_masks	*masks;
	const struct nsrun_mask_root *root;
	struct place		*todo;
	struct component	*components;	/* of all patterns */
	size_t			n_components;
	unsigned int		*seen;		/* by component: the last */
	unsigned int		visit;		/* in which it was entered */
};

bool
nsrun_glob_is_one(const char *pattern)
{
	return pattern[strcspn(pattern, "*?[")];
}

static struct component
compile(const char *text)
{
	static const char special[] = "*?[]\\";
	struct component c = {
		.text = text, .head = strcspn(text, special),
		.is_wild = nsrun_glob_is_one(text),
		.is_deep = !strcmp(text, "**"),
	};
	size_t n = strlen(text);

	while (c.tail < n && !strchr(special, text[n - c.tail - 1]))
		c.tail++;
	return c;
}

static bool
matches(const struct component *c, const char *name, size_t n)
{
	size_t length;

	if (!c->is_wild)
		return !strcmp(c->text, name);
	if (n < c->head || n < c->tail || memcmp(name, c->text, c->head))
		return false;
	length = strlen(c->text + c->head) + c->head;
	return !memcmp(name + n - c->tail, c->text + length - c->tail,
	    c->tail) && !fnmatch(c->text, name, 0);
}

static int
no_memory(const struct walk *w)
{
	return nsrun_err_nomem(w->masks->err, "patterns");
}

/* Add s, and where it begins with "**" also what follows that; each once. */
static void
enter(struct walk *w, struct state *v, size_t *n, const struct component *rest)
{
	for (;; rest++) {
		unsigned int *seen = &w->seen[rest - w->components];

		if (*seen == w->visit)
			return;
		*seen = w->visit;
		v[(*n)++].rest = rest;
		if (!rest->is_deep || !rest[1].text)
			return;
	}
}

static int
push(struct walk *w, const char *path, const struct state *states, size_t n)
{
	struct place *p = malloc(sizeof *p + strlen(path) + 1);

	if (!p)
		return no_memory(w);
	p->states = malloc(n * sizeof *states);
	if (!p->states) {
		free(p);
		return no_memory(w);
	}
	memcpy(p->states, states, n * sizeof *states);
	memcpy(p->path, path, strlen(path) + 1);
	p->n = n;
	p->next = w->todo;
	w->todo = p;
	return 0;
}

static void
drop(struct place *p)
{
	free(p->states);
	free(p);
}

/* What stands there, asked only where the listing does not say. */
static mode_t
type_of(int dir, const char *name, int d_type)
{
	struct stat st;

	if (d_type != DT_UNKNOWN)
		return DTTOIF(d_type);
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 :
	    st.st_mode & S_IFMT;
}

/* A name in p that some pattern may be about. */
static int
visit(struct walk *w, const struct place *p, const char *name, mode_t type,
    struct state *after)
{
	char path[PATH_MAX], full[PATH_MAX];
	size_t n = 0, length = strlen(name);
	bool matched = false;

	w->visit++;
	for (size_t i = 0; i < p->n && !matched; i++) {
		const struct component *rest = p->states[i].rest;

		if (rest->is_deep) {
			matched = !rest[1].text;
			if (S_ISDIR(type))
				enter(w, after, &n, rest);
		} else if (matches(rest, name, length)) {
			matched = !rest[1].text;
			if (!matched && S_ISLNK(type) && !rest->is_wild)
				return nsrun_err_rule(w->masks->err,
				    NSRUN_STEP_MASK, "a pattern leads through"
				    " a link: name where that leads", name,
				    NULL);
			if (!matched && S_ISDIR(type))
				enter(w, after, &n, rest + 1);
		}
	}
	if (!matched && n == 0)
		return 0;
	if ((size_t)snprintf(path, sizeof path, "%s%s%s", p->path,
	    *p->path ? "/" : "", name) >= sizeof path ||
	    (size_t)snprintf(full, sizeof full, "%s/%s", w->root->path,
	    path) >= sizeof full)
		return nsrun_err_rule(w->masks->err, NSRUN_STEP_MASK,
		    "is too deep for a pattern", p->path, NULL);
	return matched ? nsrun_masks_add(w->masks, full, true, true) :
	    push(w, path, after, n);
}

/*
 * What cannot be read is refused, unless the command cannot read it either:
 * its owner may give himself the right.
 */
static int
open_place(const struct walk *w, const struct place *p)
{
	int fd = sys_openat2(w->root->fd, *p->path ? p->path : ".",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	struct stat st;

	if (fd >= 0)
		return fd;
	/* It went, or was replaced, since it was listed. */
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return -1;
	if (errno == EACCES && fstatat(w->root->fd, p->path, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && st.st_uid != geteuid())
		return -1;
	errno = errno ? errno : EACCES;
	return nsrun_err_sys(w->masks->err, NSRUN_STEP_MASK, "open",
	    *p->path ? p->path : w->root->path, NULL);
}

static int
read_place(struct walk *w, const struct place *p, struct state *after)
{
	int fd = open_place(w, p), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		nsrun_fd_close(&fd);
		return w->masks->err->step == NSRUN_STEP_NONE ? 0 : -1;
	}
	while (errno = 0, rc == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = visit(w, p, e->d_name, type_of(dirfd(dir),
			    e->d_name, e->d_type), after);
	if (rc == 0 && errno)
		rc = nsrun_err_sys(w->masks->err, NSRUN_STEP_MASK, "readdir",
		    *p->path ? p->path : w->root->path, NULL);
	closedir(dir);
	return rc;
}

/* Only plain names are wanted here: each is looked up, nothing is listed. */
static int
ask_place(struct walk *w, const struct place *p, struct state *after)
{
	int fd = open_place(w, p), rc = 0;

	for (size_t i = 0; fd >= 0 && rc == 0 && i < p->n; i++) {
		const char *name = p->states[i].rest->text;
		mode_t type = type_of(fd, name, DT_UNKNOWN);
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= !strcmp(p->states[k].rest->text, name);
		if (type && !again)
			rc = visit(w, p, name, type, after);
	}
	if (fd < 0 && w->masks->err->step != NSRUN_STEP_NONE)
		rc = -1;
	nsrun_fd_close(&fd);
	return rc;
}

static int
look_at(struct walk *w, const struct place *p, struct state *after)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->states[i].rest->is_wild)
			return read_place(w, p, after);
	return ask_place(w, p, after);
}

/* Add the components of what follows the root in a pattern: the first. */
static const struct component *
split(struct walk *w, const char *pattern)
{
	const struct component *first = &w->components[w->n_components];
	char *text = nsrun_arena_strdup(w->masks->arena, pattern), *at;

	if (!text)
		return NULL;
	for (char *s = strtok_r(text, "/", &at); s;
	    s = strtok_r(NULL, "/", &at))
		w->components[w->n_components++] = compile(s);
	w->components[w->n_components++].text = NULL;
	return first;
}

static int
walk_root(struct walk *w, const char *const *patterns, size_t n)
{
	struct nsrun_arena *arena = w->masks->arena;
	struct state *states, *after;
	size_t n_states = 0, most = 0;
	int rc = 0;

	/* A state for each component that is still to come, at most. */
	for (size_t i = 0; i < n; i++)
		most += strlen(patterns[i]) + 1;
	w->n_components = 0;
	w->components = nsrun_arena_alloc(arena, most * sizeof *w->components);
	w->seen = nsrun_arena_alloc(arena, most * sizeof *w->seen);
	states = nsrun_arena_alloc(arena, most * sizeof *states);
	after = nsrun_arena_alloc(arena, most * sizeof *after);
	if (!w->components || !w->seen || !states || !after)
		return no_memory(w);
	w->visit = 1;
	for (size_t i = 0; i < n; i++) {
		const struct component *first;

		if (nsrun_masks_root_of(w->masks, patterns[i]) != w->root)
			continue;
		first = split(w, patterns[i] + strlen(w->root->path));
		if (!first)
			return no_memory(w);
		if (first->text)
			enter(w, states, &n_states, first);
	}
	if (n_states && push(w, "", states, n_states) < 0)
		return -1;
	while (rc == 0 && w->todo) {
		struct place *p = w->todo;

		w->todo = p->next;
		rc = look_at(w, p, after);
		drop(p);
	}
	return rc;
}

int
nsrun_globs_add(struct nsrun_masks *masks, const char *const *patterns,
    size_t n)
{
	struct walk w = { .masks = masks };
	locale_t bytes, saved;
	int rc = 0;

	if (n == 0)
		return 0;
	bytes = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!bytes)
		return no_memory(&w);
	saved = uselocale(bytes);
	for (size_t i = 0; rc == 0 && i < masks->n_roots; i++) {
		w.root = &masks->roots[i];
		rc = walk_root(&w, patterns, n);
	}
	while (w.todo) {
		struct place *p = w.todo;

		w.todo = p->next;
		drop(p);
	}
	uselocale(saved);
	freelocale(bytes);
	return rc;
}
