/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pid 1 of the sandbox, under the same filter and with as few rights as what
 * it supervises. It makes the command, reaps, passes signals on, and ends the
 * sandbox when the command ends, when it is told to, when the supervisor died
 * (end of file on the control pipe) or when the supervisor's caller did (its
 * pidfd). Nobody inside can signal, stop or look into it.
 */
#include "apply/apply.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

struct init {
	const struct nsrun_prep *prep;
	int	signal_fd;	/* SIGCHLD */
	pid_t	command;
	int	status;		/* the command's */
	bool	command_ended;
	bool	ending;		/* the rest is being killed */
	unsigned int n_killed;
};

static _Noreturn void
fail(const struct nsrun_prep *prep, const char *call)
{
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };

	nsrun_err_sys(&m.err, NSRUN_STEP_INIT, call, NULL, NULL);
	nsrun_child_say(prep, &m);
	_exit(125);
}

/* Of several causes along PATH, the one that says most. */
static void
exec_path(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;
	const char *path = plan->argv[0], *call = "execve";
	int worst = ENOENT;

	for (char *const *p = prep->exec_paths; *p; p++) {
		execve(*p, plan->argv, plan->env);
		if (errno == ENOENT && access(*p, F_OK) == 0) {
			/* Found: what is missing is what it needs. */
			path = *p;
			call = "interpreter";
			break;
		}
		if (errno != ENOENT && errno != ENOTDIR) {
			path = *p;
			worst = errno;
			if (errno != EACCES)
				break;
		}
	}
	errno = worst;
	nsrun_err_sys(err, NSRUN_STEP_EXEC, call, path, NULL);
}

/*
 * The command, from vfork to exec: our memory is pid 1's, which waits. It says
 * by *failed that exec did not happen.
 */
static _Noreturn void
run_command(const struct nsrun_prep *prep, const struct nsrun_child *child,
    volatile bool *failed)
{
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };
	const char *call;
	sigset_t none;

	*failed = true;
	sigemptyset(&none);
	call = "setsid";
	if (setsid() < 0)
		goto fail;
	for (int i = 0; i < 3; i++)
		if (prep->plan->stdio[i] == NSRUN_STDIO_TERMINAL) {
			call = "TIOCSCTTY";
			if (ioctl(i, TIOCSCTTY, 0) < 0)
				goto fail;
			break;
		}
	if (nsrun_apply_limits(prep, &m.err) < 0)
		goto say;
	umask(child->umask);
	call = "sigprocmask";
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
		goto fail;
	*failed = false;
	exec_path(prep, &m.err);
	*failed = true;
	nsrun_child_say(prep, &m);
	_exit(127);
fail:
	nsrun_err_sys(&m.err, NSRUN_STEP_STDIO, call, NULL, NULL);
say:
	nsrun_child_say(prep, &m);
	_exit(125);
}

static void
start_command(struct init *init, const struct nsrun_child *child)
{
	volatile bool failed = false;
	struct nsrun_message ready = {
		.kind = NSRUN_MESSAGE_READY, .ready = child->witness,
	};
	pid_t pid = vfork();

	if (pid == 0)
		run_command(init->prep, child, &failed);
	if (pid < 0)
		fail(init->prep, "vfork");
	/* vfork returns to us after exec, or after the child said why not. */
	if (failed)
		_exit(125);
	init->command = pid;
	for (int i = 0; i < 3; i++)
		close(i);
	nsrun_child_say(init->prep, &ready);
}

/*
 * The one kill(-1) of the project. It reaches whatever this process may
 * signal, so it stands behind the proof that we are pid 1 of a namespace that
 * we made, where that is the sandbox and nothing else.
 */
static void
kill_all(struct init *init)
{
	init->ending = true;
	if (init->prep->plan->namespaces & CLONE_NEWPID && getpid() == 1)
		kill(-1, SIGKILL);
}

/*
 * Reap up to the command, or what there is. False: no child is left, or none
 * can be waited for, which is as good a reason to end.
 */
static bool
reap(struct init *init, int flags)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, flags | __WALL)) > 0) {
		if (pid == init->command) {
			init->status = status;
			init->command_ended = true;
			return true;
		}
		if (init->ending && WIFSIGNALED(status))
			init->n_killed++;
	}
	return pid == 0 || errno == EINTR;
}

/* Kill, reap to the last, report: then there is nothing inside but us. */
static _Noreturn void
end(struct init *init)
{
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_REPORT };
	struct rusage used;

	kill_all(init);
	while (reap(init, 0))
		continue;
	getrusage(RUSAGE_CHILDREN, &used);
	m.report = (struct nsrun_report){
		.status = init->command_ended ? init->status : SIGKILL,
		.n_killed = init->n_killed,
		.cpu_us = ((uint64_t)used.ru_utime.tv_sec +
		    (uint64_t)used.ru_stime.tv_sec) * 1000000 +
		    (uint64_t)used.ru_utime.tv_usec +
		    (uint64_t)used.ru_stime.tv_usec,
		.peak_kib = (uint64_t)used.ru_maxrss,
	};
	nsrun_child_say(init->prep, &m);
	_exit(0);
}

/* Orders from the supervisor; false: it is dead, or wants the end. */
static bool
obey(struct init *init)
{
	unsigned char orders[64];
	ssize_t n = read(init->prep->control_fd, orders, sizeof orders);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	for (ssize_t i = 0; i < n; i++) {
		if (orders[i] == NSRUN_ORDER_KILL)
			return false;
		/* The group, as a terminal would: a shell is not enough. */
		kill(-init->command, orders[i]);
	}
	return n > 0;
}

_Noreturn void
nsrun_init_main(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	struct init init = { .prep = prep, .signal_fd = -1 };
	struct signalfd_siginfo info;
	struct pollfd fds[3];
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	init.signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init.signal_fd < 0)
		fail(prep, "signalfd");
	start_command(&init, child);
	fds[0] = (struct pollfd){ init.signal_fd, POLLIN, 0 };
	fds[1] = (struct pollfd){ prep->control_fd, POLLIN, 0 };
	fds[2] = (struct pollfd){ prep->watch_fd, POLLIN, 0 };
	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			end(&init);
		while (read(init.signal_fd, &info, sizeof info) > 0)
			continue;
		if (!reap(&init, WNOHANG) || init.command_ended ||
		    fds[2].revents ||
		    (fds[1].revents && !obey(&init)))
			end(&init);
	}
}
