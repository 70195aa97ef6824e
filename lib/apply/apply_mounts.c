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
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

enum {
	PROPAGATION_PRIVATE	= 1 << 18,	/* MS_PRIVATE */
	PROPAGATION_SLAVE	= 1 << 19,	/* MS_SLAVE */
};

static const char oldroot[] = "oldroot";	/* the host's, meanwhile */

int
nsrun_mount_failed(const struct nsrun_mount *m, const char *call,
    struct nsrun_err *err)
{
	enum nsrun_step step = m->kind == NSRUN_MOUNT_PROC ? NSRUN_STEP_PROC :
	    m->kind == NSRUN_MOUNT_DEVPTS ? NSRUN_STEP_DEV : NSRUN_STEP_MOUNT;
	const char *from = m->kind == NSRUN_MOUNT_BIND &&
	    strcmp(m->source, m->target) ? m->source : NULL;

	return nsrun_err_sys(err, step, call, from ? from : m->target,
	    from ? m->target : NULL);
}

int
nsrun_mount_attach(const struct nsrun_prep *prep, struct nsrun_child *child,
    int mount_fd, const struct nsrun_mount *m, mode_t type,
    struct nsrun_err *err)
{
	const char *call;

	if (nsrun_target_attach(prep, child, mount_fd, m, type, &call) < 0)
		return nsrun_mount_failed(m, call, err);
	return 0;
}

int
nsrun_mount_restrict(int fd, const struct nsrun_mount *m, uint64_t attributes)
{
	struct mount_attr attr = {
		.attr_set = attributes, .propagation = PROPAGATION_PRIVATE,
	};

	return sys_mount_setattr(fd, "", AT_EMPTY_PATH |
	    (m->flags & NSRUN_MOUNT_RECURSIVE ? AT_RECURSIVE : 0), &attr);
}

int
nsrun_mount_make_fs(const struct nsrun_mount *m, const char *type,
    const struct nsrun_fs_option *options, uint64_t attributes,
    struct nsrun_err *err)
{
	nsrun_autoclose int fs = sys_fsopen(type);
	int fd;

	if (fs < 0)
		return nsrun_mount_failed(m, "fsopen", err);
	for (; options->key; options++)
		if (*options->value && sys_fsconfig(fs, FSCONFIG_SET_STRING,
		    options->key, options->value) < 0)
			return nsrun_mount_failed(m, "fsconfig", err);
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return nsrun_mount_failed(m, "fsconfig", err);
	fd = sys_fsmount(fs, (unsigned int)attributes);
	return fd < 0 ? nsrun_mount_failed(m, "fsmount", err) : fd;
}

int
nsrun_mount_make_tmpfs(const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const struct nsrun_fs_option options[] = {
		{ "source", "tmpfs" },
		{ "size", prep->tmpfs[i].size },
		{ "nr_inodes", prep->tmpfs[i].inodes },
		{ "mode", prep->tmpfs[i].mode },
		{ NULL, NULL },
	};
	/* The root is still to be filled. */
	nsrun_autoclose int fd = nsrun_mount_make_fs(m, "tmpfs", options,
	    nsrun_mount_attributes(m) & ~(uint64_t)MOUNT_ATTR_RDONLY, err);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "fstat", err);
	prep->own_devs[child->n_own_devs++] = st.st_dev;
	return nsrun_fd_take(&fd);
}

/*
 * Pivot to the tmpfs at once, with the host's tree below it, and have that for
 * our root again: host paths still resolve, nothing of the host is hidden, and
 * no ".." in them leads to what is being built.
 */
