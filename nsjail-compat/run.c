/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Modes that run the command for us: once, or again and again. SIGTERM and
 * SIGINT end the jail, or go to the command; SIGUSR1 and SIGQUIT only ask.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "guard.h"
#include "nsjail.h"
#include "run/run.h"
#include "run/status.h"

enum { PID_EVERYONE = 137 };	/* 128 + SIGKILL: of whom time ran out */

/* Who asks wants to know what runs. */
static void
show(const struct nsjail *n, const struct nsrun_run *run)
{
	uint64_t limit = n->config.time_limit;
	struct timespec now;
	int64_t s;

	clock_gettime(CLOCK_MONOTONIC, &now);
	s = now.tv_sec - run->started_ns / 1000000000;
	nsjail_log(n, NSJAIL_INFO, NULL,
	    "Total number of spawned namespaces: 1");
	if (limit || n->config.time_limit_ms)
		nsjail_log(n, NSJAIL_INFO, NULL, "pid=%d, Remote host: %s,"
		    " Run time: %lld sec. (time left: %lld s.)", (int)run->pid,
		    n->peer, (long long)s, (long long)limit - (long long)s);
	else
		nsjail_log(n, NSJAIL_INFO, NULL, "pid=%d, Remote host: %s,"
		    " Run time: %lld sec. (time left: unlimited s.)",
		    (int)run->pid, n->peer, (long long)s);
}

static void
on_signal(struct nsrun_run *run, int signal)
{
	const struct nsjail *n = run->on_signal_data;

	if (n->config.mode == NSJAIL_EXECVE && run->command_fd >= 0) {
		sys_pidfd_send_signal(run->command_fd, signal);
		return;
	}
	if (signal == SIGUSR1 || signal == SIGQUIT) {
		show(n, run);
		return;
	}
	nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("sigHandler"),
	    "signal %d", signal);
	if (n->config.forward_signals && run->state == NSRUN_STATE_RUNNING &&
	    run->stop_signal != signal) {
		run->stop_signal = signal;
		sys_pidfd_send_signal(run->command_fd >= 0 ? run->command_fd :
		    run->pidfd, signal);
		return;
	}
	nsrun_run_cancel(run, signal);
}

/* *saved is the mask to go back to. */
static int
open_signals(struct nsjail *n, sigset_t *saved, int *fd)
{
	static const int watched[] = {
		SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGQUIT,
		/* Of mode EXECVE alone, from here on. */
		SIGUSR2, SIGCONT, SIGWINCH,
	};
	size_t n_watched = n->config.mode == NSJAIL_EXECVE ?
	    sizeof watched / sizeof *watched : 5;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < n_watched; i++)
		sigaddset(&set, watched[i]);
	*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/* A log that nobody reads is no reason to die. */
	sigaddset(&set, SIGPIPE);
	if (*fd < 0 || sys_sigprocmask(SIG_BLOCK, &set, saved) < 0)
		return nsrun_err_sys(&n->err, NSRUN_STEP_SUPERVISE, "signalfd",
		    NULL, NULL);
	return 0;
}

/* 0, 1 and 2 for the command; the log has a descriptor of its own by now. */
static int
silence(struct nsjail *n)
{
	nsrun_autoclose int null = -1;
	int first = n->config.silent ? 0 : 2;

	if (!n->config.silent && !n->config.stderr_to_null)
		return 0;
	if (n->log.fd <= 2)
		nsjail_log_set_fd(n, n->log.fd);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = first; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			return nsrun_err_sys(&n->err, NSRUN_STEP_STDIO, "dup2",
			    "/dev/null", NULL);
	return 0;
}

