/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mount tree, with the new mount API: fsopen, fsmount, open_tree,
 * mount_setattr, move_mount (fsopen(2) to come; for now the kernel's
 * Documentation/filesystems/mount_api.rst), and pivot_root(2) at the end.
 *
 * Should: set every attribute on the detached clone, before it is attached, so
 * that there is no moment at which a read-only bind is writable. Mustn't: make
 * the namespace private. The kernel made it a slave of the host's; in a
 * private one an untriggered automount never resolves. Each clone is made
 * private instead, so no later mount of the host appears inside.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

enum { PROPAGATION_PRIVATE = 1 << 18 };	/* MS_PRIVATE */

static int
failed(const struct nsrun_mount *m, const char *call, struct nsrun_err *err)
{
	enum nsrun_step step = m->kind == NSRUN_MOUNT_PROC ? NSRUN_STEP_PROC :
	    m->kind == NSRUN_MOUNT_DEVPTS ? NSRUN_STEP_DEV : NSRUN_STEP_MOUNT;
	const char *from = m->kind == NSRUN_MOUNT_BIND &&
	    strcmp(m->source, m->target) ? m->source : NULL;

	return nsrun_err_sys(err, step, call, from ? from : m->target,
	    from ? m->target : NULL);
}

static int
attach(const struct nsrun_prep *prep, struct nsrun_child *child, int mount_fd,
    const struct nsrun_mount *m, mode_t type, struct nsrun_err *err)
{
	const char *call;

	if (nsrun_target_attach(prep, child, mount_fd, m, type, &call) < 0)
		return failed(m, call, err);
	return 0;
}

static int
restrict_clone(int fd, const struct nsrun_mount *m, uint64_t attr_set)
{
	struct mount_attr attr = {
		.attr_set = attr_set, .propagation = PROPAGATION_PRIVATE,
	};

	return sys_mount_setattr(fd, "", AT_EMPTY_PATH |
	    (m->flags & NSRUN_MOUNT_RECURSIVE ? AT_RECURSIVE : 0), &attr);
}

/* A new file system with its options, detached. */
struct option {
	const char *key, *value;
};

static int
make_fs(const struct nsrun_mount *m, const char *type,
    const struct option *options, uint64_t attributes, struct nsrun_err *err)
{
	nsrun_autoclose int fs = sys_fsopen(type);
	int fd;

	if (fs < 0)
		return failed(m, "fsopen", err);
	for (; options->key; options++)
		if (sys_fsconfig(fs, FSCONFIG_SET_STRING, options->key,
		    options->value) < 0)
			return failed(m, "fsconfig", err);
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return failed(m, "fsconfig", err);
	fd = sys_fsmount(fs, (unsigned int)attributes);
	return fd < 0 ? failed(m, "fsmount", err) : fd;
}

/* A new tmpfs of i's bounds; remembered as ours. */
static int
make_tmpfs(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const struct option options[] = {
		{ "size", prep->tmpfs[i].size },
		{ "nr_inodes", prep->tmpfs[i].inodes },
		{ "mode", prep->tmpfs[i].mode },
		{ NULL, NULL },
	};
	/* The root is still to be filled. */
	nsrun_autoclose int fd = make_fs(m, "tmpfs", options,
	    nsrun_mount_attributes(m) & ~(uint64_t)MOUNT_ATTR_RDONLY, err);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return failed(m, "fstat", err);
	prep->own_devs[child->n_own_devs++] = st.st_dev;
	return nsrun_fd_take(&fd);
}

/*
 * The new root goes over "/" before anything is put into it: our own "/" stays
 * below it, so host paths still resolve and nothing of the host is hidden.
 */
