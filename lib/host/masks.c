/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/masks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/stub.h"
#include "base/sys.h"

enum { MAX_HOPS = 40 };

/* On the way to a mask: what is resolved, and what is not yet. */
struct walk {
	struct nsrun_masks	*masks;
	const struct nsrun_mask_root *root;	/* of at; NULL: in none */
	char			at[PATH_MAX];	/* a directory, "" for "/" */
	char			rest[PATH_MAX];
	int			hops;
	bool			hide, optional;
};

void
nsrun_masks_init(struct nsrun_masks *masks, struct nsrun_arena *arena,
    const struct nsrun_mask_root *roots, size_t n_roots, struct nsrun_err *err)
{
	*masks = (struct nsrun_masks){
		.arena = arena, .roots = roots, .n_roots = n_roots,
		.dir_fd = -1, .err = err,
	};
}

void
nsrun_masks_deinit(struct nsrun_masks *masks)
{
	nsrun_fd_close(&masks->dir_fd);
	free(masks->dir);
	masks->dir = NULL;
}

static const struct nsrun_mask_root *
root_of(const struct nsrun_masks *masks, const char *path, bool below)
{
	const struct nsrun_mask_root *found = NULL;

	for (size_t i = 0; i < masks->n_roots; i++) {
		const struct nsrun_mask_root *r = &masks->roots[i];

		if (nsrun_path_is_within(path, r->path) &&
		    (!below || strcmp(path, r->path)) &&
		    (!found || strlen(r->path) > strlen(found->path)))
			found = r;
	}
	return found;
}

const struct nsrun_mask_root *
nsrun_masks_root_of(const struct nsrun_masks *masks, const char *path)
{
	return root_of(masks, path, true);
}

static int
failed(const struct nsrun_masks *masks, const char *call, const char *path)
{
	return nsrun_err_sys(masks->err, NSRUN_STEP_MASK, call, path, NULL);
}

/*
 * The directory at `path`, which is in root and has no link in it: opened from
 * the last one on, where that is above. Borrowed, good until the next call.
 */
static int
open_dir(struct nsrun_masks *masks, const struct nsrun_mask_root *root,
    const char *path)
{
	const char *from = root->path;
	int base = root->fd, fd;

	if (masks->dir_fd >= 0 && nsrun_path_is_within(path, masks->dir) &&
	    nsrun_path_is_within(masks->dir, root->path)) {
		from = masks->dir;
		base = masks->dir_fd;
	}
	if (!strcmp(from, path))
		return base;
	fd = sys_openat2(base, path + strlen(from) + 1, O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return failed(masks, "open", path);
	nsrun_fd_close(&masks->dir_fd);
	free(masks->dir);
	masks->dir = strdup(path);
	masks->dir_fd = masks->dir ? fd : -1;
	if (!masks->dir) {
		close(fd);
		return nsrun_err_nomem(masks->err, path);
	}
	return fd;
}

static int
add(const struct walk *w, enum nsrun_mount_kind kind, const char *name,
    const struct stat *st)
{
	struct nsrun_masks *masks = w->masks;
	struct nsrun_mask *v = nsrun_arena_grow(masks->arena, masks->v,
	    masks->n, sizeof *v);
	const char *path = nsrun_arena_printf(masks->arena, "%s/%s", w->at,
	    name);

	if (!v || !path)
		return nsrun_err_nomem(masks->err, "masks");
	masks->v = v;
	v[masks->n++] = (struct nsrun_mask){
		.kind = kind, .path = path, .root = w->root->path,
		.optional = w->optional,
		.pin = {
			.dev = st->st_dev, .ino = st->st_ino,
			.type = st->st_mode & S_IFMT,
			.uid = w->root->uid, .fd = -1,
		},
	};
	return 0;
}

/* What is there and must stay where it is: only where it could be moved. */
static int
add_pin(const struct walk *w, const char *name, const struct stat *st)
{
	return w->root->writable ? add(w, NSRUN_MOUNT_PIN, name, st) : 0;
}

/*
 * Nothing of that name in dir. Where the command cannot make it, there is
 * nothing to do; where it could by changing the directory's mode, a mount point
 * would have to be made against that mode.
 */
static int
add_absent(const struct walk *w, const char *name, int dir)
{
	struct stat st;

	if (!w->root->writable)
		return 0;
	if (fstat(dir, &st) < 0)
		return failed(w->masks, "fstat", w->at);
	if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		if (errno == EROFS || (errno == EACCES &&
		    st.st_uid != geteuid()))
			return 0;
		if (errno == EACCES)
			return nsrun_err_rule(w->masks->err, NSRUN_STEP_MASK,
			    "lacks a masked name that its owner could make: let"
			    " the owner write (chmod u+wx), or grant it with"
			    " --ro", w->at, NULL);
		return failed(w->masks, "faccessat", w->at);
	}
	return add(w, NSRUN_MOUNT_ABSENT, name, &st);
}

