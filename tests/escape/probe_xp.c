/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XP: other processes, by ptrace(2), pidfds and signals. The sentinel outside
 * logs what reaches it.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void
seize_child(void)
{
	probe_result(ptrace(PTRACE_SEIZE, probe_idle_child(), NULL, NULL),
	    "PTRACE_SEIZE of a child");
}

static void
seize_one(void)
{
	probe_result(ptrace(PTRACE_SEIZE, probe_pid1(), NULL, NULL),
	    "PTRACE_SEIZE of pid 1");
}

static char peeked[16];

static _Noreturn void
vm(pid_t pid, bool write)
{
	char mine[16];
	struct iovec local = { mine, sizeof mine };
	struct iovec remote = { peeked, sizeof peeked };

	probe_result(write ?
	    process_vm_writev(pid, &local, 1, &remote, 1, 0) :
	    process_vm_readv(pid, &local, 1, &remote, 1, 0), "process_vm");
}

static void
vm_read(void)
{
	vm(probe_idle_child(), false);
}

static void
vm_write(void)
{
	vm(probe_idle_child(), true);
}

static void
vm_sentinel(void)
{
	char mine[16];
	struct iovec local = { mine, sizeof mine };
	struct iovec remote = { NULL, sizeof mine };

	/* EFAULT: it may be read, but not there. */
	probe_result(process_vm_readv((pid_t)probe_number("sentinel"), &local,
	    1, &remote, 1, 0), "the sentinel's memory");
}

static void
getfd_child(void)
{
	int fd = (int)syscall(SYS_pidfd_open, probe_idle_child(), 0);

	probe_result(syscall(SYS_pidfd_getfd, fd, 1, 0), "a child's fd 1");
}

static void
getfd_one(void)
{
	int fd = (int)syscall(SYS_pidfd_open, probe_pid1(), 0);

	if (fd < 0)
		probe_blocked(errno, "pidfd_open");
	probe_result(syscall(SYS_pidfd_getfd, fd, 1, 0), "pid 1's fd 1");
}

/* Signals to the sentinel, by its number outside. */
static pid_t
sentinel(void)
{
	return (pid_t)probe_number("sentinel");
}

static void
signal_kill(void)
{
	probe_result(kill(sentinel(), SIGUSR1), "kill");
}

static void
signal_tgkill(void)
{
	probe_result(syscall(SYS_tgkill, sentinel(), sentinel(), SIGUSR1),
	    "tgkill");
}

static void
signal_queue(void)
{
	probe_result(sigqueue(sentinel(), SIGUSR1, (union sigval){ 0 }),
	    "sigqueue");
}

static void
signal_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, sentinel(), 0);

	if (fd < 0)
		probe_blocked(errno, "pidfd_open");
	probe_result(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0),
	    "pidfd_send_signal");
}

static void
signal_proc(void)
{
	int fd = open(probe_proc_path(sentinel(), ""), O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		probe_blocked(errno, "open");
	probe_result(syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0),
	    "pidfd_send_signal");
}

static void
signal_owner(void)
{
	int fds[2];

	if (pipe(fds) < 0 || fcntl(fds[0], F_SETOWN, sentinel()) < 0)
		probe_blocked(errno, "F_SETOWN");
	if (fcntl(fds[0], F_SETSIG, SIGUSR1) < 0 ||
	    fcntl(fds[0], F_SETFL, O_ASYNC | O_NONBLOCK) < 0)
		probe_blocked(errno, "O_ASYNC");
	probe_result(write(fds[1], "x", 1), "SIGIO to the sentinel");
}

static void
priority(void)
{
	struct timespec t;

	probe_result(sched_rr_get_interval(sentinel(), &t), "scheduling of it");
}

/* What a process is after a signal: the state of proc_pid_stat(5), or 0. */
static char
state_of(pid_t pid)
{
	char text[512], *s;

	if (probe_read(probe_proc_path(pid, "stat"), text, sizeof text) <= 0)
		return 0;
	s = strrchr(text, ')');
	return s && s[1] ? s[2] : 0;
}