static int
do_root(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	child->root_fd = make_tmpfs(prep, child, i, err);
	if (child->root_fd < 0)
		return -1;
	if (sys_move_mount(child->root_fd, "", AT_FDCWD, "/",
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return failed(&prep->plan->mounts.v[i], "move_mount", err);
	return 0;
}

static int
do_tmpfs(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = make_tmpfs(prep, child, i, err);

	if (fd < 0)
		return -1;
	return attach(prep, child, fd, &prep->plan->mounts.v[i], S_IFDIR, err);
}

/*
 * A directory of the root's tmpfs as a mount of its own, over itself: it stays
 * writable when the root becomes read-only. One superblock for all of it makes
 * one bound on the sum, and costs less than one each.
 */
static int
do_scratch(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int dir = nsrun_target_parent(prep, child, m->target, &name);
	nsrun_autoclose int fd = -1;

	if (dir < 0)
		return failed(m, "parent directory", err);
	if (mkdirat(dir, name, m->mode) < 0)
		return failed(m, "mkdir", err);
	fd = sys_open_tree(dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return failed(m, "open_tree", err);
	if (restrict_clone(fd, m, nsrun_mount_attributes(m)) < 0)
		return failed(m, "mount_setattr", err);
	if (sys_move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return failed(m, "move_mount", err);
	return 0;
}

/* Is fd what the plan saw? */
static int
check_pin(const struct nsrun_mount *m, int fd, struct nsrun_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(m, "fstat", err);
	if (st.st_dev != m->pin.dev || st.st_ino != m->pin.ino ||
	    (st.st_mode & S_IFMT) != m->pin.type)
		return nsrun_err_rule(err, NSRUN_STEP_MOUNT,
		    "was replaced since it was granted", m->target, NULL);
	return 0;
}

/*
 * Open a pinned source again, in this mount namespace, and insist on the same
 * object: the kernel refuses to clone through a descriptor of another one. The
 * pin is still open, so its inode number cannot have been given away.
 */
static int
reopen_pinned(const struct nsrun_mount *m, struct nsrun_err *err)
{
	nsrun_autoclose int fd = sys_openat2(AT_FDCWD, m->source,
	    O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	if (fd < 0)
		return failed(m, "openat2", err);
	return check_pin(m, fd, err) < 0 ? -1 : nsrun_fd_take(&fd);
}

/* A detached, restricted clone of the source; -1 and no error: absent. */
static int
clone_source(const struct nsrun_mount *m, struct nsrun_err *err)
{
	unsigned int flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC |
	    (m->flags & NSRUN_MOUNT_RECURSIVE ? AT_RECURSIVE : 0);
	nsrun_autoclose int source = -1, fd = -1;

	if (m->flags & NSRUN_MOUNT_PINNED) {
		source = reopen_pinned(m, err);
		if (source < 0)
			return -1;
		fd = sys_open_tree(source, "", AT_EMPTY_PATH | flags);
	} else {
		fd = sys_open_tree(AT_FDCWD, m->source, flags);
	}
	if (fd < 0 && errno == ENOENT && m->flags & NSRUN_MOUNT_OPTIONAL)
		return -1;
	if (fd < 0)
		return failed(m, "open_tree", err);
	if (restrict_clone(fd, m, nsrun_mount_attributes(m)) < 0)
		return failed(m, "mount_setattr", err);
	return nsrun_fd_take(&fd);
}

static int
do_bind(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int cloned = -1;
	int fd = prep->tree_fds[i];
	struct stat st = { .st_mode = m->type };

	if (fd < 0) {
		fd = cloned = clone_source(m, err);
		if (fd < 0)
			return err->step == NSRUN_STEP_NONE ? 0 : -1;
	}
	if (!m->type && fstat(fd, &st) < 0)
		return failed(m, "fstat", err);
	return attach(prep, child, fd, m, st.st_mode & S_IFMT, err);
}

static int
do_proc(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	static const struct option none = { NULL, NULL };
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = make_fs(m, "proc", &none,
	    nsrun_mount_attributes(m), err);

	if (fd < 0)
		return -1;
	/* Settings first: the covers that follow make them read-only. */
	if (nsrun_apply_sysctls(prep, child, fd, err) < 0)
		return -1;
	return attach(prep, child, fd, m, S_IFDIR, err);
}

static int
do_devpts(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	/* Bounded: terminals come out of one number for the whole machine. */
	static const struct option options[] = {
		{ "mode", "620" }, { "ptmxmode", "666" }, { "max", "64" },
		{ NULL, NULL },
	};
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = make_fs(m, "devpts", options,
	    nsrun_mount_attributes(m), err);

	return fd < 0 ? -1 : attach(prep, child, fd, m, S_IFDIR, err);
}

static int
do_dir(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int fd = nsrun_target_parent(prep, child, m->target, &name);

	if (fd < 0)
		return failed(m, "parent directory", err);
	if (mkdirat(fd, name, m->mode ? m->mode : 0755) < 0 && errno != EEXIST)
		return failed(m, "mkdir", err);
	return 0;
}

static int
do_symlink(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int fd = nsrun_target_parent(prep, child, m->target, &name);

	if (fd < 0)
		return failed(m, "parent directory", err);
	if (symlinkat(m->source, fd, name) < 0)
		return failed(m, "symlink", err);
	return 0;
}

static int
do_file(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name, *data = m->data;
	int dir = nsrun_target_parent(prep, child, m->target, &name);
	nsrun_autoclose int fd = -1;

	if (dir < 0)
		return failed(m, "parent directory", err);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    m->mode ? m->mode : 0444);
	if (fd < 0)
		return failed(m, "open", err);
	for (size_t done = 0; done < m->n_data; ) {
		ssize_t n = write(fd, data + done, m->n_data - done);

		if (n < 0)
			return failed(m, "write", err);
		done += (size_t)n;
	}
	return 0;
}

/* An existing target that an optional entry may lack; -1 and no error: so. */
static int
open_existing(const struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	int fd = nsrun_target_open(child, m);

	/* Asked of the object itself: access(2) answers wrongly in procfs. */
	if (fd < 0 && !(errno == ENOENT && m->flags & NSRUN_MOUNT_OPTIONAL))
		failed(m, "openat2", err);
	return fd;
}

/* Put the clone over the target, read-only from the first moment. */
static int
cover(const struct nsrun_mount *m, int fd, int target, struct nsrun_err *err)
{
	if (restrict_clone(fd, m, MOUNT_ATTR_RDONLY |
	    nsrun_mount_attributes(m)) < 0)
		return failed(m, "mount_setattr", err);
	if (sys_move_mount(fd, "", target, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return failed(m, "move_mount", err);
	return 0;
}

static int
do_cover(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int target = open_existing(child, m, err);
	nsrun_autoclose int fd = -1;

	if (target < 0)
		return err->step == NSRUN_STEP_NONE ? 0 : -1;
	if (m->flags & NSRUN_MOUNT_EXACT && check_pin(m, target, err) < 0)
		return -1;
	fd = sys_open_tree(target, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return failed(m, "open_tree", err);
	return cover(m, fd, target, err);
}

/*
 * The null device over the target, on a mount where devices do not work: what
 * is behind cannot be opened, EACCES. Nothing has to be made for it, and the
 * source is what it seems or no launch (CVE-2025-31133).
 */
static int
do_mask(const struct nsrun_prep *prep, struct nsrun_child *child, size_t i,
    struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int target = open_existing(child, m, err);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (target < 0)
		return err->step == NSRUN_STEP_NONE ? 0 : -1;
	fd = sys_open_tree(AT_FDCWD, "/dev/null", OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return failed(m, "open_tree", err);
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(1, 3))
		return nsrun_err_rule(err, NSRUN_STEP_MOUNT,
		    "is not the null device", "/dev/null", NULL);
	return cover(m, fd, target, err);
}

static int (*const operations[])(const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err) = {
	[NSRUN_MOUNT_ROOT]	= do_root,
	[NSRUN_MOUNT_TMPFS]	= do_tmpfs,
	[NSRUN_MOUNT_SCRATCH]	= do_scratch,
	[NSRUN_MOUNT_BIND]	= do_bind,
	[NSRUN_MOUNT_PROC]	= do_proc,
	[NSRUN_MOUNT_DEVPTS]	= do_devpts,
	[NSRUN_MOUNT_DIR]	= do_dir,
	[NSRUN_MOUNT_FILE]	= do_file,
	[NSRUN_MOUNT_SYMLINK]	= do_symlink,
	[NSRUN_MOUNT_COVER]	= do_cover,
	[NSRUN_MOUNT_MASK]	= do_mask,
};
_Static_assert(sizeof operations / sizeof *operations == NSRUN_N_MOUNT_KINDS,
    "an operation for each kind");

int
nsrun_apply_mounts(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;
	struct mount_attr readonly = { .attr_set = MOUNT_ATTR_RDONLY };

	for (size_t i = 0; i < mounts->n; i++)
		if (operations[mounts->v[i].kind](prep, child, i, err) < 0)
			return -1;
	/* The root at last, with nothing more to be made in it. */
	if (mounts->v[0].flags & NSRUN_MOUNT_RDONLY && sys_mount_setattr(
	    child->root_fd, "", AT_EMPTY_PATH, &readonly) < 0)
		return failed(&mounts->v[0], "mount_setattr", err);
	return 0;
}

/*
 * The new root becomes ours and the host's tree goes. Mustn't: be postponed
 * past exec, the old root stays reachable through "/.." until it is detached.
 */
int
nsrun_apply_pivot(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)prep;
	if (fchdir(child->root_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "fchdir", "/",
		    NULL);
	if (sys_pivot_root(".", ".") < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "pivot_root", "/",
		    NULL);
	if (sys_umount2(".", SYS_MNT_DETACH) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "umount2",
		    "the host's root", NULL);
	if (chdir("/") < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "chdir", "/", NULL);
	nsrun_fd_close(&child->root_fd);
	nsrun_fd_close(&child->dir_fd);
	return 0;
}
