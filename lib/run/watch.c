/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/absent.h"
#include "run/become.h"

static bool
is_mask(const struct nsrun_mount *m)
{
	return m->kind == NSRUN_MOUNT_HIDE || m->kind == NSRUN_MOUNT_ABSENT ||
	    (m->kind == NSRUN_MOUNT_COVER && m->flags & NSRUN_MOUNT_EXACT);
}

/* A directory once, though it may hold many of them. */
static void
watch_parent(const struct nsrun_watch *w, const char *target, char *last)
{
	char dir[PATH_MAX];
	size_t n = (size_t)(strrchr(target, '/') - target);

	if (n == 0 || n >= sizeof dir)
		return;
	memcpy(dir, target, n);
	dir[n] = '\0';
	if (!strcmp(dir, last))
		return;
	inotify_add_watch(w->inotify_fd, dir, IN_CREATE | IN_DELETE | IN_MOVE |
	    IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_CREATE);
	memcpy(last, dir, n + 1);
}

void
nsrun_watch_start(struct nsrun_watch *w)
{
	char last[PATH_MAX] = "";

	w->inotify_fd = -1;
	if (w->mounts_fd < 0 || w->user_fd < 0 || w->masks_fd < 0)
		return;
	w->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (w->inotify_fd < 0)
		return;
	nsrun_become_caller(w->plan);
	for (size_t i = 0; i < w->plan->mounts.n; i++)
		if (is_mask(&w->plan->mounts.v[i]))
			watch_parent(w, w->plan->mounts.v[i].target, last);
	nsrun_become_command(w->plan);
}

/* Is it the name of a mask, wherever? */
static bool
concerns(const struct nsrun_watch *w, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW)
		return true;
	for (size_t i = 0; e->len && i < w->plan->mounts.n; i++) {
		const struct nsrun_mount *m = &w->plan->mounts.v[i];

		if (is_mask(m) && !strcmp(strrchr(m->target, '/') + 1, e->name))
			return true;
	}
	return false;
}

/* Mount mask m again, unless it is there. */
static void
mend(const struct nsrun_watch *w, const struct nsrun_mount *m)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | nsrun_mount_attributes(m),
		.propagation = 1 << 18,		/* MS_PRIVATE */
	};
	nsrun_autoclose int fd = sys_openat2(AT_FDCWD, m->target, O_PATH |
	    O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	nsrun_autoclose int mount = -1;
	struct sys_statx st;

	if (fd < 0 || sys_statx(fd, "", AT_EMPTY_PATH, SYS_STATX_TYPE,
	    &st) < 0 || st.attributes & SYS_STATX_ATTR_MOUNT_ROOT)
		return;
	if (m->kind == NSRUN_MOUNT_COVER)
		mount = sys_open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE |
		    OPEN_TREE_CLOEXEC);
	else
		mount = sys_open_tree(w->masks_fd, S_ISDIR(st.mode) ?
		    "empty" : "nothing", AT_SYMLINK_NOFOLLOW |
		    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (mount >= 0 && sys_mount_setattr(mount, "", AT_EMPTY_PATH,
	    &attr) == 0)
		sys_move_mount(mount, "", fd, "",
		    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

/*
 * In a process of its own: nobody inside sees it, since it is in no pid
 * namespace of theirs, and there is no way back.
 */
static _Noreturn void
mend_all(const struct nsrun_watch *w)
{
	if (setns(w->user_fd, CLONE_NEWUSER) < 0 ||
	    setns(w->mounts_fd, CLONE_NEWNS) < 0)
		_exit(1);
	for (size_t i = 0; i < w->plan->mounts.n; i++)
		if (is_mask(&w->plan->mounts.v[i]))
			mend(w, &w->plan->mounts.v[i]);
	_exit(0);
}

void
nsrun_watch_handle(struct nsrun_watch *w)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	alignas(struct inotify_event) char buf[65536];
	bool any = false;
	ssize_t n;
	pid_t pid;

	while ((n = read(w->inotify_fd, buf, sizeof buf)) > 0)
		for (char *s = buf; s < buf + n && !any; ) {
			const struct inotify_event *e = (void *)s;

			any = concerns(w, e);
			s += sizeof *e + e->len;
		}
	if (!any)
		return;
	nsrun_absents_remake(w->absents);
	nsrun_become_caller(w->plan);
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		mend_all(w);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	nsrun_become_command(w->plan);
}
