/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the kernel treats the command: when it runs, where, what dies first. */
#include "apply/apply.h"

#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

/* Must: come before the id maps, while the file is still the caller's. */
int
nsrun_apply_oom_score(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err)
{
	static const char name[] = "self/oom_score_adj";
	nsrun_autoclose int fd = -1;

	(void)child;
	if (!*prep->oom_score)
		return 0;
	fd = openat(prep->proc_fd, name, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, prep->oom_score, strlen(prep->oom_score)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "write", name,
		    prep->oom_score);
	return 0;
}

int
nsrun_apply_scheduling(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err)
{
	const struct nsrun_process *process = &prep->plan->process;

	(void)child;
	if (process->max_cpus && sched_setaffinity(0, sizeof prep->cpus,
	    &prep->cpus) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "sched_setaffinity",
		    NULL, NULL);
	if (process->core_group && prctl(SYS_PR_SCHED_CORE,
	    SYS_PR_SCHED_CORE_CREATE, 0, 0, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "PR_SCHED_CORE",
		    NULL, NULL);
	if (process->sets_nice && setpriority(PRIO_PROCESS, 0,
	    process->nice) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "setpriority",
		    "nice level", NULL);
	return 0;
}
