/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The last call: the files to try for the command, as execvp(3) would. */
#include "apply/apply.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"

static void
exec_file(const struct nsrun_prep *prep, char *path)
{
	const struct nsrun_plan *plan = prep->plan;

	execve(path, plan->argv, plan->env);
	/* No program and no script that says whose: the shell's, by custom. */
	if (errno == ENOEXEC && prep->script_argv) {
		char **argv = (char **)(uintptr_t)prep->script_argv;

		argv[1] = path;
		execve(argv[0], argv, plan->env);
	}
}

/* Of several causes along PATH, the one that says most. */
void
nsrun_exec_command(const struct nsrun_prep *prep,
    const struct nsrun_child *child, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = prep->plan;
	const char *path = plan->process.file ? plan->process.file :
	    plan->argv[0], *call = "execve";
	bool searched = !strchr(path, '/');
	int worst = ENOENT;

	if (prep->pwd_slot < plan->n_env)
		plan->env[prep->pwd_slot] = (char *)(uintptr_t)child->pwd;
	if (plan->process.no_tsc && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0,
	    0) < 0) {
		nsrun_err_sys(err, NSRUN_STEP_LIMIT, "PR_SET_TSC", NULL, NULL);
		return;
	}
	if (!plan->profile && nsrun_load_filters(prep, err) < 0)
		return;
	if (plan->process.exec_fd >= 0) {
		sys_execveat(plan->process.exec_fd, plan->argv, plan->env);
		nsrun_err_sys(err, NSRUN_STEP_EXEC, "execveat", path, NULL);
		return;
	}
	for (char *const *p = prep->exec_paths; *p; p++) {
		exec_file(prep, *p);
		if (errno == ENOENT && access(*p, F_OK) == 0) {
			/* Found: what is missing is what it needs. */
			path = *p;
			call = "interpreter";
			break;
		}
		if (!searched || (errno != ENOENT && errno != ENOTDIR)) {
			path = *p;
			worst = errno;
			if (errno != EACCES)
				break;
		}
	}
	errno = worst;
	nsrun_err_sys(err, NSRUN_STEP_EXEC, call, path, NULL);
}
