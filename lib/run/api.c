/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A run as nsrun.h gives it to a C host. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "run/absent.h"
#include "run/handback.h"
#include "run/run.h"

/*
 * Supervise without a SIGPIPE for the host: a reader of its standard output
 * that went away, or a sandbox that is gone already, is not its death.
 */
static int
supervise(struct nsrun_run *run, enum nsrun_run_state until,
    struct nsrun_err *err)
{
	static const struct timespec now = { 0 };
	sigset_t pipe, pending, saved;
	bool was_pending;
	int rc;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE);
	errno = pthread_sigmask(SIG_BLOCK, &pipe, &saved);
	if (errno)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE,
		    "pthread_sigmask", NULL, NULL);
	rc = nsrun_supervise(run, until, err);
	/* Ours is taken back; one that was waiting before is the host's. */
	while (!was_pending && sigtimedwait(&pipe, NULL, &now) > 0)
		continue;
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	return rc;
}

int
nsrun_start(struct nsrun_run **run, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	struct nsrun_run *r = malloc(sizeof *r);

	*run = NULL;
	if (!r)
		return nsrun_err_nomem(err, "run");
	nsrun_run_init(r, plan);
	if (nsrun_launch(r, err) < 0 ||
	    supervise(r, NSRUN_STATE_RUNNING, err) < 0) {
		nsrun_run_free(r);
		return -1;
	}
	*run = r;
	return 0;
}

int
nsrun_pidfd(const struct nsrun_run *run)
{
	return run->pidfd;
}

int
nsrun_stop(struct nsrun_run *run, struct nsrun_err *err)
{
	static const uint64_t one = 1;

	if (write(run->stop_fd, &one, sizeof one) < 0 && errno != EAGAIN)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "eventfd", NULL,
		    NULL);
	return 0;
}

int
nsrun_wait(struct nsrun_run *run, struct nsrun_result *result,
    struct nsrun_err *err)
{
	int rc = supervise(run, NSRUN_STATE_ENDED, err);
	struct nsrun_violation v;

	/* No mount point of ours is left when the host goes on. */
	nsrun_run_wait_janitor(run);
	while (nsrun_run_violation(run, &v))
		run->result.n_violations++;
	for (size_t i = 0; rc == 0 && i < run->plan->n_returns; i++) {
		struct nsrun_err why = NSRUN_ERR_INIT;
		int back = nsrun_handback(run, i, &why);

		run->result.n_returned += back > 0;
		run->result.n_not_returned += back < 0;
	}
	*result = run->result;
	if (rc < 0)
		*result = (struct nsrun_result){
			.reason = NSRUN_REASON_FAILED, .status = 125,
		};
	return rc;
}

void
nsrun_run_free(struct nsrun_run *run)
{
	if (!run)
		return;
	nsrun_run_deinit(run);
	free(run);
}
