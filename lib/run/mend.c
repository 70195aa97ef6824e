/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks and pins that are gone are mounted again, by a process that enters the
 * sandbox's mount namespace. Nobody inside sees it, since it is in no pid
 * namespace of theirs, and there is no way back: so it is one of its own.
 */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/masks.h"
#include "base/fd.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/become.h"

static bool
is_covered(int fd, struct sys_statx *st)
{
	return sys_statx(fd, "", AT_EMPTY_PATH, SYS_STATX_TYPE, st) < 0 ||
	    st->attributes & SYS_STATX_ATTR_MOUNT_ROOT;
}

/* What hides or pins, or, of a control name, the thing itself, over fd. */
static bool
put_over(const struct nsrun_watch *w, const struct nsrun_mount *m, int fd,
    mode_t mode)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | nsrun_mount_attributes(m),
		.propagation = 1 << 18,		/* MS_PRIVATE */
	};
	nsrun_autoclose int mount = m->kind == NSRUN_MOUNT_COVER ?
	    sys_open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC) :
	    sys_open_tree(w->masks_fd, S_ISDIR(mode) ? nsrun_masks_empty :
	    nsrun_masks_nothing, AT_SYMLINK_NOFOLLOW | OPEN_TREE_CLONE |
	    OPEN_TREE_CLOEXEC);

	return mount >= 0 && sys_mount_setattr(mount, "", AT_EMPTY_PATH,
	    &attr) == 0 && sys_move_mount(mount, "", fd, "",
	    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

/* Where m is mounted: by its path, or a pin's, out of reach, in its tree. */
static int
open_place(const struct nsrun_mount *m, int tree)
{
	bool pin = m->kind == NSRUN_MOUNT_PIN;

	return sys_openat2(pin ? tree : AT_FDCWD, pin ? m->target +
	    strlen(m->source) + 1 : m->target, O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
}

static _Noreturn void
mend_all(struct nsrun_watch *w)
{
	char name[NSRUN_MASKS_TREE_SIZE];
	unsigned int n_trees = 0;
	nsrun_autoclose int tree = -1;
	const char *tree_of = NULL;

	if (setns(w->user_fd, CLONE_NEWUSER) < 0 ||
	    setns(w->mounts_fd, CLONE_NEWNS) < 0)
		_exit(1);
	for (size_t i = 0; i < w->n_names; i++) {
		struct nsrun_watch_name *one = &w->names[i];
		const struct nsrun_mount *m = &w->plan->mounts.v[one->mount];
		nsrun_autoclose int fd = -1;
		struct sys_statx st;

		if (m->kind == NSRUN_MOUNT_PIN &&
		    (!tree_of || strcmp(tree_of, m->source))) {
			tree_of = m->source;
			nsrun_fd_close(&tree);
			nsrun_masks_tree_name(name, n_trees++);
			tree = openat(w->masks_fd, name, O_PATH | O_CLOEXEC);
		}
		fd = open_place(m, tree);
		if (fd >= 0 && !is_covered(fd, &st) &&
		    put_over(w, m, fd, st.mode))
			one->lapsed = true;
	}
	_exit(0);
}

void
nsrun_watch_mend(struct nsrun_watch *w)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	pid_t pid;

	nsrun_become_caller(w->plan);
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		mend_all(w);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	nsrun_become_command(w->plan);
}