/* Pid 1 where it is a sandbox's; elsewhere (victim=child) a child of ours. */
static pid_t
victim(void)
{
	static pid_t pid;

	if (!pid)
		pid = strcmp(probe_param("victim"), "child") ? probe_pid1() :
		    probe_idle_child();
	return pid;
}

/*
 * An orphan of ours is reaped by pid 1, or it is not well. Outside, whoever
 * adopts it does the same, so only where the victim is pid 1.
 */
static bool
reaps(void)
{
	pid_t child, orphan;
	int fds[2];

	if (pipe(fds) < 0)
		return false;
	child = fork();
	if (child == 0) {
		orphan = fork();
		if (orphan == 0)
			_exit(0);
		_exit(write(fds[1], &orphan, sizeof orphan) < 0);
	}
	waitpid(child, NULL, 0);
	if (read(fds[0], &orphan, sizeof orphan) != sizeof orphan)
		return false;
	for (int i = 0; i < 100; i++) {
		if (!state_of(orphan))
			return true;
		usleep(20000);
	}
	return false;
}

static _Noreturn void
survives(long rc, const char *what)
{
	pid_t pid = victim();
	char state = 0;

	if (rc < 0)
		probe_blocked(errno, "%s", what);
	for (int i = 0; i < 10; i++) {
		state = state_of(pid);
		if (!state || strchr("ZXTt", state))
			break;
		usleep(10000);
	}
	if (!state || strchr("ZXTt", state))
		probe_open("%s: its state is %c", what, state ? state : '-');
	if (pid == 1 && !reaps())
		probe_open("%s: it reaps no more", what);
	probe_contained("%s: it does not mind", what);
}

static void
one_kill(void)
{
	survives(kill(victim(), SIGKILL), "kill");
}

static void
one_stop(void)
{
	survives(kill(victim(), SIGSTOP), "stop");
}

static void
one_term(void)
{
	survives(kill(victim(), SIGTERM), "term");
}

static void
one_queue(void)
{
	survives(sigqueue(victim(), SIGKILL, (union sigval){ 0 }), "queue");
}

static void
one_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, victim(), 0);

	survives(syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0),
	    "pidfd");
}

/* Every signal there is, in turn. */
static void
one_each(void)
{
	pid_t pid = victim();

	for (int i = 1; i <= SIGRTMAX; i++)
		if (i < 32 || i >= SIGRTMIN)
			kill(pid, i);
	survives(0, "each signal");
}

/* The parent of pid 1: nobody that has a number here. */
static void
parent(void)
{
	char text[4096], *s;

	if (probe_read(probe_proc_path(probe_pid1(), "status"), text,
	    sizeof text) < 0)
		probe_blocked(errno, "status");
	s = strstr(text, "\nPPid:\t");
	if (!s)
		probe_skip("no PPid");
	if (strncmp(s + 7, "0\n", 2))
		probe_open("the parent is %d", atoi(s + 7));
	probe_blocked(0, "the parent is 0");
}

const struct probe_check probe_xp[] = {
	{ "XP-01.seize_child", seize_child },
	{ "XP-01.seize_one", seize_one },
	{ "XP-03.readv", vm_read },
	{ "XP-03.writev", vm_write },
	{ "XP-03.sentinel", vm_sentinel },
	{ "XP-04.getfd_child", getfd_child },
	{ "XP-04.getfd_one", getfd_one },
	{ "XP-07.kill", signal_kill },
	{ "XP-07.tgkill", signal_tgkill },
	{ "XP-07.sigqueue", signal_queue },
	{ "XP-07.pidfd", signal_pidfd },
	{ "XP-07.proc", signal_proc },
	{ "XP-07.owner", signal_owner },
	{ "XP-07.scheduling", priority },
	{ "XP-08.parent", parent },
	{ "XP-06.term", one_term },
	{ "XP-06.stop", one_stop },
	{ "XP-06.each", one_each },
	{ "XP-06.queue", one_queue },
	{ "XP-06.pidfd", one_pidfd },
	{ "XP-06.kill", one_kill },
	{ NULL, NULL }
};