/* How it ended, in the words that programs look for. */
static void
tell_result(const struct nsjail *n, const struct nsrun_run *run)
{
	const struct nsrun_result *r = &run->result;
	bool killed = r->reason == NSRUN_REASON_DEADLINE ||
	    r->reason == NSRUN_REASON_CANCELLED;
	int signal = r->signal ? r->signal : killed ? SIGKILL : 0;
	char limit[NSJAIL_TIME_SIZE];

	if (r->reason == NSRUN_REASON_DEADLINE)
		nsjail_log(n, NSJAIL_INFO, NULL, "pid=%d run time >= time limit"
		    " (%llu.%03u >= %s) (%s). Killing it", (int)run->pid,
		    (unsigned long long)r->wall_ms / 1000,
		    (unsigned int)(r->wall_ms % 1000),
		    nsjail_time_limit(n, limit), n->peer);
	if (signal == SIGSYS)
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("seccompViolation"),
		    "pid=%d committed a syscall/seccomp violation and exited"
		    " with SIGSYS", (int)run->pid);
	if (signal)
		nsjail_log(n, NSJAIL_INFO, NULL, "pid=%d (%s) terminated with"
		    " signal: %s (%d), (PIDs left: 0)", (int)run->pid,
		    n->peer, nsjail_signal_name(signal), signal);
	else
		nsjail_log(n, NSJAIL_INFO, NULL, "pid=%d (%s) exited with"
		    " status: %d, (PIDs left: 0)", (int)run->pid, n->peer,
		    r->code);
}

/* The status that is the jail's. */
static int
tell_end(const struct nsjail *n, const struct nsrun_run *run)
{
	tell_result(n, run);
	if (run->stop_signal) {
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("main"),
		    "the jail was ended by %s (%d)",
		    nsjail_signal_name(run->stop_signal), run->stop_signal);
		return 128 + run->stop_signal;
	}
	return run->result.reason == NSRUN_REASON_DEADLINE ? PID_EVERYONE :
	    run->result.status;
}

int
nsjail_fail(struct nsjail *n)
{
	nsjail_log_err(n, NSJAIL_WHERE("runChild"));
	if (n->err.step == NSRUN_STEP_CGROUP && n->config.use_cgroupv2 &&
	    !nsjail_field_given(&nsjail_config_message, &n->config,
	    "cgroupv2_mount"))
		nsjail_log(n, NSJAIL_FATAL, NSJAIL_WHERE("runChild"),
		    "--cgroupv2_mount names another directory; nsjail takes"
		    " /sys/fs/cgroup, as root");
	/* The line, and its number, that others look for. */
	nsjail_log(n, NSJAIL_ERROR, "runChild():486",
	    "Launching child process failed");
	nsrun_status_failed(n->status_fd, &n->err, NSJAIL_FAILED);
	return NSJAIL_FAILED;
}

static int
execute(struct nsjail *n, struct nsrun_run *run, struct nsjail_guard *guard)
{
	nsjail_log(n, NSJAIL_INFO, NULL, "Executing '%s' for '%s'",
	    run->plan->process.file, n->peer);
	if (nsrun_launch(run, &n->err) < 0 ||
	    nsjail_guard_start(n, run, guard) < 0 || nsrun_supervise(run,
	    NSRUN_STATE_RUNNING, &n->err) < 0)
		return -1;
	nsrun_status_started(n->status_fd, run);
	return nsrun_supervise(run, NSRUN_STATE_ENDED, &n->err);
}

static int
run_once(struct nsjail *n, const struct nsrun_plan *plan, int signal_fd,
    const sigset_t *mask, bool *ends)
{
	struct nsjail_guard guard = NSJAIL_GUARD_INIT;
	struct nsrun_run run;
	int status;

	nsrun_run_init(&run, plan);
	run.signal_fd = signal_fd;
	run.caller_mask = mask;
	run.on_signal = on_signal;
	run.on_signal_data = n;
	if (execute(n, &run, &guard) < 0) {
		*ends = true;
		status = run.stop_signal ? 128 + run.stop_signal :
		    nsjail_fail(n);
	} else {
		*ends = run.stop_signal;
		status = tell_end(n, &run);
		nsrun_status_exited(n->status_fd, &run);
	}
	nsrun_run_wait_janitor(&run);
	nsjail_guard_end(n, &run, &guard);
	nsrun_run_deinit(&run);
	return status;
}

int
nsjail_run(struct nsjail *n, const struct nsrun_plan *plan)
{
	nsrun_autoclose int signal_fd = -1;
	sigset_t saved;
	bool ends = false;
	int status;

	if (open_signals(n, &saved, &signal_fd) < 0 || silence(n) < 0)
		return nsjail_fail(n);
	do
		status = run_once(n, plan, signal_fd, &saved, &ends);
	while (n->config.mode == NSJAIL_RERUN && !ends);
	return status;
}
