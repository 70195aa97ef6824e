/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Targets: names beneath the new root, resolved by the kernel in one call.
 *
 * RESOLVE_IN_ROOT keeps every link of every tree inside (the fault behind
 * CVE-2026-87766 and most of its kind was a target resolved as a string).
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

enum {
	MAX_HOPS	= 40,	/* as the kernel's own */
	MAX_TRIES	= 10000,
};

static int
lookup(const struct nsrun_child *child, const char *target, uint64_t flags,
    uint64_t resolve)
{
	int fd, tries = 0;

	while (*target == '/')
		target++;
	/*
	 * EAGAIN: while a ".." was taken, something was renamed or mounted
	 * somewhere on this machine, and the kernel is not sure.
	 */
	do
		fd = sys_openat2(child->root_fd, *target ? target : ".",
		    O_PATH | O_CLOEXEC | flags,
		    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve);
	while (fd < 0 && errno == EAGAIN && ++tries < MAX_TRIES);
	return fd;
}

/*
 * A grant's place and a control name are canonical: a link on the way was put
 * there since, to lead the mount elsewhere.
 */
int
nsrun_target_open(const struct nsrun_child *child, const struct nsrun_mount *m)
{
	return lookup(child, m->target, m->flags & NSRUN_MOUNT_NOLINK ?
	    O_NOFOLLOW : 0, m->flags & NSRUN_MOUNT_EXACT ?
	    RESOLVE_NO_SYMLINKS : 0);
}

/*
 * Is the file system behind fd one that the plan made? -1 with errno set: to
 * take our own for the host's would leave a janitor that waits for itself.
 */
static int
is_own(const struct nsrun_prep *prep, const struct nsrun_child *child, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	for (unsigned int i = 0; i < child->n_own_devs; i++)
		if (prep->own_devs[i] == st.st_dev)
			return 1;
	return 0;
}

/* Made because its name was given, not to have something mounted on it. */
static bool
stays(const struct nsrun_mounts *mounts, const struct nsrun_mount *m)
{
	if (mounts->leaves_nothing)
		return false;
	return m->kind == NSRUN_MOUNT_DIR || m->kind == NSRUN_MOUNT_FILE ||
	    m->kind == NSRUN_MOUNT_SYMLINK;
}

/* Make a directory or an empty file where the plan may; 0, or -1 and errno. */
static int
make(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, int dir, const char *name, mode_t mode)
{
	int own = dir == child->dir_fd ? child->dir_own :
	    is_own(prep, child, dir);

	if (own < 0)
		return -1;
	if (!own && !prep->plan->mounts.writes_host) {
		errno = EROFS;
		return -1;
	}
	if (!own && !stays(&prep->plan->mounts, m))
		return nsrun_stub_make(prep, child, dir, name, mode);
	return S_ISDIR(mode) ? mkdirat(dir, name, mode & 07777) :
	    mknodat(dir, name, mode, 0);
}

/* Open path as a directory, making it and its parents where they are ours. */
static int
open_dir(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, char *path)
{
	int fd = lookup(child, path, O_DIRECTORY, 0);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	/* From the top: each missing component is made where its parent is. */
	fd = lookup(child, "/", O_DIRECTORY, 0);
	for (char *at = path + 1; fd >= 0 && at[-1]; ) {
		char *end = at + strcspn(at, "/"), saved = *end;
		int parent = fd;

		*end = '\0';
		fd = lookup(child, path, O_DIRECTORY, 0);
		if (fd < 0 && errno == ENOENT && (make(prep, child, m, parent,
		    at, S_IFDIR | (m->parent_mode ? m->parent_mode : 0755)) ==
		    0 || errno == EEXIST))
			fd = lookup(child, path, O_DIRECTORY, 0);
		nsrun_fd_close(&parent);
		*end = saved;
		at = end + 1;
	}
	return fd;
}

/* The directory of the last entry serves for the next one, mostly. */
static int
open_parent(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, const char *target, size_t n)
{
	int own;

	if (child->dir_fd >= 0 && !strncmp(child->dir, target, n) &&
	    !child->dir[n])
		return child->dir_fd;
	nsrun_fd_close(&child->dir_fd);
	memcpy(child->dir, n ? target : "/", n ? n : 1);
	child->dir[n ? n : 1] = '\0';
	child->dir_fd = open_dir(prep, child, m, child->dir);
	if (n == 0)
		child->dir[0] = '\0';
	own = child->dir_fd < 0 ? 0 : is_own(prep, child, child->dir_fd);
	if (own < 0) {
		nsrun_fd_close(&child->dir_fd);
		return -1;
	}
	child->dir_own = own;
	return child->dir_fd;
}

