/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * setrlimit(2). Must: be in the innermost user namespace, where RLIMIT_NPROC
 * counts the sandbox's own processes only. The values are the lower of the
 * plan's and the caller's: the parent saw to it.
 */
#include "apply/apply.h"

#include "base/err.h"

int
nsrun_apply_limits(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	for (unsigned int i = 0; i < prep->n_limits; i++)
		if (setrlimit(prep->limits[i].resource,
		    &prep->limits[i].value) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "setrlimit",
			    NULL, NULL);
	return 0;
}
