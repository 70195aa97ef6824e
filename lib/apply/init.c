/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pid 1 of the sandbox, under the same filter and with as few rights as what
 * it supervises. It makes the command, reaps, passes signals on, and ends the
 * sandbox when the command ends, when it is told to, when the supervisor died
 * (end of file on the control pipe) or when the supervisor's caller did (its
 * pidfd). Nobody inside can signal, stop or look into it.
 *
 * Where the plan lets the rest of a command go on, it reports the command's end
 * and then only reaps, to the last. Where the filters are a stranger's, it may
 * go without them (spares_init).
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
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
	int	keep[NSRUN_LOCKS_MAX + 8];	/* open in the end; ascending */
	unsigned int n_keep;
};

static _Noreturn void
fail(const struct nsrun_prep *prep, const char *call)
{
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };

	nsrun_err_sys(&m.err, NSRUN_STEP_INIT, call, NULL, NULL);
	nsrun_child_say(prep, &m);
	_exit(125);
}

/*
 * The command, from vfork to exec: our memory is pid 1's, which waits. It says
 * by *failed that exec did not happen.
 */
static _Noreturn void
run_command(const struct nsrun_prep *prep, const struct nsrun_child *child,
    volatile bool *failed)
{
	const struct nsrun_message here = { .kind = NSRUN_MESSAGE_COMMAND };
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };
	const struct nsrun_process *process = &prep->plan->process;
	const char *call;

	*failed = true;
	call = "setsid";
	if (process->session == NSRUN_SESSION_OWN && setsid() < 0)
		goto fail;
	for (int i = 0; i < 3; i++)
		if (prep->plan->stdio[i] == NSRUN_STDIO_TERMINAL) {
			call = "TIOCSCTTY";
			if (ioctl(i, TIOCSCTTY, 0) < 0)
				goto fail;
			break;
		}
	/* Outside a pid namespace of our own, pid 1's death does not do it. */
	if (!process->outlives && !(prep->plan->namespaces & CLONE_NEWPID))
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	call = "sendmsg";
	if (process->names_command && nsrun_child_say(prep, &here) < 0)
		goto fail;
	if (nsrun_apply_limits(prep, &m.err) < 0)
		goto say;
	umask(child->umask);
	call = "sigprocmask";
	if (sys_sigprocmask(SIG_SETMASK, &prep->signals, NULL) < 0)
		goto fail;
	*failed = false;
	nsrun_exec_command(prep, child, &m.err);
	*failed = true;
	nsrun_child_say(prep, &m);
	_exit(127);
fail:
	nsrun_err_sys(&m.err, NSRUN_STEP_STDIO, call, NULL, NULL);
say:
	nsrun_child_say(prep, &m);
	_exit(125);
}

/* Ascending, as nsrun_fd_close_others() wants them. */
static void
keep(struct init *init, int fd)
{
	unsigned int at = init->n_keep;

	if (fd < 0)
		return;
	for (; at > 0 && init->keep[at - 1] > fd; at--)
		init->keep[at] = init->keep[at - 1];
	init->keep[at] = fd;
	init->n_keep++;
}

/*
 * Read locks, held until we are gone. They belong to this process, so the
 * command, which is another, does not drop them.
 */
static void
take_locks(struct init *init)
{
	const struct nsrun_process *process = &init->prep->plan->process;
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };

	for (size_t i = 0; i < process->n_locks; i++) {
		int fd = open(process->locks[i],
		    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

		if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0) {
			nsrun_err_sys(&m.err, NSRUN_STEP_INIT, fd < 0 ?
			    "open" : "lock", process->locks[i], NULL);
			nsrun_child_say(init->prep, &m);
			_exit(125);
		}
		keep(init, fd);
	}
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
	/* It has its own; of what the caller left open, none is left here. */
	for (int i = 0; i < 3; i++)
		close(i);
	if (init->prep->plan->process.keeps_fds)
		nsrun_fd_close_others(init->keep, init->n_keep);
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

/* The command's end, or our own; `alone`: nothing inside is left but us. */
static void
report(const struct init *init, bool alone)
{
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_REPORT };
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	m.report = (struct nsrun_report){
		.status = init->command_ended ? init->status : SIGKILL,
		.alone = alone,
		.n_killed = init->n_killed,
		.cpu_us = ((uint64_t)used.ru_utime.tv_sec +
		    (uint64_t)used.ru_stime.tv_sec) * 1000000 +
		    (uint64_t)used.ru_utime.tv_usec +
		    (uint64_t)used.ru_stime.tv_usec,
		.peak_kib = (uint64_t)used.ru_maxrss,
	};
	nsrun_child_say(init->prep, &m);
}

/* Kill, reap to the last, report: then there is nothing inside but us. */
static _Noreturn void
end(struct init *init)
{
	kill_all(init);
	while (reap(init, 0))
		continue;
	nsrun_returns_collect(init->prep);
	report(init, true);
	_exit(0);
}

/*
 * Reap and nothing else: a caller's filter may leave us no more. Orders are
 * none; the death of the supervisor reaches us as a signal, if it is to.
 */
static _Noreturn void
linger(struct init *init)
{
	bool more;

	while ((more = reap(init, 0)) && !init->command_ended)
		continue;
	if (more) {
		pid_t left;

		while ((left = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
			continue;
		more = left == 0;
	}
	report(init, !more);
	while (more)
		more = waitpid(-1, NULL, __WALL) > 0 || errno == EINTR;
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

/* What may end the sandbox is a descriptor; see above. */
static _Noreturn void
watch(struct init *init)
{
	const struct nsrun_prep *prep = init->prep;
	struct signalfd_siginfo info;
	struct pollfd fds[3] = {
		{ init->signal_fd, POLLIN, 0 },
		{ prep->control_fd, POLLIN, 0 },
		{ prep->watch_fd, POLLIN, 0 },
	};

	for (;;) {
		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			end(init);
		while (read(init->signal_fd, &info, sizeof info) > 0)
			continue;
		if (!reap(init, WNOHANG) || init->command_ended ||
		    fds[2].revents ||
		    (fds[1].revents && !obey(init)))
			end(init);
	}
}

_Noreturn void
nsrun_init_main(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	struct init init = { .prep = prep, .signal_fd = -1 };
	const struct nsrun_process *process = &prep->plan->process;
	struct nsrun_message m = { .kind = NSRUN_MESSAGE_ERROR };
	sigset_t chld;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	init.signal_fd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (init.signal_fd < 0)
		fail(prep, "signalfd");
	take_locks(&init);
	keep(&init, prep->channel_fd);
	keep(&init, process->sync_fd);
	if (!process->lingers) {
		keep(&init, prep->control_fd);
		keep(&init, init.signal_fd);
		keep(&init, prep->watch_fd);
	}
	if (!nsrun_child_follow_parent(prep))
		_exit(125);
	start_command(&init, child);
	/* The command has its filter; who looks into us finds the same. */
	if (!prep->plan->profile && !process->spares_init &&
	    nsrun_load_filters(prep, &m.err) < 0)
		end(&init);
	if (process->lingers)
		linger(&init);
	watch(&init);
}