static int
step_aside(struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	nsrun_autoclose int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	nsrun_autoclose int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (host < 0)
		return nsrun_mount_failed(m, "open", err);
	if (sys_move_mount(child->base_fd, "", AT_FDCWD, "/",
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	if (fchdir(child->base_fd) < 0)
		return nsrun_mount_failed(m, "fchdir", err);
	if (sys_pivot_root(".", oldroot) < 0)
		return nsrun_mount_failed(m, "pivot_root", err);
	if (fchdir(host) < 0 || chroot(".") < 0)
		return nsrun_mount_failed(m, "chroot", err);
	/* Who has lost his directory names no source by it. */
	if (here >= 0 && fchdir(here) < 0)
		return nsrun_mount_failed(m, "fchdir", err);
	return 0;
}

/*
 * The root of the sandbox is a directory of that tmpfs, mounted over all of it.
 * What else it holds (upper layers, the contents of files) is only ours.
 */
int
nsrun_mount_root(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	static const char newroot[] = "newroot";
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];

	child->base_fd = nsrun_mount_make_tmpfs(prep, child, i, err);
	if (child->base_fd < 0)
		return -1;
	if (mkdirat(child->base_fd, oldroot, 0700) < 0 ||
	    mkdirat(child->base_fd, newroot, nsrun_mount_mode(m, 0755)) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	if (step_aside(child, m, err) < 0)
		return -1;
	child->root_fd = sys_open_tree(child->base_fd, newroot,
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (child->root_fd < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	/* It is still to be filled. */
	if (nsrun_mount_restrict(child->root_fd, m, nsrun_mount_attributes(m) &
	    ~(uint64_t)MOUNT_ATTR_RDONLY) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (sys_move_mount(child->root_fd, "", child->base_fd, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	return 0;
}

int
nsrun_mount_tmpfs(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	nsrun_autoclose int fd = nsrun_mount_make_tmpfs(prep, child, i, err);

	if (fd < 0)
		return -1;
	return nsrun_mount_attach(prep, child, fd, &prep->plan->mounts.v[i],
	    S_IFDIR, err);
}

/*
 * A directory of the root's tmpfs as a mount of its own, over itself: it stays
 * writable when the root becomes read-only. One superblock for all of it makes
 * one bound on the sum, and costs less than one each.
 */
int
nsrun_mount_scratch(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int dir = nsrun_target_parent(prep, child, m, m->target, &name);
	nsrun_autoclose int fd = -1;

	if (dir < 0)
		return nsrun_mount_failed(m, "parent directory", err);
	if (mkdirat(dir, name, nsrun_mount_mode(m, 0755)) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	fd = sys_open_tree(dir, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	if (nsrun_mount_restrict(fd, m, nsrun_mount_attributes(m)) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (sys_move_mount(fd, "", dir, name, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	return 0;
}

int
nsrun_mount_check_pin(const struct nsrun_mount *m, int fd,
    struct nsrun_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "fstat", err);
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
		return nsrun_mount_failed(m, "openat2", err);
	return nsrun_mount_check_pin(m, fd, err) < 0 ? -1 : nsrun_fd_take(&fd);
}

/*
 * Its own right to write stays for a while, so that mount points can be made;
 * what is mounted below has lost it already. One that is read-only where it
 * comes from stays so.
 */
static int
open_up(int fd)
{
	struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };

	return sys_mount_setattr(fd, "", AT_EMPTY_PATH, &writable) < 0 &&
	    errno != EPERM ? -1 : 0;
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
		return nsrun_mount_failed(m, "open_tree", err);
	if (nsrun_mount_restrict(fd, m, nsrun_mount_attributes(m)) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (m->flags & NSRUN_MOUNT_LATE && open_up(fd) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	return nsrun_fd_take(&fd);
}

int
nsrun_mount_bind(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
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
		return nsrun_mount_failed(m, "fstat", err);
	if (nsrun_mount_attach(prep, child, fd, m, st.st_mode & S_IFMT,
	    err) < 0)
		return -1;
	if (m->flags & NSRUN_MOUNT_LATE && cloned >= 0)
		prep->tree_fds[i] = nsrun_fd_take(&cloned);
	return 0;
}

/* What is mounted at target, and no more: what is below stays as it is. */
int
nsrun_mount_remount(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	struct mount_attr readonly = { .attr_set = MOUNT_ATTR_RDONLY };
	nsrun_autoclose int fd = nsrun_target_open(child, m);

	if (fd < 0 || sys_mount_setattr(fd, "", AT_EMPTY_PATH, &readonly) < 0)
		return nsrun_mount_failed(m, "remount", err);
	return 0;
}

static nsrun_mount_op *const operations[] = {
	[NSRUN_MOUNT_ROOT]	= nsrun_mount_root,
	[NSRUN_MOUNT_TMPFS]	= nsrun_mount_tmpfs,
	[NSRUN_MOUNT_SCRATCH]	= nsrun_mount_scratch,
	[NSRUN_MOUNT_BIND]	= nsrun_mount_bind,
	[NSRUN_MOUNT_PROC]	= nsrun_mount_proc,
	[NSRUN_MOUNT_DEVPTS]	= nsrun_mount_devpts,
	[NSRUN_MOUNT_DIR]	= nsrun_mount_dir,
	[NSRUN_MOUNT_FILE]	= nsrun_mount_file,
	[NSRUN_MOUNT_SYMLINK]	= nsrun_mount_symlink,
	[NSRUN_MOUNT_COVER]	= nsrun_mount_cover,
	[NSRUN_MOUNT_MASK]	= nsrun_mount_mask,
	[NSRUN_MOUNT_MQUEUE]	= nsrun_mount_mqueue,
	[NSRUN_MOUNT_OVERLAY]	= nsrun_mount_overlay,
	[NSRUN_MOUNT_DATA]	= nsrun_mount_data,
	[NSRUN_MOUNT_REMOUNT]	= nsrun_mount_remount,
	[NSRUN_MOUNT_CHMOD]	= nsrun_mount_chmod,
	[NSRUN_MOUNT_PIN]	= nsrun_mount_pin,
	[NSRUN_MOUNT_HIDE]	= nsrun_mount_hide,
	[NSRUN_MOUNT_ABSENT]	= nsrun_mount_absent,
	[NSRUN_MOUNT_FS]	= nsrun_mount_fs,
};
_Static_assert(sizeof operations / sizeof *operations == NSRUN_N_MOUNT_KINDS,
    "an operation for each kind");

/*
 * Without a user namespace of our own the mounts are still the host's peers:
 * what is mounted here would appear there.
 */
static int
part_from_host(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	struct mount_attr slave = { .propagation = PROPAGATION_SLAVE };

	if (prep->plan->namespaces & CLONE_NEWUSER ||
	    !(prep->plan->namespaces & CLONE_NEWNS))
		return 0;
	if (sys_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &slave) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "slave", "/", NULL);
	return 0;
}

static int
set_readonly(int fd)
{
	struct mount_attr readonly = { .attr_set = MOUNT_ATTR_RDONLY };

	return sys_mount_setattr(fd, "", AT_EMPTY_PATH, &readonly);
}

/* What was left writable so that something could be made in it: no more. */
static int
finish(const struct nsrun_prep *prep, const struct nsrun_mount *m, int *fd,
    struct nsrun_err *err)
{
	bool late = m->flags & NSRUN_MOUNT_LATE || m->kind == NSRUN_MOUNT_FS;

	if (*fd < 0 || !late || prep->plan->identity.clones_trees)
		return 0;
	if (m->flags & NSRUN_MOUNT_RDONLY && set_readonly(*fd) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	nsrun_fd_close(fd);
	return 0;
}

int
nsrun_apply_mounts(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;

	if (part_from_host(prep, err) < 0)
		return -1;
	for (size_t i = 0; i < mounts->n; i++) {
		if (operations[mounts->v[i].kind](prep, child, i, err) == 0)
			continue;
		if (!(mounts->v[i].flags & NSRUN_MOUNT_LENIENT))
			return -1;
		err->step = NSRUN_STEP_NONE;
	}
	for (size_t i = 1; i < mounts->n; i++)
		if (finish(prep, &mounts->v[i], &prep->tree_fds[i], err) < 0)
			return -1;
	/* The root at last, with nothing more to be made in it. */
	if (mounts->n && mounts->v[0].flags & NSRUN_MOUNT_RDONLY &&
	    !child->root_covered && set_readonly(child->root_fd) < 0)
		return nsrun_mount_failed(&mounts->v[0], "mount_setattr", err);
	return 0;
}

/*
 * The host's tree goes, and the new root becomes ours: the topmost mount on the
 * root of the namespace, which is what the kernel takes for it, too. Mustn't:
 * be postponed past exec, the old root stays reachable until it is detached.
 */
int
nsrun_apply_pivot(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const char *dir = prep->plan->chroot_dir;

	if (dir && (chroot(dir) < 0 || chdir("/") < 0))
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "chroot", dir,
		    NULL);
	if (!prep->plan->mounts.n)
		return 0;
	if (fchdir(child->base_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "fchdir", "/",
		    NULL);
	if (sys_umount2(oldroot, SYS_MNT_DETACH) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "umount2",
		    "the host's root", NULL);
	/* One for each root that has shields, one on the other. */
	while (child->shade && sys_umount2(nsrun_shade_name, SYS_MNT_DETACH)
	    == 0)
		continue;
	nsrun_fd_close(&child->shade_fd);
	if (fchdir(child->root_fd) < 0 || chroot(".") < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "chroot", "/",
		    NULL);
	if (chdir("/") < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "chdir", "/", NULL);
	nsrun_fd_close(&child->root_fd);
	nsrun_fd_close(&child->base_fd);
	nsrun_fd_close(&child->masks_fd);
	nsrun_fd_close(&child->pins_fd);
	nsrun_fd_close(&child->dir_fd);
	return 0;
}
