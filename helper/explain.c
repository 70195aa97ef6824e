/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun explain: the plan that run would execute, printed. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "bwrap.h"
#include "helper.h"
#include "host/request.h"
#include "nsrun.h"
#include "opts.h"
#include "overlay.h"

static int
print(const struct opts *opts, struct nsrun_err *err)
{
	struct nsrun_plan *plan;
	enum nsrun_format format = opts->json ? NSRUN_FORMAT_JSON :
	    isatty(STDOUT_FILENO) && !getenv("NO_COLOR") ? NSRUN_FORMAT_COLOR :
	    NSRUN_FORMAT_TREE;
	int rc;

	opts->request->only_explains = true;
	if (overlay_choose(opts->request, opts->dry_run, err) < 0 ||
	    nsrun_plan_new(&plan, opts->request, err) < 0)
		return -1;
	rc = nsrun_plan_print(plan, format, STDOUT_FILENO, err);
	nsrun_plan_free(plan);
	return rc;
}

int
explain_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct opts opts;
	bool json = argc > 1 && !strcmp(argv[1], "--json");
	int rc;

	if (argc > 1 + json && !strcmp(argv[1 + json], "bwrap"))
		return bwrap_explain_main(argc - 1 - json, argv + 1 + json,
		    json);
	rc = opts_parse(&opts, argc, argv, &err);
	if (rc == 0 && opts.log_fd >= 0)
		rc = nsrun_err_rule(&err, NSRUN_STEP_OPTION, "belongs to run",
		    "--log-fd", NULL);
	if (rc == 0 && opts.help)
		usage_print(stdout);
	else if (rc == 0)
		rc = print(&opts, &err);
	opts_deinit(&opts);
	if (rc == 0)
		return 0;
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}
