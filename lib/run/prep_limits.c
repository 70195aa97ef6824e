/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the command may take, and how the kernel is to treat it. */
#include <sched.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "base/err.h"
#include "run/prep.h"
#include "run/run.h"

/* Never more than the caller has: a limit is only ever lowered. */
int
nsrun_prepare_limits(struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;

	for (int i = 0; i < NSRUN_N_LIMITS; i++) {
		int resource = nsrun_limit_resource((enum nsrun_limit_kind)i);
		struct rlimit now, *want = &prep->limits[prep->n_limits].value;

		if (!plan->limits[i].set || resource < 0)
			continue;
		if (getrlimit(resource, &now) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "getrlimit",
			    nsrun_limit_name((enum nsrun_limit_kind)i), NULL);
		want->rlim_cur = plan->limits[i].value < now.rlim_max ?
		    plan->limits[i].value : now.rlim_max;
		want->rlim_max = want->rlim_cur;
		/* One second between SIGXCPU, which says why, and SIGKILL. */
		if (i == NSRUN_LIMIT_CPU && !plan->limits[i].exact &&
		    want->rlim_max < now.rlim_max)
			want->rlim_max++;
		prep->limits[prep->n_limits++].resource = resource;
	}
	return 0;
}

void
nsrun_prepare_for_cgroup(struct nsrun_prep *prep, const struct nsrun_run *run)
{
	prep->cgroup_fd = run->cgroup.dir_fd;
	if (prep->cgroup_fd < 0 || !prep->plan->profile ||
	    !(run->cgroup.controllers & NSRUN_CONTROLLER_PIDS))
		return;
	/* Some more, so that the other one is met first. */
	for (unsigned int i = 0; i < prep->n_limits; i++) {
		struct rlimit now, *want = &prep->limits[i].value;

		if (prep->limits[i].resource != RLIMIT_NPROC ||
		    getrlimit(RLIMIT_NPROC, &now) < 0)
			continue;
		want->rlim_max = now.rlim_max - want->rlim_max > 16 ?
		    want->rlim_max + 16 : now.rlim_max;
		want->rlim_cur = want->rlim_max;
	}
}

/* Any of the caller's processors, so that not all sandboxes share the first. */
int
nsrun_prepare_scheduling(struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_process *process = &prep->plan->process;
	int n, cpu = 0;
	unsigned int seed;

	if (process->sets_oom_score)
		snprintf(prep->oom_score, sizeof prep->oom_score, "%d",
		    process->oom_score_adj);
	if (!process->max_cpus)
		return 0;
	if (sched_getaffinity(0, sizeof prep->cpus, &prep->cpus) < 0 ||
	    getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT,
		    "sched_getaffinity", NULL, NULL);
	n = CPU_COUNT(&prep->cpus);
	while (n > 0 && (unsigned int)n > process->max_cpus) {
		for (unsigned int skip = seed % (unsigned int)n; ; cpu++)
			if (CPU_ISSET(cpu % CPU_SETSIZE, &prep->cpus) &&
			    skip-- == 0)
				break;
		CPU_CLR(cpu % CPU_SETSIZE, &prep->cpus);
		n--;
	}
	return 0;
}