int
nsrun_target_dir(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, const char *target, const char **name)
{
	size_t n = (size_t)(strrchr(target, '/') - target);

	*name = target + n + 1;
	if (n >= sizeof child->dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open_parent(prep, child, m, target, n);
}

int
nsrun_target_parent(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, const char *target, const char **name)
{
	if (nsrun_target_dir(prep, child, m, target, name) < 0)
		return -1;
	if (!child->dir_own && !prep->plan->mounts.writes_host) {
		errno = EROFS;
		return -1;
	}
	return child->dir_fd;
}

/*
 * `name` is a link to nothing: where it leads, as a target of its own in
 * child->link. NULL with errno set.
 */
static const char *
follow(struct nsrun_child *child, const char *target, const char *name)
{
	size_t n = (size_t)(name - target);
	char text[PATH_MAX];
	ssize_t len = readlinkat(child->dir_fd, name, text, sizeof text - 1);

	if (len < 0)
		return NULL;
	text[len] = '\0';
	if (*text == '/')
		n = 0;
	if (n + (size_t)len >= sizeof child->link) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	/* The target may be what child->link held until now. */
	memmove(child->link, target, n);
	memcpy(child->link + n, text, (size_t)len + 1);
	return child->link;
}

/*
 * What stands at the target: a link is followed, and refused where the plan
 * wants none. -1 with errno set.
 */
static int
open_standing(struct nsrun_child *child, const struct nsrun_mount *m,
    const char *target)
{
	int fd = lookup(child, target, m->flags & NSRUN_MOUNT_NOLINK ?
	    O_NOFOLLOW : 0, m->flags & NSRUN_MOUNT_EXACT ?
	    RESOLVE_NO_SYMLINKS : 0);
	struct stat st;

	if (fd >= 0 && m->flags & NSRUN_MOUNT_NOLINK &&
	    fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		nsrun_fd_close(&fd);
		errno = ELOOP;
	}
	return fd;
}

/*
 * Find the place of m, or make it: mode has the type. Returns 1 with *dir and
 * *name of what was made, 0 with *fd of what was there, or -1 with errno set
 * and *call.
 */
static int
find_place(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, mode_t mode, int *fd, const char **name,
    const char **call)
{
	const char *target = m->target;

	for (int links = 0; links < MAX_HOPS; links++) {
		int dir, made;

		*call = "parent directory";
		dir = nsrun_target_parent(prep, child, m, target, name);
		if (dir < 0 && (errno != EROFS ||
		    prep->plan->mounts.writes_host))
			return -1;
		*call = S_ISDIR(mode) ? "mkdir" : "create";
		if (dir >= 0 && make(prep, child, m, dir, *name, mode) == 0)
			return 1;
		made = errno;
		if (made == ECANCELED)
			return -1;
		*fd = open_standing(child, m, target);
		if (*fd >= 0) {
			*call = "share";
			return child->dir_own ||
			    !prep->plan->mounts.writes_host ? 0 :
			    nsrun_stub_share(prep, child, *fd);
		}
		/* Why it could not be made says more. */
		if (errno != ENOENT || made != EEXIST ||
		    m->flags & (NSRUN_MOUNT_EXACT | NSRUN_MOUNT_NOLINK)) {
			errno = errno == ENOENT ? made : errno;
			return -1;
		}
		target = follow(child, target, *name);
		if (!target)
			return -1;
	}
	errno = ELOOP;
	return -1;
}

/* Is fd the very mount that is our root now? */
static bool
is_root(const struct nsrun_child *child, int fd)
{
	const unsigned int mask = SYS_STATX_MNT_ID | SYS_STATX_INO;
	struct sys_statx a, b;

	return sys_statx(fd, "", AT_EMPTY_PATH, mask, &a) == 0 &&
	    sys_statx(child->root_fd, "", AT_EMPTY_PATH, mask, &b) == 0 &&
	    a.mnt_id == b.mnt_id && a.ino == b.ino;
}

/* A directory goes on a directory, anything else on anything else. */
static int
check_type(int fd, mode_t type, const char **call)
{
	struct stat st;

	*call = S_ISDIR(type) ? "mkdir" : "create";
	if (fstat(fd, &st) < 0)
		return -1;
	if (!S_ISDIR(st.st_mode) == !S_ISDIR(type))
		return 0;
	errno = S_ISDIR(type) ? ENOTDIR : EISDIR;
	return -1;
}

/*
 * A name that is not there yet, where it may be made: the mount goes onto what
 * was just made. Anything else that stands there is looked up, links followed.
 */
int
nsrun_target_attach(const struct nsrun_prep *prep, struct nsrun_child *child,
    int mount_fd, const struct nsrun_mount *m, mode_t type, const char **call)
{
	nsrun_autoclose int fd = -1;
	const char *name;
	bool root = false;
	int rc = find_place(prep, child, m, S_ISDIR(type) ? S_IFDIR | 0755 :
	    S_IFREG | 0444, &fd, &name, call);

	if (rc < 0)
		return -1;
	if (rc == 0 && check_type(fd, type, call) < 0)
		return -1;
	*call = "move_mount";
	/* On what was just made: no name that we know leads through it. */
	if (rc > 0)
		return sys_move_mount(mount_fd, "", child->dir_fd, name,
		    MOVE_MOUNT_F_EMPTY_PATH);
	root = S_ISDIR(type) && is_root(child, fd);
	if (sys_move_mount(mount_fd, "", fd, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return -1;
	/* Names below the target lead elsewhere from now on. */
	if (S_ISDIR(type))
		nsrun_fd_close(&child->dir_fd);
	if (root) {
		/* Over the root: from now on that is it. */
		child->root_covered = true;
		nsrun_fd_close(&child->root_fd);
		child->root_fd = fcntl(mount_fd, F_DUPFD_CLOEXEC, 3);
		return child->root_fd < 0 ? -1 : 0;
	}
	return 0;
}

int
nsrun_target_make(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, mode_t mode, int *fd, const char **call)
{
	const char *name;
	int rc = find_place(prep, child, m, mode, fd, &name, call);

	if (rc > 0)
		*fd = openat(child->dir_fd, name,
		    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return rc < 0 || *fd < 0 ? -1 : check_type(*fd, mode, call);
}

int
nsrun_target_reopen(const struct nsrun_prep *prep, int fd, int flags)
{
	char path[NSRUN_FD_PATH];

	return openat(prep->proc_fd, nsrun_fd_path(path, fd),
	    flags | O_CLOEXEC);
}
