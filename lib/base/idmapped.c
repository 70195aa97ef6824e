/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/idmapped.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

static int
write_map(int dir, const char *name, uint32_t inside, uint32_t outside)
{
	nsrun_autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	char text[64];
	int n = snprintf(text, sizeof text, "%" PRIu32 " %" PRIu32 " 1", inside,
	    outside);

	return fd < 0 || write(fd, text, (size_t)n) < 0 ? -1 : 0;
}

static int
map_and_open(int proc_fd, pid_t pid, uid_t disk_uid, uid_t host_uid,
    gid_t disk_gid, gid_t host_gid)
{
	nsrun_autoclose int dir = -1;
	char name[16];

	snprintf(name, sizeof name, "%d", (int)pid);
	dir = openat(proc_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || write_map(dir, "uid_map", disk_uid, host_uid) < 0 ||
	    write_map(dir, "gid_map", disk_gid, host_gid) < 0)
		return -1;
	return openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
}

int
nsrun_idmap_open(int proc_fd, uid_t disk_uid, uid_t host_uid, gid_t disk_gid,
    gid_t host_gid)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_CLEAR_SIGHAND,
	};
	nsrun_autoclose int wait_fd = -1, hold_fd = -1;
	int ends[2], fd, saved;
	pid_t pid;
	char byte;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	wait_fd = ends[0];
	hold_fd = ends[1];
	pid = (pid_t)sys_clone3(&args);
	if (pid < 0)
		return -1;
	/* Only its namespace is wanted: it waits until we let go, or die. */
	if (pid == 0) {
		close(hold_fd);
		_exit(read(wait_fd, &byte, 1) < 0);
	}
	fd = map_and_open(proc_fd, pid, disk_uid, host_uid, disk_gid, host_gid);
	saved = errno;
	nsrun_fd_close(&hold_fd);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	errno = saved;
	return fd;
}

int
nsrun_tree_clone(int fd, const char *path, int recursive, uint64_t attr_set,
    int idmap_fd, const char **call)
{
	unsigned int deep = recursive ? AT_RECURSIVE : 0;
	struct mount_attr attr = {
		.attr_set = attr_set | (idmap_fd >= 0 ? MOUNT_ATTR_IDMAP : 0),
		.propagation = 1 << 18,		/* MS_PRIVATE */
		.userns_fd = idmap_fd >= 0 ? (uint64_t)idmap_fd : 0,
	};
	nsrun_autoclose int tree = sys_open_tree(fd >= 0 ? fd : AT_FDCWD,
	    fd >= 0 ? "" : path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | deep |
	    (fd >= 0 ? AT_EMPTY_PATH : 0));

	*call = "open_tree";
	if (tree < 0)
		return -1;
	*call = "mount_setattr";
	if (sys_mount_setattr(tree, "", AT_EMPTY_PATH | deep, &attr) < 0)
		return -1;
	*call = "fcntl";
	return nsrun_fd_raise(&tree) < 0 ? -1 : nsrun_fd_take(&tree);
}
