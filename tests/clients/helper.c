/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sandbox-runtime's apply-seccomp, as strace shows it (agent-hosts.md, 2.3):
 * inside bwrap it makes a user namespace, in it a mount and a pid namespace
 * with a /proc of its own, forbids more user namespaces, and loads filters.
 * Its second line of defence is that /proc: it must stay mountable.
 *
 * Prints "proc fresh", or "proc ENAME" where it could not be mounted, before
 * it runs the command. Its status is the command's.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int
put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

static void
map_id(const char *path, unsigned id)
{
	char text[64];

	snprintf(text, sizeof text, "%u %u 1\n", id, id);
	if (put(path, text) != 0)
		die(path);
}

static void
enter(void)
{
	const int flags = CLONE_NEWNS | CLONE_NEWPID;
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(flags) == 0)
		return;
	if (errno != EPERM || unshare(CLONE_NEWUSER) != 0)
		die("unshare");
	if (put("/proc/self/setgroups", "deny") != 0)
		die("setgroups");
	map_id("/proc/self/uid_map", uid);
	map_id("/proc/self/gid_map", gid);
	if (unshare(flags) != 0)
		die("unshare");
}

static int
wait_for(pid_t pid)
{
	int status = 0, last = 1;
	pid_t ended;

	while ((ended = wait(&status)) > 0)
		if (ended == pid)
			last = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
			    WEXITSTATUS(status);
	return last;
}

static pid_t
must_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	return pid;
}

static int
as_init(char **words)
{
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		die("private");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    NULL) == 0)
		puts("proc fresh");
	else
		printf("proc %s\n", errno_name(errno));
	fflush(stdout);
	(void)put("/proc/sys/user/max_user_namespaces", "0");
	pid = must_fork();
	if (pid == 0) {
		filter_load("helper");
		run_exec(words);
	}
	return wait_for(pid);
}

int
run_helper(char **words)
{
	pid_t pid;

	enter();
	pid = must_fork();
	if (pid == 0)
		exit(as_init(words));
	return wait_for(pid);
}
