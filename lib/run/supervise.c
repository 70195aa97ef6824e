/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The supervisor: one poll loop, nothing on a timer tick. Everything that may
 * happen outside (an end, a message, a signal, a deadline, bytes to copy) is a
 * descriptor or the time until the next bound.
 */
#include "run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/bounds.h"
#include "run/janitor.h"
#include "run/prep.h"
#include "run/relay.h"
#include "run/tty.h"

enum { AT_PIDFD, AT_CHANNEL, AT_SIGNAL, AT_STOP, AT_WATCH, AT_BOUNDS,
	AT_RELAYS = AT_BOUNDS + NSRUN_BOUNDS_POLLED,
	N_POLLED = AT_RELAYS + 2 * NSRUN_N_RELAYS };

static const int64_t second_ns = 1000000000;

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * second_ns + t.tv_nsec;
}

/* False: pid 1 is gone, as its pidfd says too, or cannot be told. */
static bool
order(const struct nsrun_run *run, int what)
{
	unsigned char byte = (unsigned char)what;

	return run->control_fd >= 0 && write(run->control_fd, &byte, 1) == 1;
}

/*
 * End it: pid 1 kills, reaps and reports; by force when it does not answer, or
 * is not listening yet. Its death takes the whole namespace along.
 */
static void
begin_end(struct nsrun_run *run)
{
	if (run->state == NSRUN_STATE_ENDED)
		return;
	if (run->state == NSRUN_STATE_STARTING ||
	    run->plan->process.in_place || run->plan->process.lingers) {
		sys_pidfd_send_signal(run->pidfd, SIGKILL);
	} else if (!run->kill_ns) {
		run->kill_ns = order(run, NSRUN_ORDER_KILL) ?
		    now_ns() + 2 * second_ns : now_ns();
	}
}

static void
cancel(struct nsrun_run *run)
{
	run->cancelled = true;
	begin_end(run);
}

void
nsrun_run_cancel(struct nsrun_run *run, int signal)
{
	if (!run->stop_signal)
		run->stop_signal = signal;
	cancel(run);
}

/* One message, perhaps with a descriptor and the pid of who said it. */
static ssize_t
receive(int fd, struct nsrun_message *message, int *passed, pid_t *pid)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int)) +
		    CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec iov = { message, sizeof *message };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct ucred who;

	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL; c;
	    c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_type == SCM_RIGHTS) {
			memcpy(passed, CMSG_DATA(c), sizeof *passed);
		} else if (c->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&who, CMSG_DATA(c), sizeof who);
			*pid = who.pid;
		}
	return n;
}

/* It is over for us; pid 1 may still have somebody to look after. */
static void
finish(struct nsrun_run *run, const struct rusage *used)
{
	static const struct rusage nothing;

	nsrun_bounds_fill_result(run, used ? used : &nothing);
	/* Nobody reads what is still to come on standard input. */
	nsrun_relay_deinit(&run->relays[0]);
	run->state = NSRUN_STATE_ENDED;
}

/*
 * The child's end of the channel closed itself in exec, without a word of an
 * error before: it is the command now. Or it died; its pidfd will tell.
 */
static void
executed(struct nsrun_run *run)
{
	nsrun_fd_close(&run->channel_fd);
	run->state = NSRUN_STATE_RUNNING;
}

/* A process inside may have got at pid 1's end: what it says, it says late. */
static bool
is_timely(const struct nsrun_run *run, const struct nsrun_message *message)
{
	return message->kind == NSRUN_MESSAGE_REPORT ?
	    run->state == NSRUN_STATE_RUNNING :
	    run->state == NSRUN_STATE_STARTING;
}

static void
handle(struct nsrun_run *run, const struct nsrun_message *message, int *passed,
    pid_t pid, struct nsrun_err *err)
{
	if (!is_timely(run, message))
		return;
	switch (message->kind) {
	case NSRUN_MESSAGE_ERROR:
		if (err->step == NSRUN_STEP_NONE)
			*err = message->err;
		break;
	case NSRUN_MESSAGE_MAP:
		if (nsrun_maps_write(run, message->map, err) < 0 ||
		    !order(run, NSRUN_ORDER_GO))
			cancel(run);
		break;
	case NSRUN_MESSAGE_TERMINAL:
		if (nsrun_tty_connect(run, passed, err) < 0 ||
		    !order(run, NSRUN_ORDER_GO))
			cancel(run);
		break;
	case NSRUN_MESSAGE_JANITOR:
		if (nsrun_janitor_start(run, *passed, err) < 0 ||
		    !order(run, NSRUN_ORDER_GO))
			cancel(run);
		break;
	case NSRUN_MESSAGE_USERNS:
		run->budget.userns_fd = nsrun_fd_take(passed);
		break;
	case NSRUN_MESSAGE_COMMAND:
		run->command_pid = pid;
		run->command_fd = pid > 0 ? sys_pidfd_open(pid) : -1;
		break;
	case NSRUN_MESSAGE_READY:
		run->witness = message->ready;
		run->state = NSRUN_STATE_RUNNING;
		if (nsrun_budget_watch(run, err) < 0)
			cancel(run);
		break;
	case NSRUN_MESSAGE_REPORT:
		run->report = message->report;
		run->reported = true;
		/* Then that is all we wait for. */
		if (run->plan->process.lingers)
			finish(run, NULL);
		break;
	}
}

