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
#include "base/path.h"
#include "base/sys.h"

static int
lookup(const struct nsrun_child *child, const char *target, uint64_t flags,
    uint64_t resolve)
{
	return sys_openat2(child->root_fd, target[1] ? target + 1 : ".",
	    O_PATH | O_CLOEXEC | flags,
	    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve);
}

/*
 * A grant's place and a control name are canonical: a link on the way was put
 * there since, to lead the mount elsewhere.
 */
int
nsrun_target_open(const struct nsrun_child *child, const struct nsrun_mount *m)
{
	return lookup(child, m->target, 0, m->flags & NSRUN_MOUNT_EXACT ?
	    RESOLVE_NO_SYMLINKS : 0);
}

/* The file system behind fd is one that the plan made. */
static bool
is_own(const struct nsrun_prep *prep, const struct nsrun_child *child, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	for (unsigned int i = 0; i < child->n_own_devs; i++)
		if (prep->own_devs[i] == st.st_dev)
			return true;
	return false;
}

/* Make `name` below parent, where the plan may; it may be there already. */
static int
make_dir(const struct nsrun_prep *prep, const struct nsrun_child *child,
    int parent, const char *name)
{
	if (!is_own(prep, child, parent)) {
		errno = EROFS;
		return -1;
	}
	return mkdirat(parent, name, 0755) < 0 && errno != EEXIST ? -1 : 0;
}

/* Open path as a directory, making it and its parents where they are ours. */
static int
open_dir(const struct nsrun_prep *prep, const struct nsrun_child *child,
    char *path)
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
		if (fd < 0 && errno == ENOENT &&
		    make_dir(prep, child, parent, at) == 0)
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
    const char *target, size_t n)
{
	if (child->dir_fd >= 0 && !strncmp(child->dir, target, n) &&
	    !child->dir[n])
		return child->dir_fd;
	nsrun_fd_close(&child->dir_fd);
	memcpy(child->dir, n ? target : "/", n ? n : 1);
	child->dir[n ? n : 1] = '\0';
	child->dir_fd = open_dir(prep, child, child->dir);
	if (n == 0)
		child->dir[0] = '\0';
	child->dir_own = child->dir_fd >= 0 &&
	    is_own(prep, child, child->dir_fd);
	return child->dir_fd;
}

int
nsrun_target_parent(const struct nsrun_prep *prep, struct nsrun_child *child,
    const char *target, const char **name)
{
	size_t n = (size_t)(strrchr(target, '/') - target);

	*name = target + n + 1;
	if (n >= sizeof child->dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (open_parent(prep, child, target, n) >= 0 && !child->dir_own)
		errno = EROFS;
	return child->dir_own ? child->dir_fd : -1;
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
	const char *target = m->target, *name;
	int dir = nsrun_target_parent(prep, child, target, &name), rc = -1;

	*call = "mount point";
	if (dir >= 0)
		rc = S_ISDIR(type) ? mkdirat(dir, name, 0755) :
		    mknodat(dir, name, S_IFREG | 0444, 0);
	if (rc < 0) {
		int made = errno;

		fd = nsrun_target_open(child, m);
		if (fd < 0) {
			/* Why it could not be made says more. */
			errno = errno == ENOENT ? made : errno;
			return -1;
		}
	}
	/* Names below the target lead elsewhere from now on. */
	*call = "move_mount";
	rc = rc == 0 ? sys_move_mount(mount_fd, "", dir, name,
	    MOVE_MOUNT_F_EMPTY_PATH) : sys_move_mount(mount_fd, "", fd, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	if (child->dir_fd >= 0 && nsrun_path_is_within(child->dir, target))
		nsrun_fd_close(&child->dir_fd);
	return rc;
}
