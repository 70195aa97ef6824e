/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * setrlimit(2). Must: be in the innermost user namespace, where RLIMIT_NPROC
 * counts the sandbox's own processes only. The values are the lower of the
 * plan's and the caller's: the parent saw to it.
 *
 * They are the command's. Pid 1 has only the one on core files, and first: the
 * filter lets nobody change it, and a crash of pid 1 is no file either.
 */
#include "apply/apply.h"

#include "base/err.h"

static int
set_limits(const struct nsrun_prep *prep, bool core, struct nsrun_err *err)
{
	for (unsigned int i = 0; i < prep->n_limits; i++)
		if ((prep->limits[i].resource == RLIMIT_CORE) == core &&
		    setrlimit(prep->limits[i].resource,
		    &prep->limits[i].value) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "setrlimit",
			    NULL, NULL);
	return 0;
}

int
nsrun_apply_core_limit(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err)
{
	(void)child;
	return set_limits(prep, true, err);
}

int
nsrun_apply_limits(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	return set_limits(prep, false, err);
}
