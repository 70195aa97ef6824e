/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/prep.h"
#include "run/run.h"

/* The child: two steps of a launch, and word of how they went. */
static _Noreturn void
try_steps(const struct nsrun_prep *prep, int out)
{
	struct nsrun_child child = { .root_fd = -1 };
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_apply_idmap(prep, &child, &err) == 0)
		nsrun_apply_network(prep, &child, &err);
	_exit(write(out, &err, sizeof err) == sizeof err ? 0 : 1);
}

static int
clone_and_try(const struct nsrun_prep *prep, uint64_t flags,
    struct nsrun_err *err)
{
	struct clone_args args = { .flags = flags | CLONE_CLEAR_SIGHAND };
	nsrun_autoclose int in = -1, out = -1;
	struct nsrun_err said;
	int ends[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "pipe2", NULL,
		    NULL);
	in = ends[0];
	out = ends[1];
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		try_steps(prep, out);
	if (pid < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "clone3", NULL,
		    NULL);
	nsrun_fd_close(&out);
	n = read(in, &said, sizeof said);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	if (n != sizeof said)
		return nsrun_err_rule(err, NSRUN_STEP_NAMESPACE,
		    "the probe was killed", NULL, NULL);
	if (said.step == NSRUN_STEP_NONE)
		return 0;
	*err = said;
	return -1;
}

int
nsrun_probe_namespaces(uint64_t flags, struct nsrun_err *err)
{
	struct nsrun_prepared p;
	struct nsrun_plan plan;
	struct nsrun_run run;
	char *argv[] = { (char *)(uintptr_t)"probe", NULL };
	int rc = -1;

	nsrun_plan_init(&plan);
	nsrun_run_init(&run, &plan);
	nsrun_prepared_init(&p);
	plan.loopback = flags & CLONE_NEWNET;
	plan.stdio[0] = plan.stdio[1] = plan.stdio[2] = NSRUN_STDIO_INHERIT;
	if (nsrun_plan_set_argv(&plan, argv, err) == 0 &&
	    nsrun_plan_add_idrange(&plan, &plan.uid_map,
	    (struct nsrun_idrange){ 0, geteuid(), 1 }, err) == 0 &&
	    nsrun_plan_add_idrange(&plan, &plan.gid_map,
	    (struct nsrun_idrange){ 0, getegid(), 1 }, err) == 0 &&
	    nsrun_prepared_build(&p, &run, err) == 0)
		rc = clone_and_try(&p.prep, flags, err);
	nsrun_prepared_deinit(&p);
	nsrun_run_deinit(&run);
	nsrun_plan_deinit(&plan);
	return rc;
}

bool
nsrun_probe_only_network_refused(void)
{
	struct nsrun_err with = NSRUN_ERR_INIT, without = NSRUN_ERR_INIT;
	uint64_t all = 0;

	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		all |= nsrun_namespaces[i].flag;
	return nsrun_probe_namespaces(all, &with) < 0 &&
	    nsrun_probe_namespaces(all & ~(uint64_t)CLONE_NEWNET,
	    &without) == 0;
}

int
nsrun_probe_landlock(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	return abi > 0 ? (int)abi : 0;
}

bool
nsrun_probe_seccomp(void)
{
	/* A NULL program is refused with EFAULT where filters exist. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 &&
	    errno == EFAULT;
}
