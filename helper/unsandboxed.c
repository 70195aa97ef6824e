/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No namespace, no filter, no limit: what is left is the environment, the
 * deadline, and that nothing outlives the command. A process that it left
 * behind becomes our child, so that it can be killed.
 */
#include "unsandboxed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/log.h"
#include "run/run.h"
#include "run/status.h"

extern char **environ;

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void
warn(const struct nsrun_plan *plan)
{
	fprintf(stderr, "oc-nsrun: warning: %s: this command runs without a"
	    " sandbox, with all rights of its caller\n",
	    nsrun_boundary_name(plan->boundary));
}

/* Names that would say of the host what holds in a sandbox only. */
static void
drop(char **env, const char *name)
{
	size_t n = strlen(name);
	char **to = env;

	for (char **e = env; *e; e++)
		if (strncmp(*e, name, n) || (*e)[n] != '=')
			*to++ = *e;
	*to = NULL;
}

/* The environment of the plan, or the caller's and what the profile sets. */
static char **
environment(const struct nsrun_plan *plan)
{
	static const char project[] = "CLAUDE_PROJECT_DIR";
	const char *dir = nsrun_plan_env(plan, project);

	if (plan->boundary != NSRUN_BOUNDARY_HOOK_NONE) {
		drop(plan->env, "OPENCLAUDIA_SANDBOX");
		drop(plan->env, "HOSTNAME");
		drop(plan->env, "XDG_RUNTIME_DIR");
		return plan->env;
	}
	if (dir && setenv(project, dir, 1) < 0)
		return NULL;
	return environ;
}

static _Noreturn void
child(const struct nsrun_plan *plan, char **env, int report_fd)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct sigaction defaults = { .sa_handler = SIG_DFL };
	const char *path = nsrun_plan_env(plan, "PATH");
	sigset_t none;
	int null = -1;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		sigaction(i, &defaults, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid();
	if (plan->stdio[0] == NSRUN_STDIO_NULL &&
	    ((null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0 ||
	    dup2(null, 0) < 0))
		nsrun_err_sys(&err, NSRUN_STEP_STDIO, "open", "/dev/null",
		    NULL);
	else if (sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		nsrun_err_sys(&err, NSRUN_STEP_FD, "close_range", NULL, NULL);
	else if (chdir(plan->cwd) < 0)
		nsrun_err_sys(&err, NSRUN_STEP_CHDIR, "chdir", plan->cwd, NULL);
	else {
		if (path && plan->boundary != NSRUN_BOUNDARY_HOOK_NONE)
			setenv("PATH", path, 1);
		execvpe(plan->argv[0], plan->argv, env);
		nsrun_err_sys(&err, NSRUN_STEP_EXEC, "execve", plan->argv[0],
		    NULL);
	}
	if (write(report_fd, &err, sizeof err) < 0)
		_exit(126);
	_exit(127);
}

/* Kill what the command left, which has become ours. How many there were. */
static unsigned int
kill_rest(void)
{
	unsigned int n = 0;
	pid_t reaped;

	for (int round = 0; round < 1000; round++) {
		char *text = nsrun_file_read("/proc/thread-self/children",
		    1 << 20);
		char *end;

		for (char *s = text; s && *s; s = end) {
			long pid = strtol(s, &end, 10);

			if (end == s)
				break;
			if (pid > 0)
				kill((pid_t)pid, SIGKILL);
		}
		free(text);
		while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0)
			n++;
		/* One of another user's is not ours to end: give up on it. */
		if (reaped < 0 && errno == ECHILD)
			break;
		if (round > 10)
			poll(NULL, 0, 2);
	}
	return n;
}

struct watch {
	struct nsrun_run	*run;
	int64_t			deadline_ms, kill_ms;	/* 0: none */
};

static void
end(struct watch *w, int signal, int64_t patience_ms)
{
	kill(-w->run->pid, signal);
	kill(w->run->pid, signal);
	if (!w->kill_ms)
		w->kill_ms = now_ms() + patience_ms;
}

static void
take_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	if (read(w->run->signal_fd, &info, sizeof info) != sizeof info)
		return;
	kill(-w->run->pid, (int)info.ssi_signo);
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
		w->run->stop_signal = (int)info.ssi_signo;
		end(w, (int)info.ssi_signo, 5000);
	}
}

