/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/log.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/err_print.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "run/record.h"
#include "run/run.h"

/* A record with what all have: when, and which launch. */
static bool
begin(struct nsrun_record *r, int fd, const char *event)
{
	struct timespec now;
	struct tm utc;
	char text[64];
	size_t n;

	if (!nsrun_record_begin(r, fd, event))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	n = gmtime_r(&now.tv_sec, &utc) ?
	    strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc) : 0;
	snprintf(text + n, sizeof text - n, ".%03uZ",
	    (unsigned int)(now.tv_nsec / 1000000));
	nsrun_json_string(&r->json, "time", text);
	nsrun_json_number(&r->json, "launch", (uint64_t)getpid());
	return true;
}

static void
log_grant(int fd, const char *kind, const char *name, const char *access)
{
	struct nsrun_record r;

	if (!begin(&r, fd, "grant"))
		return;
	nsrun_json_string(&r.json, "kind", kind);
	nsrun_json_string(&r.json, "name", name);
	if (access)
		nsrun_json_string(&r.json, "access", access);
	nsrun_record_finish(&r, fd);
}

/* Names and paths only: a value may be a secret. */
static void
log_grants(int fd, const struct nsrun_plan *plan)
{
	for (size_t i = 0; i < plan->mounts.n; i++) {
		const struct nsrun_mount *m = &plan->mounts.v[i];

		if (m->flags & NSRUN_MOUNT_GRANT)
			log_grant(fd, "root", m->target,
			    m->flags & NSRUN_MOUNT_RDONLY ? "read-only" :
			    "read-write");
	}
	for (size_t i = 0; i < plan->n_granted; i++)
		log_grant(fd, "variable", plan->granted[i], NULL);
	if (plan->server)
		log_grant(fd, "server", plan->server, NULL);
	if (plan->repository)
		log_grant(fd, "repository", plan->repository, "read-write");
	if (plan->boundary != NSRUN_BOUNDARY_SANDBOX)
		log_grant(fd, "boundary", nsrun_boundary_name(plan->boundary),
		    NULL);
}

void
nsrun_log_preflight(int fd, const struct nsrun_plan *plan)
{
	struct nsrun_record r;

	if (!begin(&r, fd, "preflight"))
		return;
	nsrun_json_string(&r.json, "profile", plan->profile);
	nsrun_json_string(&r.json, "boundary",
	    nsrun_boundary_name(plan->boundary));
	nsrun_json_string(&r.json, "network", nsrun_plan_network(plan));
	nsrun_json_put_filters(&r.json, plan);
	nsrun_json_put_names(&r.json, "fallbacks", plan->fallbacks,
	    plan->n_fallbacks);
	nsrun_record_finish(&r, fd);
	log_grants(fd, plan);
}

void
nsrun_log_start(int fd, const struct nsrun_run *run)
{
	struct nsrun_record r;

	if (!begin(&r, fd, "start"))
		return;
	nsrun_json_number(&r.json, "pid", (uint64_t)run->pid);
	nsrun_json_string(&r.json, "profile", run->plan->profile);
	nsrun_record_finish(&r, fd);
}

static void
log_cancellation(int fd, const struct nsrun_run *run)
{
	struct nsrun_record r;

	if ((run->result.reason != NSRUN_REASON_CANCELLED &&
	    run->result.reason != NSRUN_REASON_DEADLINE) ||
	    !begin(&r, fd, "cancellation"))
		return;
	nsrun_json_string(&r.json, "by", run->result.reason ==
	    NSRUN_REASON_DEADLINE ? "deadline" : run->stop_signal ? "signal" :
	    "caller");
	if (run->stop_signal)
		nsrun_json_number(&r.json, "signal",
		    (uint64_t)run->stop_signal);
	nsrun_record_finish(&r, fd);
}

void
nsrun_log_violation(int fd, const char *path, const char *what,
    const char *moved)
{
	struct nsrun_record r;

	if (!begin(&r, fd, "violation"))
		return;
	nsrun_json_string(&r.json, "path", path);
	nsrun_json_string(&r.json, "moved", *moved ? moved : NULL);
	nsrun_json_string(&r.json, "what", what);
	nsrun_record_finish(&r, fd);
}

void
nsrun_log_end(int fd, const struct nsrun_run *run)
{
	const struct nsrun_result *result = &run->result;
	struct nsrun_record r;

	log_cancellation(fd, run);
	if (!begin(&r, fd, "termination"))
		return;
	nsrun_json_number(&r.json, "status", (uint64_t)result->status);
	if (result->signal)
		nsrun_json_number(&r.json, "signal", (uint64_t)result->signal);
	nsrun_json_number(&r.json, "wall_ms", result->wall_ms);
	nsrun_json_number(&r.json, "killed", result->n_killed);
	nsrun_record_finish(&r, fd);
}

void
nsrun_log_denial(int fd, const struct nsrun_err *err, int status)
{
	struct nsrun_record r;

	if (!begin(&r, fd, "denial"))
		return;
	nsrun_json_string(&r.json, "category", nsrun_err_category(err));
	nsrun_json_string(&r.json, "step", nsrun_step_name(err->step));
	nsrun_json_string(&r.json, "call", err->call);
	nsrun_json_string(&r.json, "errno", nsrun_errno_name(err->errnum));
	nsrun_json_string(&r.json, "subject", err->subject);
	nsrun_json_number(&r.json, "status", (uint64_t)status);
	nsrun_record_finish(&r, fd);
}
