/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* engine FILTER DIR PAYLOAD: one launch of engine_plan(), without a face. */
#include <stdio.h>

#include "base/err.h"
#include "base/sys.h"
#include "engine.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "run/run.h"

int
main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_plan plan;
	struct nsrun_run run;
	int status = 125;

	if (argc != 4)
		return 2;
	nsrun_plan_init(&plan);
	nsrun_run_init(&run, &plan);
	if (sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ||
	    engine_plan(&plan, argv[1], argv[2], argv[3], &err) < 0 ||
	    nsrun_launch(&run, &err) < 0 ||
	    nsrun_supervise(&run, NSRUN_STATE_ENDED, &err) < 0)
		fprintf(stderr, "engine: %s: %s\n", err.subject, err.call);
	else
		status = run.result.status;
	nsrun_run_wait_janitor(&run);
	nsrun_run_deinit(&run);
	nsrun_plan_deinit(&plan);
	return status;
}
