/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Control names and masks: what stands at a target is put over itself without
 * the right to write, or disappears behind something that does not open.
 */
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

/* An existing target that an optional entry may lack; -1 and no error: so. */
static int
open_existing(const struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	int fd = nsrun_target_open(child, m);

	/* Asked of the object itself: access(2) answers wrongly in procfs. */
	if (fd < 0 && !(errno == ENOENT && m->flags & NSRUN_MOUNT_OPTIONAL))
		nsrun_mount_failed(m, "openat2", err);
	return fd;
}

/* Put the clone over the target, read-only from the first moment. */
static int
cover(const struct nsrun_mount *m, int fd, int target, struct nsrun_err *err)
{
	if (nsrun_mount_restrict(fd, m, MOUNT_ATTR_RDONLY |
	    nsrun_mount_attributes(m)) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (sys_move_mount(fd, "", target, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	return 0;
}

/*
 * A root may have thousands of shields, and each clone of the mount would look
 * at all that is mounted on it already: they are made from another clone, aside
 * and bare. It goes in nsrun_apply_pivot().
 */
static int
open_shade(struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	const struct nsrun_mount root = {
		.kind = NSRUN_MOUNT_COVER, .flags = NSRUN_MOUNT_EXACT,
		.target = m->source,
	};
	nsrun_autoclose int from = -1, fd = -1;

	if (child->shade && !strcmp(child->shade, m->source))
		return 0;
	from = nsrun_target_open(child, &root);
	if (from < 0)
		return nsrun_mount_failed(&root, "openat2", err);
	fd = sys_open_tree(from, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (fd < 0 || nsrun_mount_restrict(fd, &root,
	    nsrun_mount_attributes(&root)) < 0)
		return nsrun_mount_failed(&root, "open_tree", err);
	if (mkdirat(child->base_fd, nsrun_shade_name, 0700) < 0 &&
	    errno != EEXIST)
		return nsrun_mount_failed(&root, "mkdir", err);
	if (sys_move_mount(fd, "", child->base_fd, nsrun_shade_name,
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(&root, "move_mount", err);
	nsrun_fd_close(&child->shade_fd);
	child->shade_fd = nsrun_fd_take(&fd);
	child->shade = m->source;
	return 0;
}

/* What m covers: the target itself, or, of a root's many, from its shade. */
static int
clone_covered(struct nsrun_child *child, const struct nsrun_mount *m,
    int target, struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;
	int clone;

	if (m->source) {
		const char *path = m->target + strlen(m->source) + 1;

		if (open_shade(child, m, err) < 0)
			return -1;
		fd = sys_openat2(child->shade_fd, path, O_PATH | O_CLOEXEC,
		    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
		if (fd < 0)
			return nsrun_mount_failed(m, "openat2", err);
		if (nsrun_mount_check_pin(m, fd, err) < 0)
			return -1;
		target = fd;
	}
	clone = sys_open_tree(target, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	return clone < 0 ? nsrun_mount_failed(m, "open_tree", err) : clone;
}

int
nsrun_mount_cover(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int target = open_existing(child, m, err);
	nsrun_autoclose int fd = -1;

	if (target < 0)
		return err->step == NSRUN_STEP_NONE ? 0 : -1;
	if (m->flags & NSRUN_MOUNT_EXACT &&
	    (nsrun_mount_check_pin(m, target, err) < 0 ||
	    nsrun_mask_prepare(prep, child, m, err) < 0))
		return -1;
	fd = clone_covered(child, m, target, err);
	return fd < 0 ? -1 : cover(m, fd, target, err);
}

/*
 * The null device over the target, on a mount where devices do not work: what
 * is behind cannot be opened, EACCES. Nothing has to be made for it, and the
 * source is what it seems or no launch (CVE-2025-31133).
 */
int
nsrun_mount_mask(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int target = open_existing(child, m, err);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (target < 0)
		return err->step == NSRUN_STEP_NONE ? 0 : -1;
	if (m->flags & NSRUN_MOUNT_EXACT &&
	    nsrun_mount_check_pin(m, target, err) < 0)
		return -1;
	fd = sys_open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
		return nsrun_err_rule(err, NSRUN_STEP_MOUNT,
		    "is not the null device", "/dev/null", NULL);
	return cover(m, fd, target, err);
}