/* The last component is there. */
static int
add_present(const struct walk *w, const char *name, const struct stat *st,
    int dir)
{
	if (nsrun_stub_is_one(st))
		return add_absent(w, name, dir);
	if (w->hide || (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode)))
		return add(w, NSRUN_MOUNT_HIDE, name, st);
	return w->root->writable ? add(w, NSRUN_MOUNT_COVER, name, st) : 0;
}

/* A link: it stays, or is not seen; the way goes on where it leads. */
static int
follow(struct walk *w, int dir, const char *name, const struct stat *st)
{
	char text[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(dir, name, text, sizeof text - 1);

	if (n < 0)
		return failed(w->masks, "readlink", w->at);
	text[n] = '\0';
	if ((w->hide && !*w->rest ? add(w, NSRUN_MOUNT_HIDE, name, st) :
	    add_pin(w, name, st)) < 0)
		return -1;
	if (++w->hops > MAX_HOPS) {
		*w->rest = '\0';	/* it leads nowhere, for anybody */
		return 1;
	}
	memcpy(rest, w->rest, strlen(w->rest) + 1);
	if ((size_t)n + strlen(rest) + 2 > sizeof w->rest)
		return nsrun_err_rule(w->masks->err, NSRUN_STEP_MASK,
		    "a link makes this path too long", w->at, NULL);
	memcpy(w->rest, text, (size_t)n);
	w->rest[n] = '/';
	memcpy(w->rest + n + 1, rest, strlen(rest) + 1);
	if (*text == '/') {
		w->at[0] = '\0';
		w->root = NULL;
	}
	return 0;
}

/* Take the next component off the rest; false: there is none. */
static bool
next(struct walk *w, char name[NAME_MAX + 1])
{
	size_t skip = strspn(w->rest, "/");
	size_t n = strcspn(w->rest + skip, "/");
	size_t to = skip + n + strspn(w->rest + skip + n, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(name, w->rest + skip, n);
	name[n] = '\0';
	memmove(w->rest, w->rest + to, strlen(w->rest + to) + 1);
	return true;
}

static int
descend(struct walk *w, const char *name)
{
	size_t n = strlen(w->at), more = strlen(name);

	if (n + more + 2 > sizeof w->at)
		return nsrun_err_rule(w->masks->err, NSRUN_STEP_MASK,
		    "is too deep for a mask", w->at, NULL);
	w->at[n] = '/';
	memcpy(w->at + n + 1, name, more + 1);
	w->root = root_of(w->masks, w->at, false);
	return 0;
}

/* One component, in a root. 1: the path ends here. */
static int
step(struct walk *w, const char *name)
{
	int dir = open_dir(w->masks, w->root, w->at);
	struct stat st;

	if (dir < 0)
		return -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return add_absent(w, name, dir) < 0 ? -1 : 1;
		/* Who may not search it, may not make anything in it. */
		if (errno == EACCES && fstat(dir, &st) == 0 &&
		    st.st_uid != geteuid())
			return 1;
		errno = EACCES;
		return failed(w->masks, "search", w->at);
	}
	if (S_ISLNK(st.st_mode))
		return follow(w, dir, name, &st);
	if (!*w->rest)
		return add_present(w, name, &st, dir) < 0 ? -1 : 1;
	/* A stub on the way: what is below it is as absent. */
	if (nsrun_stub_is_one(&st))
		return add_absent(w, name, dir) < 0 ? -1 : 1;
	if (add_pin(w, name, &st) < 0)
		return -1;
	/* Below what is no directory there can be nothing while it stays. */
	if (!S_ISDIR(st.st_mode))
		return 1;
	return descend(w, name);
}

static void
ascend(struct walk *w)
{
	char *slash = strrchr(w->at, '/');

	if (slash)
		*slash = '\0';
	w->root = root_of(w->masks, *w->at ? w->at : "/", false);
}

static int
run(struct walk *w)
{
	char name[NAME_MAX + 1];
	int rc = 0;

	while (rc == 0 && next(w, name)) {
		if (!strcmp(name, "."))
			continue;
		if (!strcmp(name, ".."))
			ascend(w);
		else if (w->root)
			rc = step(w, name);
		else
			rc = descend(w, name);
	}
	return rc < 0 ? -1 : 0;
}

/* Start at the root that holds the path. */
static int
start(struct walk *w, struct nsrun_masks *masks, const char *path)
{
	*w = (struct walk){ .masks = masks };
	w->root = nsrun_masks_root_of(masks, path);
	if (!w->root)
		return 1;
	if (strlen(path) >= sizeof w->at)
		return nsrun_err_rule(masks->err, NSRUN_STEP_MASK,
		    "is too long for a mask", path, NULL);
	memcpy(w->at, w->root->path, strlen(w->root->path) + 1);
	memcpy(w->rest, path + strlen(w->at) + 1, strlen(path) -
	    strlen(w->at));
	return 0;
}

int
nsrun_masks_add(struct nsrun_masks *masks, const char *path, bool hide,
    bool optional)
{
	struct walk w;
	int rc = start(&w, masks, path);

	w.hide = hide;
	w.optional = optional;
	return rc ? (rc < 0 ? -1 : 0) : run(&w);
}

int
nsrun_masks_add_pins(struct nsrun_masks *masks, const char *path)
{
	struct walk w;
	int rc = start(&w, masks, path);
	char *slash = rc ? NULL : strrchr(w.rest, '/');
	char name[NAME_MAX + 1];
	struct stat st;

	if (!slash)
		return rc < 0 ? -1 : 0;
	*slash = '\0';
	while (next(&w, name)) {
		int dir = open_dir(masks, w.root, w.at);

		if (dir < 0)
			return -1;
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return failed(masks, "fstatat", path);
		if (add_pin(&w, name, &st) < 0 || descend(&w, name) < 0)
			return -1;
	}
	return 0;
}

/* In the order of a tree; of one place the strongest first. */
static int
by_place(const void *a, const void *b)
{
	static const int strength[NSRUN_N_MOUNT_KINDS] = {
		[NSRUN_MOUNT_PIN] = 3, [NSRUN_MOUNT_COVER] = 2,
		[NSRUN_MOUNT_ABSENT] = 1, [NSRUN_MOUNT_HIDE] = 0,
	};
	const struct nsrun_mask *x = a, *y = b;
	int order = nsrun_path_compare(x->path, y->path);

	if (order)
		return order;
	if (x->kind != y->kind)
		return strength[x->kind] - strength[y->kind];
	return x->optional - y->optional;
}

/* Pins first, the inner before the outer; then the rest, as it is. */
static int
by_turn(const void *a, const void *b)
{
	const struct nsrun_mask *x = a, *y = b;
	bool p = x->kind == NSRUN_MOUNT_PIN, q = y->kind == NSRUN_MOUNT_PIN;
	int order = nsrun_path_compare(x->path, y->path);

	if (p != q)
		return p ? -1 : 1;
	if (!p)
		return order;
	order = strcmp(y->root, x->root);
	return order ? order : nsrun_path_compare(y->path, x->path);
}

void
nsrun_masks_sort(struct nsrun_masks *masks)
{
	const char *hidden = NULL, *covered = NULL;
	struct nsrun_mask *v = masks->v;
	size_t n = 0;

	if (masks->n < 1)
		return;
	qsort(v, masks->n, sizeof *v, by_place);
	for (size_t i = 0; i < masks->n; i++) {
		if (n && !strcmp(v[i].path, v[n - 1].path))
			continue;
		/* What is not seen needs no more; what is read-only, less. */
		if (hidden && nsrun_path_is_within(v[i].path, hidden))
			continue;
		if (covered && v[i].kind != NSRUN_MOUNT_HIDE &&
		    nsrun_path_is_within(v[i].path, covered))
			continue;
		if (v[i].kind == NSRUN_MOUNT_HIDE)
			hidden = v[i].path;
		if (v[i].kind == NSRUN_MOUNT_COVER)
			covered = v[i].path;
		v[n++] = v[i];
	}
	masks->n = n;
	qsort(v, n, sizeof *v, by_turn);
}
