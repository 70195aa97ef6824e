/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsjail: a command line becomes a plan, a plan a run, a run a status. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "nsjail.h"
#include "run/status.h"

/* With 0 to 2 open, no descriptor of ours is ever mistaken for stdio. */
static int
open_stdio(struct nsjail *n)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDWR) != fd)
			return nsrun_err_sys(&n->err, NSRUN_STEP_STDIO, "open",
			    "/dev/null", NULL);
	return 0;
}

/* Its log needs a place that stays. */
static int
go_away(struct nsjail *n)
{
	if (!n->config.daemon)
		return 0;
	if (n->log.fd <= 2)
		nsjail_log_open(n, "/var/log/nsjail.log");
	return daemon(1, 0) < 0 ? nsrun_err_sys(&n->err, NSRUN_STEP_SUPERVISE,
	    "daemon", NULL, NULL) : 0;
}

static int
run(struct nsjail *n)
{
	struct nsrun_plan plan;
	int status = NSJAIL_FAILED;

	nsrun_plan_init(&plan);
	nsjail_tell_settings(n);
	if (go_away(n) < 0 || nsjail_plan(n, &plan) < 0) {
		nsjail_fail(n);
		goto out;
	}
	nsjail_tell_plan(n, &plan);
	if (n->config.mode == NSJAIL_LISTEN)
		status = nsjail_listen(n, &plan);
	else
		status = nsjail_run(n, &plan);
out:
	nsrun_fd_close(&plan.process.exec_fd);
	nsrun_plan_deinit(&plan);
	return status;
}

int
main(int argc, char *argv[])
{
	struct nsjail n = {
		.proc = true, .proc_path = "/proc", .status_fd = -1,
		.peer = "[STANDALONE MODE]",
		.log = { .fd = 2, .level = NSJAIL_INFO },
	};
	int status = NSJAIL_FAILED;

	nsjail_message_init(&nsjail_config_message, &n.config);
	n.log.color = isatty(2) && !getenv("NO_COLOR");
	if (open_stdio(&n) < 0 || nsjail_parse(&n, argc, argv) < 0) {
		nsjail_log_err(&n, NSJAIL_WHERE("main"));
		nsrun_status_failed(n.status_fd, &n.err, status);
	} else if (n.wants_help) {
		nsjail_usage(stdout, argv[0]);
		status = fflush(stdout) ? NSJAIL_FAILED : 0;
	} else {
		status = run(&n);
	}
	nsrun_arena_deinit(&n.arena);
	return status;
}
