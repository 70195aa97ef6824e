/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/changes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "overlay/baseline.h"
#include "overlay/dir.h"

enum { BUFFER = 65536 };

static int
fail(struct nsrun_changes *c, const char *call)
{
	return nsrun_err_sys(c->err, NSRUN_STEP_STATE, call, *c->path ?
	    c->path : "the overlay", NULL);
}

static ssize_t
read_all(int fd, char *buf, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t got = read(fd, buf + n, size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

/* 1: the same bytes, 0: not; a host's file that cannot be read is another. */
static int
same_bytes(struct nsrun_changes *c, const struct nsrun_change *change)
{
	static char a[BUFFER], b[BUFFER];
	nsrun_autoclose int x = -1, y = -1;
	ssize_t n;

	y = openat(change->host_fd, change->name, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (y < 0)
		return 0;
	x = nsrun_layer_open(change->layer_fd, change->name, change->entry,
	    change->place);
	if (x < 0)
		return fail(c, "open");
	do {
		n = read_all(x, a, sizeof a);
		if (n < 0)
			return fail(c, "read");
		if (read_all(y, b, sizeof b) != n || memcmp(a, b, (size_t)n))
			return 0;
	} while (n > 0);
	return 1;
}

static int
same_link(struct nsrun_changes *c, const struct nsrun_change *change)
{
	static char a[PATH_MAX], b[PATH_MAX];
	ssize_t n = readlinkat(change->layer_fd, change->name, a, sizeof a);
	ssize_t k = readlinkat(change->host_fd, change->name, b, sizeof b);

	if (n < 0)
		return fail(c, "readlink");
	return n == k && !memcmp(a, b, (size_t)n);
}

/* Would it be the same on the host as it is now? 1, 0, or -1. */
static int
is_same(struct nsrun_changes *c, const struct nsrun_change *change)
{
	const struct nsrun_layer_entry *e = change->entry;
	const struct stat *was = change->was;

	if (!was || (was->st_mode & S_IFMT) != (e->st.st_mode & S_IFMT) ||
	    e->elsewhere)
		return 0;
	if (e->kind == NSRUN_LAYER_LINK)
		return same_link(c, change);
	/* A directory's set-group-ID bit is its parent's. */
	if (e->kind == NSRUN_LAYER_DIR)
		return (was->st_mode & 01777) == (e->st.st_mode & 01777);
	return e->kind == NSRUN_LAYER_FILE &&
	    was->st_mode == e->st.st_mode && was->st_size == e->st.st_size ?
	    same_bytes(c, change) : 0;
}

static bool
is_reserved(const struct nsrun_changes *c, const char *path)
{
	size_t n = strcspn(path, "/");

	for (const char *const *name = c->reserved; name && *name; name++)
		if (strlen(*name) == n && !memcmp(*name, path, n))
			return true;
	return false;
}

static const char *
why_not(const struct nsrun_changes *c, const struct nsrun_change *change)
{
	const struct nsrun_layer_entry *e = change->entry;

	if (is_reserved(c, change->path))
		return "is no command's to write";
	if (e && e->kind == NSRUN_LAYER_SPECIAL)
		return "is a socket, a FIFO or a device";
	if (e && e->elsewhere)
		return "lacks its content, as no run of ours leaves it";
	if (e && e->kind == NSRUN_LAYER_FILE && e->st.st_mode & 06000)
		return "is set-user-ID or set-group-ID";
	return NULL;
}

static int
tell(struct nsrun_changes *c, struct nsrun_change *change,
    enum nsrun_change_kind kind)
{
	change->kind = kind;
	if (kind == NSRUN_CHANGE_NONE)
		return c->tells_none ? c->tell(c->arg, change) : 0;
	change->why_not = why_not(c, change);
	change->conflict = c->baseline && !nsrun_baseline_holds(c->baseline,
	    change->path, change->was);
	return c->tell(c->arg, change);
}

static int walk_dir(struct nsrun_changes *c, int layer_fd, int host_fd,
    size_t len, bool opaque);

/* The host's directory, if it can be read and searched. */
static int
open_host(const struct nsrun_change *change)
{
	nsrun_autoclose int fd = nsrun_dir_open(change->host_fd, change->name);

	return fd < 0 || faccessat(fd, ".", X_OK, AT_EACCESS) < 0 ? -1 :
	    nsrun_fd_take(&fd);
}

/* Who may not look into it cannot say what it would do to it. */
static int
tell_closed(struct nsrun_changes *c, const struct nsrun_change *change)
{
	struct nsrun_change closed = *change;

	closed.kind = NSRUN_CHANGE_MODIFIED;
	closed.why_not = "cannot be looked into on the host";
	return c->tell(c->arg, &closed);
}

/*
 * Down into a directory of the layer, and into what it is merged with. What is
 * in one that hides the lower one hides it, too, and does not say so.
 */
static int
descend(struct nsrun_changes *c, const struct nsrun_change *change, size_t len,
    bool opaque)
{
	nsrun_autoclose int host = -1;
	nsrun_autoclose int layer = nsrun_layer_open(change->layer_fd,
	    change->name, change->entry, change->place);
	bool closed;
	int rc;

	if (layer < 0)
		return fail(c, "open");
	host = change->host_fd < 0 ? -1 : open_host(change);
	closed = host < 0 && change->host_fd >= 0 && errno == EACCES;
	/* No directory, a link, another file system: nothing to merge with. */
	if (host < 0 && change->host_fd >= 0 && errno != ENOENT &&
	    errno != ENOTDIR && errno != ELOOP && errno != EXDEV && !closed)
		return fail(c, "open");
	c->path[len] = closed ? '\0' : '/';
	rc = closed ? tell_closed(c, change) : walk_dir(c, layer, host,
	    len + 1, opaque || change->entry->opaque);
	c->path[len] = '\0';
	return nsrun_layer_leave(layer, change->entry) < 0 && rc >= 0 ?
	    fail(c, "chmod") : rc;
}

/* Fill in what stands at name on the host: *st and was, or neither. */
static int
look_at_host(struct nsrun_changes *c, struct nsrun_change *change,
    struct stat *st)
{
	if (change->host_fd < 0)
		return 0;
	if (fstatat(change->host_fd, change->name, st,
	    AT_SYMLINK_NOFOLLOW) == 0)
		change->was = st;
	else if (errno != ENOENT)
		return fail(c, "stat");
	return 0;
}

static int
walk_one(struct nsrun_changes *c, int layer_fd, int host_fd, const char *name,
    size_t len, bool opaque)
{
	struct nsrun_layer_entry entry;
	struct nsrun_change change = {
		.path = c->path, .name = name, .layer_fd = layer_fd,
		.host_fd = host_fd, .entry = &entry,
		.place = { c->path, c->notes_fd },
	};
	struct stat st;
	int rc;

	if (nsrun_layer_look(layer_fd, name, &entry) < 0)
		return fail(c, "stat");
	if (look_at_host(c, &change, &st) < 0)
		return -1;
	if (entry.kind == NSRUN_LAYER_STUB && !change.was)
		return 0;
	/* Not ours: those stand only where there was nothing. */
	if (entry.kind == NSRUN_LAYER_STUB)
		entry.kind = S_ISDIR(entry.st.st_mode) ? NSRUN_LAYER_DIR :
		    NSRUN_LAYER_SPECIAL;
	if (entry.kind == NSRUN_LAYER_WHITEOUT) {
		change.entry = NULL;
		return tell(c, &change, change.was ? NSRUN_CHANGE_DELETED :
		    NSRUN_CHANGE_NONE);
	}
	rc = is_same(c, &change);
	if (rc >= 0)
		rc = tell(c, &change, rc ? NSRUN_CHANGE_NONE : change.was ?
		    NSRUN_CHANGE_MODIFIED : NSRUN_CHANGE_ADDED);
	return rc || entry.kind != NSRUN_LAYER_DIR ? rc :
	    descend(c, &change, len, opaque);
}

/* The host's, which a replaced directory lacks. */
static int
tell_lacking(struct nsrun_changes *c, int host_fd, const char *name)
{
	struct nsrun_change change = {
		.path = c->path, .name = name, .layer_fd = -1,
		.host_fd = host_fd,
	};
	struct stat st;

	if (look_at_host(c, &change, &st) < 0)
		return -1;
	return change.was ? tell(c, &change, NSRUN_CHANGE_DELETED) : 0;
}

static int
append(struct nsrun_changes *c, size_t len, const char *name)
{
	size_t n = strlen(name);

	if (len + n + 2 > sizeof c->path)
		return nsrun_err_rule(c->err, NSRUN_STEP_STATE,
		    "is too long a path", c->path, NULL);
	memcpy(c->path + len, name, n + 1);
	return 0;
}

static int
walk_names(struct nsrun_changes *c, int layer_fd, int host_fd, size_t len,
    bool opaque)
{
	struct nsrun_names names, host = { 0 };
	int rc = 0;

	if (nsrun_names_read(&names, layer_fd) < 0)
		return fail(c, "read");
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		rc = append(c, len, names.v[i]);
		if (rc == 0)
			rc = walk_one(c, layer_fd, host_fd, names.v[i],
			    len + strlen(names.v[i]), opaque);
	}
	if (rc == 0 && opaque && host_fd >= 0 &&
	    nsrun_names_read(&host, host_fd) < 0)
		rc = fail(c, "read");
	for (size_t i = 0; rc == 0 && i < host.n; i++) {
		if (nsrun_names_have(&names, host.v[i]))
			continue;
		rc = append(c, len, host.v[i]);
		if (rc == 0)
			rc = tell_lacking(c, host_fd, host.v[i]);
	}
	nsrun_names_free(&names);
	nsrun_names_free(&host);
	return rc;
}

static int
walk_dir(struct nsrun_changes *c, int layer_fd, int host_fd, size_t len,
    bool opaque)
{
	int rc;

	if (++c->depth > NSRUN_OVERLAY_DEPTH)
		return nsrun_err_rule(c->err, NSRUN_STEP_STATE, "is deeper"
		    " than 256 directories: nothing but discard can be done"
		    " with it", c->path, NULL);
	rc = walk_names(c, layer_fd, host_fd, len, opaque);
	c->depth--;
	c->path[len] = '\0';
	return rc;
}

int
nsrun_changes_walk(struct nsrun_changes *c)
{
	int rc;

	c->depth = 0;
	c->path[0] = '\0';
	rc = walk_dir(c, c->layer_fd, c->project_fd, 0, false);
	return nsrun_layer_restore(c->notes_fd, c->layer_fd) < 0 && rc >= 0 ?
	    fail(c, "chmod") : rc;
}

static int
stop(void *arg, const struct nsrun_change *change)
{
	(void)arg;
	(void)change;
	return 1;
}

static int prune_dir(struct nsrun_changes *c, int layer_fd, int host_fd,
    size_t len);

/* A name of a directory that shows the lower one's, too. */
static int
prune_one(struct nsrun_changes *c, int layer_fd, int host_fd, const char *name,
    size_t len)
{
	nsrun_autoclose int layer = -1, host = -1;
	struct nsrun_layer_entry entry;
	int changed = walk_one(c, layer_fd, host_fd, name, len, false);

	if (changed < 0 || nsrun_layer_look(layer_fd, name, &entry) < 0)
		return changed < 0 ? -1 : fail(c, "stat");
	if (entry.kind != NSRUN_LAYER_DIR)
		return changed || unlinkat(layer_fd, name,
		    S_ISDIR(entry.st.st_mode) ? AT_REMOVEDIR : 0) == 0 ? 0 :
		    fail(c, "unlink");
	/* One that is changed and hides the lower one stays as it is. */
	if (changed && entry.opaque)
		return 0;
	layer = nsrun_layer_open(layer_fd, name, &entry,
	    (struct nsrun_layer_place){ c->path, c->notes_fd });
	if (layer < 0)
		return fail(c, "open");
	host = open_host(&(struct nsrun_change){
		.host_fd = host_fd, .name = name,
	});
	if (host < 0)
		return 0;
	/* While it is emptied it must not seem to delete what it lacks. */
	if (entry.opaque && fremovexattr(layer, "user.overlay.opaque") < 0)
		return fail(c, "removexattr");
	c->path[len] = '/';
	if (prune_dir(c, layer, host, len + 1) < 0)
		return -1;
	c->path[len] = '\0';
	if (changed)
		return nsrun_layer_leave(layer, &entry) < 0 ?
		    fail(c, "chmod") : 0;
	return unlinkat(layer_fd, name, AT_REMOVEDIR) == 0 ? 0 :
	    fail(c, "rmdir");
}

static int
prune_dir(struct nsrun_changes *c, int layer_fd, int host_fd, size_t len)
{
	struct nsrun_names names;
	int rc = 0;

	if (nsrun_names_read(&names, layer_fd) < 0)
		return fail(c, "read");
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		int depth = c->depth;

		rc = append(c, len, names.v[i]);
		if (rc == 0)
			rc = prune_one(c, layer_fd, host_fd, names.v[i],
			    len + strlen(names.v[i]));
		c->depth = depth;
	}
	nsrun_names_free(&names);
	return rc;
}

int
nsrun_changes_prune(struct nsrun_changes *c)
{
	nsrun_change_fn *saved = c->tell;
	int rc;

	c->tell = stop;
	c->tells_none = false;
	c->depth = 0;
	rc = prune_dir(c, c->layer_fd, c->project_fd, 0);
	c->tell = saved;
	return nsrun_layer_restore(c->notes_fd, c->layer_fd) < 0 && rc >= 0 ?
	    fail(c, "chmod") : rc;
}
