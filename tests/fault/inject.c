/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inject N ERRNO COMMAND [ARG]...: run COMMAND and let the Nth system call of
 * it and its children fail once with ERRNO, without being made; but close(2) is
 * made, as it is by Linux whatever it answers. A child that
 * has executed another program is let go: what it does is its own affair.
 *
 * Exit status: COMMAND's; 200 when it made fewer calls than N; 201 when this
 * cannot be done here. On standard error, descriptor 9 if open: the call's
 * number. `inject 0 0 COMMAND` injects nothing and writes how many calls there
 * were to descriptor 9.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEWER = 200, IMPOSSIBLE = 201, MAX_TRACED = 4096 };

static struct traced {
	pid_t	pid;
	int	inside;		/* between entry and exit of a call */
	int	failing;	/* its result is to be replaced */
} traced[MAX_TRACED];
static int n_traced;
static long n_calls, wanted;
static int error;

static struct traced *
find(pid_t pid)
{
	for (int i = 0; i < n_traced; i++)
		if (traced[i].pid == pid)
			return &traced[i];
	if (n_traced == MAX_TRACED)
		exit(IMPOSSIBLE);
	traced[n_traced] = (struct traced){ .pid = pid };
	return &traced[n_traced++];
}

#if defined __x86_64__
static void
skip_call(pid_t pid)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	dprintf(9, "%llu\n", regs.orig_rax);
	if (regs.orig_rax != SYS_close)
		regs.orig_rax = (unsigned long long)-1;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

static void
set_result(pid_t pid)
{
	struct user_regs_struct regs;

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	regs.rax = (unsigned long long)-error;
	ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}
#elif defined __aarch64__
static void
skip_call(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof regs };
	int none = -1;
	struct iovec iov = { &none, sizeof none };

	ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &all);
	dprintf(9, "%llu\n", (unsigned long long)regs.regs[8]);
	if (regs.regs[8] != SYS_close)
		ptrace(PTRACE_SETREGSET, pid, (void *)NT_ARM_SYSTEM_CALL, &iov);
}

static void
set_result(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof regs };

	ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iov);
	regs.regs[0] = (unsigned long long)-error;
	ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iov);
}
#endif

static void
at_call(struct traced *t)
{
	t->inside = !t->inside;
	if (t->inside && ++n_calls == wanted) {
		t->failing = 1;
		skip_call(t->pid);
	} else if (!t->inside && t->failing) {
		t->failing = 0;
		set_result(t->pid);
	}
}

/* One stop of pid; returns the signal to go on with, or -1: it is let go. */
static int
at_stop(pid_t pid, pid_t first, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	struct traced *t = find(pid);

	if (sig == (SIGTRAP | 0x80)) {
		at_call(t);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC && pid != first) {
		ptrace(PTRACE_DETACH, pid, NULL, NULL);
		return -1;
	}
	/* A new child's first stop, or an event of ours: no signal. */
	if (event || (sig == SIGSTOP && !t->inside))
		return 0;
	return sig;
}

static void
start(char *argv[])
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(IMPOSSIBLE);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	_exit(IMPOSSIBLE);
}

int
main(int argc, char *argv[])
{
	pid_t first, pid;
	int status, result = IMPOSSIBLE;

	if (argc < 4)
		return IMPOSSIBLE;
	wanted = atol(argv[1]);
	error = atoi(argv[2]);
	first = fork();
	if (first == 0)
		start(argv + 3);
	if (first < 0 || waitpid(first, &status, 0) < 0 || !WIFSTOPPED(status))
		return IMPOSSIBLE;
	if (ptrace(PTRACE_SETOPTIONS, first, NULL, PTRACE_O_TRACESYSGOOD |
	    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
	    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0)
		return IMPOSSIBLE;
	ptrace(PTRACE_SYSCALL, first, NULL, NULL);
	while ((pid = waitpid(-1, &status, __WALL)) > 0 ||
	    (pid < 0 && errno == EINTR)) {
		int sig;

		if (!WIFSTOPPED(status)) {
			if (pid == first)
				result = WIFEXITED(status) ?
				    WEXITSTATUS(status) :
				    128 + WTERMSIG(status);
			continue;
		}
		sig = at_stop(pid, first, status);
		if (sig >= 0)
			ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
	}
	if (!wanted)
		dprintf(9, "%ld\n", n_calls);
	return wanted && n_calls < wanted ? FEWER : result;
}