/* Until the command has ended: how, in info. */
static int
watch(struct watch *w, siginfo_t *info)
{
	struct nsrun_run *run = w->run;
	struct pollfd fds[] = {
		{ run->pidfd, POLLIN, 0 }, { run->signal_fd, POLLIN, 0 },
		{ run->watch_fd, POLLIN, 0 },
	};

	for (;;) {
		int64_t next = w->kill_ms ? w->kill_ms : w->deadline_ms;
		int64_t left = next ? next - now_ms() : -1;

		if (next && left < 0)
			left = 0;
		if (poll(fds, 3, left > INT32_MAX ? INT32_MAX : (int)left) <
		    0 && errno != EINTR)
			return -1;
		if (fds[0].revents)
			return waitid(P_PID, (id_t)run->pid, info, WEXITED);
		if (fds[1].revents)
			take_signal(w);
		if (fds[2].revents) {
			fds[2].fd = -1;
			run->cancelled = true;
			end(w, SIGKILL, 0);
		}
		if (w->kill_ms && now_ms() >= w->kill_ms) {
			run->cancelled |= run->stop_signal != 0;
			kill(-run->pid, SIGKILL);
			kill(run->pid, SIGKILL);
		} else if (w->deadline_ms && now_ms() >= w->deadline_ms) {
			w->deadline_ms = 0;
			run->deadline_hit = true;
			end(w, SIGTERM, 250);
		}
	}
}

static void
set_result(struct nsrun_run *run, const siginfo_t *info, int64_t started_ms)
{
	struct rusage used;
	struct nsrun_result *r = &run->result;

	r->n_killed = kill_rest();
	if (info->si_code == CLD_EXITED)
		r->code = info->si_status;
	else
		r->signal = info->si_status;
	r->reason = run->deadline_hit ? NSRUN_REASON_DEADLINE :
	    run->cancelled ? NSRUN_REASON_CANCELLED :
	    r->signal ? NSRUN_REASON_SIGNAL : NSRUN_REASON_EXIT;
	r->status = run->deadline_hit ? 124 : run->cancelled &&
	    run->stop_signal ? 128 + run->stop_signal :
	    r->signal ? 128 + r->signal : r->code;
	r->wall_ms = (uint64_t)(now_ms() - started_ms);
	getrusage(RUSAGE_CHILDREN, &used);
	r->cpu_ms = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) *
	    1000 + (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) /
	    1000;
	r->peak_kib = (uint64_t)used.ru_maxrss;
}

/* Make the child; when this returns 0 the command was executed. */
static int
start(struct nsrun_run *run, struct nsrun_err *err)
{
	char **env = environment(run->plan);
	int pipe_fds[2];

	if (!env)
		return nsrun_err_nomem(err, "environment");
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    pipe2(pipe_fds, O_CLOEXEC) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "pipe2", NULL,
		    NULL);
	run->pid = fork();
	if (run->pid == 0)
		child(run->plan, env, pipe_fds[1]);
	close(pipe_fds[1]);
	if (run->pid > 0)
		run->pidfd = sys_pidfd_open(run->pid);
	if (run->pid < 0 || run->pidfd < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "fork", NULL, NULL);
	else if (read(pipe_fds[0], err, sizeof *err) < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "read", NULL, NULL);
	close(pipe_fds[0]);
	if (err->step == NSRUN_STEP_NONE)
		return 0;
	if (run->pid > 0)
		kill_rest();
	return -1;
}

int
unsandboxed_run(struct nsrun_run *run, int status_fd, int log_fd,
    struct nsrun_err *err)
{
	struct watch w = { .run = run };
	int64_t started_ms = now_ms();
	uint64_t timeout_ms = run->plan->supervision.timeout_ms;
	siginfo_t info = { 0 };
	int rc;

	warn(run->plan);
	if (start(run, err) < 0)
		return -1;
	if (timeout_ms)
		w.deadline_ms = started_ms + (int64_t)timeout_ms;
	nsrun_status_started(status_fd, run);
	nsrun_log_start(log_fd, run);
	rc = watch(&w, &info);
	if (rc < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "waitid", NULL, NULL);
	else
		set_result(run, &info, started_ms);
	nsrun_fd_close(&run->pidfd);
	run->pid = 0;
	if (rc == 0) {
		nsrun_status_exited(status_fd, run);
		nsrun_log_end(log_fd, run);
	}
	return rc;
}