/* One message; false: there is none now, or there will be none. */
static bool
read_channel(struct nsrun_run *run, struct nsrun_err *err)
{
	struct nsrun_message message;
	nsrun_autoclose int passed = -1;
	pid_t pid = 0;
	ssize_t n;

	if (run->channel_fd < 0)
		return false;
	n = receive(run->channel_fd, &message, &passed, &pid);
	if (n == sizeof message)
		handle(run, &message, &passed, pid, err);
	else if (n == 0 && run->plan->process.in_place &&
	    err->step == NSRUN_STEP_NONE && run->state < NSRUN_STATE_RUNNING)
		executed(run);
	else if (n >= 0 || (errno != EINTR && errno != EAGAIN)) {
		if (n < 0 && err->step == NSRUN_STEP_NONE)
			nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "recvmsg",
			    NULL, NULL);
		nsrun_fd_close(&run->channel_fd);
		/* It may wait for an answer to what we could not read. */
		if (n != 0 && run->pidfd >= 0)
			cancel(run);
	}
	return n == sizeof message;
}

/* Without a profile it is the command's alone, and ends nothing of ours. */
static void
pass_to_command(const struct nsrun_run *run, int signal)
{
	int fd = run->plan->process.in_place ? run->pidfd : run->command_fd;

	/* With a terminal of its own it has had that one by way of it. */
	if (fd >= 0 && run->state == NSRUN_STATE_RUNNING &&
	    !(signal == SIGWINCH && run->terminal_fd >= 0))
		sys_pidfd_send_signal(fd, signal);
}

static void
pass_signal(struct nsrun_run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGWINCH || info.ssi_signo == SIGCONT)
		nsrun_tty_refresh(run);
	if (run->on_signal) {
		run->on_signal(run, (int)info.ssi_signo);
		return;
	}
	if (!run->plan->profile) {
		pass_to_command(run, (int)info.ssi_signo);
		return;
	}
	if (info.ssi_signo == SIGCONT)
		return;
	if (run->state == NSRUN_STATE_RUNNING)
		(void)order(run, (int)info.ssi_signo);
	if (info.ssi_signo == SIGWINCH)
		return;
	run->stop_signal = (int)info.ssi_signo;
	if (run->state == NSRUN_STATE_STARTING)
		cancel(run);
	/* INT and QUIT may be daily bread; these two mean the end. */
	if (!run->grace_ns &&
	    (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP))
		run->grace_ns = now_ns() + 5 * second_ns;
}

/* What the bounds say now. Returns milliseconds to the next one, or -1. */
static int
check_bounds(struct nsrun_run *run)
{
	int64_t now = now_ns(), next = INT64_MAX, deadline = INT64_MAX;
	uint64_t timeout_ms = run->plan->supervision.timeout_ms;

	if (timeout_ms && !run->deadline_hit && !run->cancelled)
		deadline = run->started_ns + (int64_t)timeout_ms * 1000000;
	if (now >= deadline) {
		run->deadline_hit = true;
		begin_end(run);
	} else {
		next = deadline;
	}
	if (run->grace_ns && now >= run->grace_ns) {
		run->grace_ns = 0;
		cancel(run);
	}
	if (run->kill_ns && now >= run->kill_ns) {
		run->kill_ns = INT64_MAX;
		if (run->pidfd >= 0)
			sys_pidfd_send_signal(run->pidfd, SIGKILL);
	}
	if (run->grace_ns && run->grace_ns < next)
		next = run->grace_ns;
	if (run->kill_ns && run->kill_ns < next)
		next = run->kill_ns;
	if (next == INT64_MAX)
		return -1;
	return next - now > 3600 * second_ns ? 3600000 :
	    (int)((next - now + 999999) / 1000000);
}

/* Pid 1 is gone, and with it everything inside. */
static void
reap(struct nsrun_run *run, struct nsrun_err *err)
{
	struct rusage used = { 0 };
	int status = 0;
	pid_t pid;

	/*
	 * What it had to say is there already. Not until end of file: another
	 * thread's fork may hold a copy of the other end for a while.
	 */
	while (read_channel(run, err))
		continue;
	nsrun_fd_close(&run->channel_fd);
	do
		pid = wait4(run->pid, &status, __WALL, &used);
	while (pid < 0 && errno == EINTR);
	if (run->plan->process.in_place && pid < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "wait4", NULL, NULL);
	if (run->plan->process.in_place && pid > 0) {
		run->report.status = status;
		run->reported = true;
	}
	nsrun_fd_close(&run->pidfd);
	nsrun_fd_close(&run->control_fd);
	if (run->state == NSRUN_STATE_STARTING &&
	    err->step == NSRUN_STEP_NONE)
		nsrun_err_rule(err, NSRUN_STEP_SUPERVISE, run->deadline_hit ?
		    "the deadline passed while the sandbox was made" :
		    run->cancelled ? "cancelled while the sandbox was made" :
		    "pid 1 of the sandbox was killed while it was made", NULL,
		    NULL);
	finish(run, &used);
}

