/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seccomp: the plan's programs in order, as seccomp(2) stacks them. Pid 1
 * loads those of a profile before it makes the command, so that both carry them
 * and it costs once. Must: have no_new_privs.
 */
#include "apply/apply.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "base/err.h"
#include "base/sys.h"

int
nsrun_load_filters(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	/* By prctl(2): a program may forbid seccomp(2) to the next one. */
	for (unsigned int i = 0; i < prep->n_programs; i++)
		if ((prep->plan->process.log_filters ?
		    sys_seccomp_log(&prep->programs[i]) :
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		    &prep->programs[i], 0, 0)) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_FILTER, "seccomp",
			    NULL, NULL);
	return 0;
}

/* A caller's own program may forbid anything but exec: that one waits. */
int
nsrun_apply_filter(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	return prep->plan->profile ? nsrun_load_filters(prep, err) : 0;
}
