/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/bounds.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "plan/plan.h"
#include "run/run.h"

void
nsrun_bounds_poll(const struct nsrun_run *run, struct pollfd *fds)
{
	bool met = run->bound_met;

	fds[0] = (struct pollfd){ met ? -1 : run->cgroup.memory_fd, POLLPRI,
	    0 };
	fds[1] = (struct pollfd){ met ? -1 : run->cgroup.pids_fd, POLLPRI, 0 };
	fds[2] = (struct pollfd){ met ? -1 : run->budget.socket_fd, POLLIN, 0 };
}

bool
nsrun_bounds_handle(struct nsrun_run *run, const struct pollfd *fds)
{
	if (fds[0].revents || fds[1].revents) {
		nsrun_cgroup_acknowledge(&run->cgroup);
		nsrun_cgroup_read(&run->cgroup, &run->used);
	}
	if (fds[2].revents)
		nsrun_budget_read(run);
	run->bound_met |= run->used.oom_kills || run->used.forks_refused ||
	    nsrun_budget_is_spent(&run->budget);
	return run->bound_met;
}

/* Which bound it was: the first of these that was met. */
static void
name_bound(struct nsrun_run *run)
{
	struct nsrun_result *r = &run->result;
	enum nsrun_limit_kind kind = NSRUN_N_LIMITS;
	bool soft = run->plan->cgroup.soft;

	/* Where others may go on, it is the command that must have died. */
	if (run->used.oom_kills && (!soft || r->signal == SIGKILL))
		kind = NSRUN_LIMIT_MEMORY;
	else if (run->used.forks_refused && !soft)
		kind = NSRUN_LIMIT_PROCESSES;
	else if (run->budget.over_inodes)
		kind = NSRUN_LIMIT_INODES;
	else if (nsrun_budget_is_spent(&run->budget))
		kind = NSRUN_LIMIT_WRITE;
	if (kind == NSRUN_N_LIMITS || r->reason == NSRUN_REASON_DEADLINE ||
	    r->reason == NSRUN_REASON_CANCELLED)
		return;
	r->reason = kind == NSRUN_LIMIT_MEMORY ? NSRUN_REASON_OOM :
	    NSRUN_REASON_LIMIT;
	r->limit = nsrun_limit_name(kind);
	r->status = 128 + SIGKILL;
}

static uint64_t
elapsed_ms(const struct nsrun_run *run)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec -
	    run->started_ns) / 1000000;
}

void
nsrun_bounds_fill_result(struct nsrun_run *run, const struct rusage *used)
{
	struct nsrun_result *r = &run->result;
	int status = run->reported ? run->report.status : SIGKILL;

	nsrun_cgroup_read(&run->cgroup, &run->used);
	*r = (struct nsrun_result){
		.reason = WIFEXITED(status) ? NSRUN_REASON_EXIT :
		    NSRUN_REASON_SIGNAL,
		.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
		.signal = WIFEXITED(status) ? 0 : WTERMSIG(status),
		.wall_ms = elapsed_ms(run),
		.cpu_ms = run->report.cpu_us / 1000,
		.peak_kib = run->report.peak_kib,
		.n_killed = run->report.n_killed,
		.memory_peak_bytes = run->used.memory_peak,
		.processes_peak = run->used.pids_peak,
	};
	if (!run->reported) {
		r->cpu_ms = (uint64_t)(used->ru_utime.tv_sec +
		    used->ru_stime.tv_sec) * 1000;
		r->peak_kib = (uint64_t)used->ru_maxrss;
	}
	/* It knows of those that nobody waited for, too. */
	if (run->used.cpu_us)
		r->cpu_ms = run->used.cpu_us / 1000;
	r->status = r->signal ? 128 + r->signal : r->code;
	if (run->deadline_hit) {
		r->reason = NSRUN_REASON_DEADLINE;
		r->status = 124;
	} else if (run->cancelled) {
		r->reason = NSRUN_REASON_CANCELLED;
		r->status = 128 + (run->stop_signal ? run->stop_signal :
		    SIGKILL);
	}
	name_bound(run);
}

void
nsrun_bounds_finish(struct nsrun_run *run)
{
	if (run->budget.socket_fd < 0)
		return;
	nsrun_budget_finish(run);
	run->result.grown_bytes = run->budget.grown.bytes;
	run->result.grown_inodes = run->budget.grown.inodes;
	name_bound(run);
}
