/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Overlays, with mount(2): the new API takes 255 bytes an option before
 * Linux 6.5, which four layers fill. Every layer is opened first and named as
 * a descriptor, so no path of the host's has to be escaped and none is seen
 * inside. Always userxattr: without it an unprivileged overlay cannot remove
 * a directory of a lower layer (Documentation/filesystems/overlayfs.rst).
 */
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

enum { MAX_LAYERS = 160, MAX_OPTIONS = 4096 };	/* a page, to the kernel */

struct overlay {
	int	fds[MAX_LAYERS + 2];
	size_t	n_fds;
	char	options[MAX_OPTIONS];
	size_t	n;
};

static void
put(struct overlay *o, const char *text)
{
	size_t len = strlen(text);

	if (o->n + len < sizeof o->options) {
		memcpy(o->options + o->n, text, len + 1);
		o->n += len;
	}
}

/* One more descriptor, and its name behind `before`. Takes fd. */
static void
put_fd(struct overlay *o, const char *before, int fd)
{
	char path[NSRUN_FD_PATH];

	o->fds[o->n_fds++] = fd;
	put(o, before);
	put(o, "/proc/");
	put(o, nsrun_fd_path(path, fd));
}

static int
open_source(const struct nsrun_mount *m, const char *path,
    struct nsrun_err *err)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		nsrun_err_sys(err, NSRUN_STEP_MOUNT, "open_tree", path,
		    m->target);
	return fd;
}

/*
 * A tree that was cloned before, while there was the right to: it must be
 * mounted somewhere in this namespace before the kernel takes it for a layer.
 */
static int
place_tree(struct nsrun_child *child, const struct nsrun_mount *m, int tree,
    const char *name, struct nsrun_err *err)
{
	int fd;

	if (mkdirat(child->base_fd, name, 0700) < 0 && errno != EEXIST)
		return nsrun_mount_failed(m, "mkdir", err);
	if (sys_move_mount(tree, "", child->base_fd, name,
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	fd = openat(child->base_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? nsrun_mount_failed(m, "open", err) : fd;
}

/* The one layer that the plan pinned. */
static int
open_pinned(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = -1;

	if (prep->tree_fds[i] >= 0)
		return place_tree(child, m, prep->tree_fds[i], "lower", err);
	fd = sys_openat2(AT_FDCWD, m->layers[0],
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "openat2",
		    m->layers[0], NULL);
	return nsrun_mount_check_pin(m, fd, err) < 0 ? -1 : nsrun_fd_take(&fd);
}

/* The last one given is the topmost, which the kernel wants first. */
static int
put_layers(struct overlay *o, const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	size_t n = 0;

	while (m->layers[n])
		n++;
	if (n > MAX_LAYERS) {
		errno = E2BIG;
		return nsrun_mount_failed(m, "overlay", err);
	}
	for (size_t k = n; k-- > 0; ) {
		int fd = m->flags & NSRUN_MOUNT_PINNED ?
		    open_pinned(prep, child, i, err) :
		    open_source(m, m->layers[k], err);

		if (fd < 0)
			return -1;
		put_fd(o, k == n - 1 ? "lowerdir=" : ":", fd);
	}
	return 0;
}

/* A tmpfs of its own bound, or the room that all of them share. */
static int
open_room(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	char path[NSRUN_FD_PATH], *name = path + sizeof "self/fd";
	nsrun_autoclose int fd = -1, made = -1;

	/* Named by the entry's number, which is as good as any. */
	nsrun_fd_path(path, (int)i);
	if (mkdirat(child->base_fd, name, 0755) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	if (m->size_bytes) {
		made = nsrun_mount_make_tmpfs(prep, child, i, err);
		if (made < 0)
			return -1;
		if (sys_move_mount(made, "", child->base_fd, name,
		    MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return nsrun_mount_failed(m, "move_mount", err);
		return nsrun_fd_take(&made);
	}
	fd = openat(child->base_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? nsrun_mount_failed(m, "open", err) :
	    nsrun_fd_take(&fd);
}

/* The directory that has upper and work in it: ours, or one that is kept. */
static int
open_both(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	size_t n = prep->plan->mounts.n;
	nsrun_autoclose int room = -1;

	if (m->source)
		return prep->tree_fds[n + i] >= 0 ? place_tree(child, m,
		    prep->tree_fds[n + i], "kept", err) :
		    open_source(m, m->source, err);
	room = open_room(prep, child, i, err);
	if (room < 0)
		return -1;
	if (mkdirat(room, "upper", 0755) < 0 || mkdirat(room, "work", 0755) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	return nsrun_fd_take(&room);
}

/* Directory `name` of room, or the path, which is the host's. */
static int
put_dir(struct overlay *o, const struct nsrun_mount *m, const char *before,
    int room, const char *name, struct nsrun_err *err)
{
	int fd = room < 0 ? open_source(m, name, err) :
	    openat(room, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return room < 0 ? -1 : nsrun_mount_failed(m, "open", err);
	put_fd(o, before, fd);
	return 0;
}

static int
put_upper(struct overlay *o, const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int room = -1;

	if (!m->work) {
		room = open_both(prep, child, i, err);
		if (room < 0)
			return -1;
	}
	if (put_dir(o, m, ",upperdir=", room, m->work ? m->source : "upper",
	    err) < 0)
		return -1;
	if (m->hidden && nsrun_mount_whiteouts(m, o->fds[o->n_fds - 1],
	    o->fds[0], err) < 0)
		return -1;
	return put_dir(o, m, ",workdir=", room, m->work ? m->work : "work",
	    err);
}

/*
 * Mounted on a directory of the hidden tmpfs and moved from there: a path to
 * the target would be resolved once more.
 */
static int
mount_overlay(struct overlay *o, const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";
	nsrun_autoclose int place = -1, fd = -1;
	struct stat st;

	if (put_layers(o, prep, child, i, err) < 0 ||
	    (!(m->flags & NSRUN_MOUNT_RDONLY) &&
	    put_upper(o, prep, child, i, err) < 0))
		return -1;
	put(o, ",userxattr");
	if (mkdirat(child->base_fd, "overlay", 0755) < 0 && errno != EEXIST)
		return nsrun_mount_failed(m, "mkdir", err);
	place = openat(child->base_fd, "overlay",
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (place < 0)
		return nsrun_mount_failed(m, "open", err);
	nsrun_fd_path(path + sizeof "/proc/" - 1, place);
	if (sys_mount("overlay", path, "overlay", SYS_MS_NOSUID | SYS_MS_NODEV |
	    (m->flags & NSRUN_MOUNT_NOEXEC ? SYS_MS_NOEXEC : 0) |
	    (m->flags & NSRUN_MOUNT_RDONLY ? SYS_MS_RDONLY : 0),
	    o->options) < 0)
		return nsrun_mount_failed(m, "overlay", err);
	fd = sys_open_tree(child->base_fd, "overlay", OPEN_TREE_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	/* What is written there is forgotten, so mount points may be, too. */
	if (!m->source)
		prep->own_devs[child->n_own_devs++] = st.st_dev;
	return nsrun_mount_attach(prep, child, fd, m, S_IFDIR, err);
}

int
nsrun_mount_overlay(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	struct overlay o;
	int rc;

	if (m->flags & NSRUN_MOUNT_MADE)
		return nsrun_mount_attach(prep, child, m->pin.fd, m, S_IFDIR,
		    err);
	o.n_fds = o.n = 0;
	rc = mount_overlay(&o, prep, child, i, err);
	while (o.n_fds > 0)
		nsrun_fd_close(&o.fds[--o.n_fds]);
	return rc;
}
