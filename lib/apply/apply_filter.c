/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Seccomp: the plan's programs in order, as seccomp(2) stacks them. Pid 1
 * loads them before it makes the command, so that both carry them and it costs
 * once. Must: have no_new_privs.
 */
#include "apply/apply.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

int
nsrun_apply_filter(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	for (unsigned int i = 0; i < prep->n_programs; i++)
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
		    &prep->programs[i]) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_FILTER, "seccomp",
			    NULL, NULL);
	return 0;
}
