/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lower what the new namespaces may take from the host: user.max_*, SysV IPC.
 *
 * Must: run in the user namespace that owns the ipc namespace, as its uid 0:
 * the kernel.shm* files ask for that uid, not for a capability. The cover over
 * /proc/sys comes later; until then nothing but us runs.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

static const char nesting[] = "user/max_user_namespaces";

static int
lower(int sys_fd, const struct nsrun_sysctl *s, const char *value,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(sys_fd, s->path, O_WRONLY | O_CLOEXEC);

	/* A kernel built without the feature has nothing to be lowered. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "open", s->path,
		    value);
	if (write(fd, value, strlen(value)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "write", s->path,
		    value);
	return 0;
}

int
nsrun_apply_sysctls(const struct nsrun_prep *prep, struct nsrun_child *child,
    int proc_fd, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;

	if (!plan->n_sysctls)
		return 0;
	child->sys_fd = openat(proc_fd, "sys",
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (child->sys_fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "open",
		    "/proc/sys", NULL);
	for (size_t i = 0; i < plan->n_sysctls; i++) {
		const struct nsrun_sysctl *s = &plan->sysctls[i];
		/* One more user namespace is ours: see nsrun_apply_lock(). */
		bool one = plan->identity.lock_namespaces &&
		    !strcmp(s->path, nesting) && !strcmp(s->value, "0");

		if (lower(child->sys_fd, s, one ? "1" : s->value, err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Each user namespace has its own user.*, and counts in those above it too. So
 * only the one that the first could not have as low is written in the second.
 */
int
nsrun_apply_user_sysctls(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;

	for (size_t i = 0; i < plan->n_sysctls; i++)
		if (!strcmp(plan->sysctls[i].path, nesting) &&
		    lower(child->sys_fd, &plan->sysctls[i],
		    plan->sysctls[i].value, err) < 0)
			return -1;
	nsrun_fd_close(&child->sys_fd);
	return 0;
}