static int
poll_once(struct nsrun_run *run, struct pollfd fds[N_POLLED], int timeout_ms,
    struct nsrun_err *err)
{
	nfds_t n = N_POLLED;

	fds[AT_PIDFD] = (struct pollfd){ run->pidfd, POLLIN, 0 };
	fds[AT_CHANNEL] = (struct pollfd){ run->channel_fd, POLLIN, 0 };
	fds[AT_SIGNAL] = (struct pollfd){ run->signal_fd, POLLIN, 0 };
	fds[AT_STOP] = (struct pollfd){ run->cancelled ? -1 : run->stop_fd,
	    POLLIN, 0 };
	fds[AT_WATCH] = (struct pollfd){ run->cancelled ? -1 : run->watch_fd,
	    POLLIN, 0 };
	nsrun_bounds_poll(run, &fds[AT_BOUNDS]);
	for (int i = 0; i < NSRUN_N_RELAYS; i++)
		nsrun_relay_poll(&run->relays[i], &fds[AT_RELAYS + 2 * i]);
	/* A SIGCONT tells when that changes. */
	if (!nsrun_tty_has_keys(run))
		fds[AT_RELAYS].fd = -1;
	/* RLIMIT_NOFILE is the kernel's limit on how many are given, too. */
	while (n > 0 && fds[n - 1].fd < 0)
		n--;
	while (poll(fds, n, timeout_ms) < 0)
		if (errno != EINTR)
			return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "poll",
			    NULL, NULL);
	return 0;
}

/* Of the streams that we copy. */
static void
follow_ends(struct nsrun_run *run)
{
	const struct nsrun_relay *r = run->relays;

	if (run->cancelled || run->state != NSRUN_STATE_RUNNING)
		return;
	for (int i = 1; i < NSRUN_N_RELAYS; i++)
		if (r[i].refused)
			cancel(run);
	if (r[0].buf && r[0].from_fd < 0 && !run->grace_ns)
		run->grace_ns = now_ns() + second_ns;
}

static void
dispatch(struct nsrun_run *run, const struct pollfd fds[N_POLLED],
    struct nsrun_err *err)
{
	if (fds[AT_CHANNEL].revents)
		read_channel(run, err);
	if (fds[AT_SIGNAL].revents)
		pass_signal(run);
	if (fds[AT_STOP].revents || fds[AT_WATCH].revents)
		cancel(run);
	if (nsrun_bounds_handle(run, &fds[AT_BOUNDS]))
		begin_end(run);
	for (int i = 0; i < NSRUN_N_RELAYS; i++)
		nsrun_relay_move(&run->relays[i], &fds[AT_RELAYS + 2 * i]);
	if (run->plan->supervision.ends_with_input)
		follow_ends(run);
	if (fds[AT_PIDFD].revents)
		reap(run, err);
}

/* Its last words: the writers are dead, so each pipe ends. */
static int
flush(struct nsrun_run *run, struct nsrun_err *err)
{
	struct pollfd fds[N_POLLED];
	int64_t patience = 0;

	while (!nsrun_relay_done(&run->relays[1]) ||
	    !nsrun_relay_done(&run->relays[2])) {
		int timeout_ms = check_bounds(run);

		/* A reader that does not read is waited for, but not ever. */
		if (!patience && (run->deadline_hit || run->cancelled))
			patience = now_ns() + second_ns;
		if (patience && now_ns() >= patience)
			break;
		if (poll_once(run, fds, patience ? 100 : timeout_ms, err) < 0)
			return -1;
		if (fds[AT_SIGNAL].revents)
			pass_signal(run);
		if (fds[AT_SIGNAL].revents || fds[AT_STOP].revents ||
		    fds[AT_WATCH].revents)
			run->cancelled = true;
		for (int i = 1; i < NSRUN_N_RELAYS; i++)
			nsrun_relay_move(&run->relays[i],
			    &fds[AT_RELAYS + 2 * i]);
	}
	for (int i = 0; i < 2; i++) {
		run->result.out_bytes[i] = run->relays[i + 1].passed;
		run->result.dropped_bytes[i] = run->relays[i + 1].dropped;
	}
	nsrun_tty_restore(run);
	return 0;
}

int
nsrun_release(struct nsrun_run *run)
{
	return order(run, NSRUN_ORDER_GO) ? 0 : -1;
}

int
nsrun_supervise(struct nsrun_run *run, enum nsrun_run_state until,
    struct nsrun_err *err)
{
	struct pollfd fds[N_POLLED];

	while (run->state < until) {
		int timeout_ms = check_bounds(run);

		if (poll_once(run, fds, timeout_ms, err) < 0)
			return -1;
		dispatch(run, fds, err);
	}
	if (run->state == NSRUN_STATE_ENDED)
		nsrun_bounds_finish(run);
	if (run->state == NSRUN_STATE_ENDED && flush(run, err) < 0)
		return -1;
	return err->step == NSRUN_STEP_NONE ? 0 : -1;
}
