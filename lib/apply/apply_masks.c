/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks: names in writable trees that are not the command's.
 *
 * What is hidden lies behind a link that leads nowhere, so that it looks absent
 * and nothing can be made through it; a directory behind an empty one. A name
 * that is absent gets a mount point first, from the janitor: stub.c.
 *
 * A mask would move along with its parent. The kernel renames nothing that is a
 * mount point anywhere in the namespace, so each parent is one: not where it is
 * seen, where a mount would part it from its neighbours (EXDEV), but in a clone
 * of the tree that lies beneath the new root, out of reach.
 */
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/masks.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

/* In the first tmpfs, beside the new root. */
static const char masks[] = "masks";
static const char empty[] = nsrun_masks_empty, nothing[] = nsrun_masks_nothing;
/* Nobody can make that: the root is read-only in the end. */
static const char nowhere[] = "/.masked/absent";

/* What is mounted over masked names, as a mount of its own already. */
static int
add_source(const struct nsrun_child *child, const struct nsrun_mount *m,
    const char *name, struct nsrun_err *err)
{
	nsrun_autoclose int fd = sys_open_tree(child->masks_fd, name,
	    AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	if (nsrun_mount_restrict(fd, m, MOUNT_ATTR_RDONLY |
	    MOUNT_ATTR_NOEXEC | nsrun_mount_attributes(m)) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (sys_move_mount(fd, "", child->masks_fd, name,
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	return 0;
}

int
nsrun_mask_prepare(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, struct nsrun_err *err)
{
	int fd;

	if (child->masks_fd >= 0)
		return 0;
	if (mkdirat(child->base_fd, masks, 0700) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	fd = openat(child->base_fd, masks, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return nsrun_mount_failed(m, "open", err);
	child->masks_fd = fd;
	if (mkdirat(fd, empty, 0555) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	if (symlinkat(nowhere, fd, nothing) < 0)
		return nsrun_mount_failed(m, "symlink", err);
	if (add_source(child, m, empty, err) < 0 ||
	    add_source(child, m, nothing, err) < 0)
		return -1;
	if (nsrun_stub_watch(prep, child) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_MASK, "watch", m->target,
		    NULL);
	return 0;
}

/* Put the empty directory, or the link, over what fd stands for. */
static int
put_over(struct nsrun_child *child, const struct nsrun_mount *m, int fd,
    mode_t type, struct nsrun_err *err)
{
	nsrun_autoclose int mount = sys_open_tree(child->masks_fd,
	    S_ISDIR(type) ? empty : nothing,
	    AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (mount < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	if (sys_move_mount(mount, "", fd, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	return 0;
}

/* Whatever stands there by now: hiding it is never wrong. */
int
nsrun_mount_hide(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = nsrun_target_open(child, m);
	struct stat st;

	if (fd < 0 && errno == ENOENT && m->flags & NSRUN_MOUNT_OPTIONAL)
		return 0;
	if (fd < 0)
		return nsrun_mount_failed(m, "openat2", err);
	if (nsrun_mask_prepare(prep, child, m, err) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "fstat", err);
	return put_over(child, m, fd, st.st_mode, err);
}

/* Where the masks end that are absent in the same directory as mount i. */
static size_t
end_of_absents(const struct nsrun_mounts *mounts, size_t i)
{
	const struct nsrun_mount *m = &mounts->v[i];
	size_t n = (size_t)(strrchr(m->target, '/') - m->target) + 1;

	for (i++; i < mounts->n; i++) {
		const struct nsrun_mount *other = &mounts->v[i];

		if (other->kind != NSRUN_MOUNT_ABSENT ||
		    other->pin.dev != m->pin.dev ||
		    other->pin.ino != m->pin.ino ||
		    strncmp(other->target, m->target, n) ||
		    strchr(other->target + n, '/'))
			break;
	}
	return i;
}

/* Stubs for mount i and its neighbours: a question costs more than a stub. */
static int
make_stubs(const struct nsrun_prep *prep, struct nsrun_child *child, int dir,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;
	const struct nsrun_mount *m = &mounts->v[i];

	if (i < child->absents_end)
		return 0;
	child->absents_end = end_of_absents(mounts, i);
	child->absents_barred = false;
	if (nsrun_mount_check_pin(m, dir, err) < 0 ||
	    nsrun_mask_prepare(prep, child, m, err) < 0)
		return -1;
	if (nsrun_stub_absent(prep, child, dir, &i, child->absents_end) == 0)
		return 0;
	child->absents_barred = errno == EROFS;
	if (child->absents_barred)
		return 0;
	if (errno == E2BIG)
		return nsrun_err_rule(err, NSRUN_STEP_MASK, "is one absent name"
		    " too many: mask a directory that would hold them",
		    i < mounts->n ? mounts->v[i].target : m->target, NULL);
	return nsrun_err_sys(err, NSRUN_STEP_MASK, "create", i < mounts->n ?
	    mounts->v[i].target : m->target, NULL);
}

/* A stub is no directory, mostly: the link goes onto it by its name. */
static int
put_over_stub(const struct nsrun_child *child, int dir, const char *name)
{
	nsrun_autoclose int mount = sys_open_tree(child->masks_fd, nothing,
	    AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	return mount < 0 ? -1 : sys_move_mount(mount, "", dir, name,
	    MOVE_MOUNT_F_EMPTY_PATH);
}

int
nsrun_mount_absent(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int dir = nsrun_target_dir(prep, child, m, m->target, &name);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (dir < 0)
		return nsrun_mount_failed(m, "openat2", err);
	if (make_stubs(prep, child, dir, i, err) < 0)
		return -1;
	if (put_over_stub(child, dir, name) == 0)
		return 0;
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	/* Who could make it, then? */
	if (fd < 0 && errno == ENOENT && child->absents_barred)
		return 0;
	if (fd < 0)
		return nsrun_mount_failed(m, "open", err);
	if (fstat(fd, &st) < 0)
		return nsrun_mount_failed(m, "fstat", err);
	return put_over(child, m, fd, st.st_mode, err);
}

void
nsrun_masks_tree_name(char name[NSRUN_MASKS_TREE_SIZE], unsigned int i)
{
	static const char first[] = "tree-00000000";

	memcpy(name, first, sizeof first);
	for (char *s = name + sizeof first - 2; i; s--, i /= 10)
		*s = (char)('0' + i % 10);
}

/* The tree that is mounted at m's source once more, out of reach. */
static int
need_tree(struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	const struct nsrun_mount root = {
		.target = m->source, .flags = NSRUN_MOUNT_EXACT,
	};
	char name[NSRUN_MASKS_TREE_SIZE];
	nsrun_autoclose int fd = -1;

	if (child->pins_of && !strcmp(child->pins_of, m->source))
		return 0;
	nsrun_fd_close(&child->pins_fd);
	fd = nsrun_target_open(child, &root);
	if (fd < 0)
		return nsrun_mount_failed(m, "openat2", err);
	child->pins_fd = sys_open_tree(fd, "", AT_EMPTY_PATH |
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (child->pins_fd < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	nsrun_masks_tree_name(name, child->n_pin_trees++);
	if (mkdirat(child->masks_fd, name, 0700) < 0)
		return nsrun_mount_failed(m, "mkdir", err);
	if (sys_move_mount(child->pins_fd, "", child->masks_fd, name,
	    MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return nsrun_mount_failed(m, "move_mount", err);
	child->pins_of = m->source;
	return 0;
}

int
nsrun_mount_pin(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = -1;

	if (nsrun_mask_prepare(prep, child, m, err) < 0 ||
	    need_tree(child, m, err) < 0)
		return -1;
	fd = sys_openat2(child->pins_fd, m->target + strlen(m->source) + 1,
	    O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return nsrun_mount_failed(m, "openat2", err);
	if (nsrun_mount_check_pin(m, fd, err) < 0)
		return -1;
	return put_over(child, m, fd, m->pin.type, err);
}
