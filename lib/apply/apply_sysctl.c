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

static int
lower(int sys_fd, const struct nsrun_sysctl *s, struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(sys_fd, s->path, O_WRONLY | O_CLOEXEC);

	/* A kernel built without the feature has nothing to be lowered. */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "open", s->path,
		    s->value);
	if (write(fd, s->value, strlen(s->value)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "write", s->path,
		    s->value);
	return 0;
}

int
nsrun_apply_sysctls(const struct nsrun_prep *prep, int proc_fd,
    struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;
	nsrun_autoclose int sys_fd = -1;

	if (!plan->n_sysctls)
		return 0;
	sys_fd = openat(proc_fd, "sys", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (sys_fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "open",
		    "/proc/sys", NULL);
	for (size_t i = 0; i < plan->n_sysctls; i++)
		if (lower(sys_fd, &plan->sysctls[i], err) < 0)
			return -1;
	return 0;
}
