/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The id maps of a sandbox whose caller left uid 0, written from outside while
 * pid 1 waits. The kernel takes maps from a member of the namespace or of its
 * parent, so those of the second are written by a short-lived child of ours
 * that joins the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "run/prep.h"
#include "run/run.h"

static int
write_file(int dir, const char *name, const char *text)
{
	nsrun_autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/* Open /proc/PID. It waits for us, so the number is still its own. */
static int
open_pid(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int
write_first(struct nsrun_run *run, int dir, const char *uid_map,
    const char *gid_map)
{
	if (write_file(dir, "setgroups", "deny") < 0 ||
	    write_file(dir, "uid_map", uid_map) < 0 ||
	    write_file(dir, "gid_map", gid_map) < 0)
		return -1;
	run->userns_fd = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	return run->userns_fd;
}

static int
write_second(const struct nsrun_run *run, int dir, const char *uid_map,
    const char *gid_map)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	pid_t pid = (pid_t)sys_clone3(&args);
	int status;

	if (pid == 0)
		_exit(setns(run->userns_fd, CLONE_NEWUSER) < 0 ||
		    write_file(dir, "uid_map", uid_map) < 0 ||
		    write_file(dir, "gid_map", gid_map) < 0 ? errno : 0);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
	return errno ? -1 : 0;
}

int
nsrun_maps_write(struct nsrun_run *run, int which, struct nsrun_err *err)
{
	char uid_map[NSRUN_MAP_SIZE], gid_map[NSRUN_MAP_SIZE];
	nsrun_autoclose int dir = open_pid(run->pid);

	nsrun_map_texts(run->plan, which, uid_map, gid_map);
	if (dir < 0 || (which ? write_second(run, dir, uid_map, gid_map) :
	    write_first(run, dir, uid_map, gid_map)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "write", which ?
		    "the second user namespace" : "the first user namespace",
		    uid_map);
	return 0;
}
