/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host in forty lines: run a command in a sandbox, wait, say how it ended.
 * Built against the installed library by make installcheck.
 */
#include <nsrun.h>
#include <stdio.h>
#include <unistd.h>

int
main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *request = nsrun_request_new();
	struct nsrun_plan *plan = NULL;
	struct nsrun_run *run = NULL;
	struct nsrun_result result = { .status = 125 };

	if (argc < 3 || !request) {
		fprintf(stderr, "usage: example PROJECT COMMAND [ARG]...\n");
		return 2;
	}
	if (nsrun_request_set(request, "profile", "shell", &err) < 0 ||
	    nsrun_request_set(request, "project", argv[1], &err) < 0 ||
	    nsrun_request_set(request, "timeout", "30s", &err) < 0 ||
	    nsrun_request_set_command(request, argv + 2, &err) < 0 ||
	    nsrun_plan_new(&plan, request, &err) < 0 ||
	    nsrun_plan_check(plan, &err) < 0 ||
	    nsrun_start(&run, plan, &err) < 0 ||
	    nsrun_wait(run, &result, &err) < 0)
		nsrun_err_print(STDERR_FILENO, "example", &err);
	else
		printf("status %d after %lu ms\n", result.status,
		    (unsigned long)result.wall_ms);
	nsrun_run_free(run);
	nsrun_plan_free(plan);
	nsrun_request_free(request);
	return result.status;
}
