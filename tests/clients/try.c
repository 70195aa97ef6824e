/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe try CALL...: how each ends here, on one line: "mount EPERM lo OK". */
#include "probe.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long
try_chroot(void)
{
	return chroot("/");
}

static long
try_clone3(void)
{
#ifdef SYS_clone3
	return syscall(SYS_clone3, NULL, 0);
#else
	errno = ENOSYS;
	return -1;
#endif
}

static long
try_inet(void)
{
	return socket(AF_INET, SOCK_STREAM, 0);
}

static long
try_keyctl(void)
{
	return syscall(SYS_keyctl, -1, 0, 0, 0, 0);
}

static long
try_mount(void)
{
	return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL);
}

static long
try_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static long
try_setns(void)
{
	return setns(-1, 0);
}

static long
try_socketpair(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static long
try_tiocsti(void)
{
	return ioctl(-1, TIOCSTI, "x");
}

static long
try_unix(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long
try_userns(void)
{
	return unshare(CLONE_NEWUSER);
}

static const struct {
	const char *name;
	long (*call)(void);
} calls[] = {
	{ "chroot", try_chroot }, { "clone3", try_clone3 },
	{ "inet", try_inet }, { "keyctl", try_keyctl },
	{ "mount", try_mount }, { "ptrace", try_ptrace },
	{ "setns", try_setns }, { "socketpair", try_socketpair },
	{ "tiocsti", try_tiocsti }, { "unix", try_unix },
	{ "userns", try_userns },
};

/* In a child, so that no call changes what the next one finds. */
static const char *
outcome(long (*call)(void))
{
	int status = 0;
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		errno = 0;
		_exit(call() < 0 ? errno : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFEXITED(status))
		return "killed";
	return WEXITSTATUS(status) == 0 ? "OK" :
	    errno_name(WEXITSTATUS(status));
}

int
run_try(char **words)
{
	const char *blank = "";

	for (; *words; words++) {
		size_t i = 0, n = sizeof calls / sizeof *calls;

		while (i < n && strcmp(calls[i].name, *words) != 0)
			i++;
		if (i == n) {
			fprintf(stderr, "probe: no such call: %s\n", *words);
			return 99;
		}
		printf("%s%s %s", blank, *words, outcome(calls[i].call));
		blank = " ";
	}
	putchar('\n');
	return 0;
}
