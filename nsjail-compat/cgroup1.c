/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cgroups of v1: a directory for the jail in each hierarchy that has a limit
 * for it. There is no birth into one, no cgroup.kill and no lock, so the guard
 * makes them before the jail goes on, and removes them after its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"
#include "nsjail.h"

enum { MAX_PROCS = 1 << 20, PATIENCE_MS = 5000 };

static void
make_name(char name[32], pid_t pid)
{
	snprintf(name, 32, "NSJAIL.%d", (int)pid);
}

static int
write_file(int dir_fd, const char *file, const char *text)
{
	nsrun_autoclose int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

static int
failed(struct nsrun_err *err, const char *call, const char *parent,
    const char *what)
{
	if (errno == ENOENT && !strcmp(call, "open"))
		return nsrun_err_rule(err, NSRUN_STEP_CGROUP, "there is no such"
		    " directory of cgroup v1, and nsjail's must exist before;"
		    " for v2: --use_cgroupv2", parent, NULL);
	return nsrun_err_sys(err, NSRUN_STEP_CGROUP, call, parent, what);
}

static int
make(const struct nsjail_cgroup1 *cg, pid_t pid, struct nsrun_err *err)
{
	nsrun_autoclose int base = open(cg->parent, O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC), dir = -1;
	char name[32], text[16];

	make_name(name, pid);
	if (base < 0)
		return failed(err, "open", cg->parent, NULL);
	/* Left by one that was killed, with this number: it is empty. */
	if (mkdirat(base, name, 0700) < 0 && errno != EEXIST)
		return failed(err, "mkdir", cg->parent, name);
	dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (dir < 0)
		return failed(err, "open", cg->parent, name);
	for (size_t i = 0; cg->settings[i].file; i++)
		if (write_file(dir, cg->settings[i].file,
		    cg->settings[i].value) < 0)
			return failed(err, "write", cg->parent,
			    cg->settings[i].file);
	snprintf(text, sizeof text, "%d", (int)pid);
	return write_file(dir, "tasks", text) < 0 ? failed(err, "write",
	    cg->parent, "tasks") : 0;
}

/* Who is in it still: by pidfd, and looked for once more after that is open. */
static bool
is_member(int dir_fd, pid_t pid)
{
	nsrun_autoclose int fd = openat(dir_fd, "cgroup.procs",
	    O_RDONLY | O_CLOEXEC);
	size_t size;
	char *text = fd < 0 ? NULL : nsrun_file_read_fd(fd, MAX_PROCS, &size);
	bool found = false;

	for (char *s = text, *end; s && *s && !found; s = end) {
		found = strtol(s, &end, 10) == pid;
		if (end == s)
			break;
		end += *end == '\n';
	}
	free(text);
	return found;
}

static void
kill_members(int dir_fd)
{
	nsrun_autoclose int fd = openat(dir_fd, "cgroup.procs",
	    O_RDONLY | O_CLOEXEC);
	size_t size;
	char *text = fd < 0 ? NULL : nsrun_file_read_fd(fd, MAX_PROCS, &size);

	for (char *s = text, *end; s && *s; s = end) {
		pid_t pid = (pid_t)strtol(s, &end, 10);
		nsrun_autoclose int process = pid > 0 ? sys_pidfd_open(pid) :
		    -1;

		if (end == s)
			break;
		if (process >= 0 && is_member(dir_fd, pid))
			sys_pidfd_send_signal(process, SIGKILL);
		end += *end == '\n';
	}
	free(text);
}

static void
remove_one(const struct nsjail_cgroup1 *cg, pid_t pid)
{
	nsrun_autoclose int base = open(cg->parent, O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC), dir = -1;
	char name[32];

	make_name(name, pid);
	dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	for (int waited = 0; dir >= 0 && waited < PATIENCE_MS; waited += 10) {
		kill_members(dir);
		if (unlinkat(base, name, AT_REMOVEDIR) == 0 ||
		    errno != EBUSY)
			break;
		poll(NULL, 0, 10);
	}
}

int
nsjail_cgroups1_make(const struct nsjail *n, pid_t pid, struct nsrun_err *err)
{
	for (int i = 0; i < NSJAIL_N_CGROUPS1 && n->cgroups1[i].parent; i++)
		if (make(&n->cgroups1[i], pid, err) < 0)
			return -1;
	return 0;
}

void
nsjail_cgroups1_remove(const struct nsjail *n, pid_t pid)
{
	for (int i = 0; i < NSJAIL_N_CGROUPS1 && n->cgroups1[i].parent; i++)
		remove_one(&n->cgroups1[i], pid);
}
