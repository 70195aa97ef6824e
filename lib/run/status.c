/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/status.h"

#include <signal.h>

#include "base/err_print.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "run/record.h"
#include "run/run.h"

static void
put_namespaces(struct nsrun_json *j, const struct nsrun_run *run)
{
	nsrun_json_open(j, "namespaces", '{');
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (run->plan->namespaces & nsrun_namespaces[i].flag)
			nsrun_json_number(j, nsrun_namespaces[i].name,
			    run->witness.inodes[i]);
	nsrun_json_close(j, '}');
}

static const char *
mask_word(const struct nsrun_mount *m)
{
	if (m->kind == NSRUN_MOUNT_COVER && m->flags & NSRUN_MOUNT_EXACT)
		return "readonly";
	return m->kind == NSRUN_MOUNT_HIDE ? "hidden" :
	    m->kind == NSRUN_MOUNT_ABSENT ? "absent" : NULL;
}

static void
put_masks(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	nsrun_json_open(j, "masks", '[');
	for (size_t i = 0; i < plan->mounts.n; i++) {
		const struct nsrun_mount *m = &plan->mounts.v[i];

		if (!mask_word(m))
			continue;
		nsrun_json_open(j, NULL, '{');
		nsrun_json_string(j, "path", m->target);
		nsrun_json_string(j, "mask", mask_word(m));
		nsrun_json_close(j, '}');
	}
	nsrun_json_close(j, ']');
}

void
nsrun_status_started(int fd, const struct nsrun_run *run)
{
	const struct nsrun_plan *plan = run->plan;
	const struct nsrun_identity *who = &plan->identity;
	struct nsrun_record r;

	if (!nsrun_record_begin(&r, fd, "started"))
		return;
	nsrun_json_number(&r.json, "pid", (uint64_t)run->pid);
	nsrun_json_string(&r.json, "profile", plan->profile);
	nsrun_json_string(&r.json, "boundary",
	    nsrun_boundary_name(plan->boundary));
	put_namespaces(&r.json, run);
	nsrun_json_string(&r.json, "cgroup", run->cgroup.dir_fd >= 0 ?
	    run->cgroup.name : NULL);
	nsrun_json_string(&r.json, "network", nsrun_plan_network(plan));
	nsrun_json_bool(&r.json, "nesting", plan->nesting);
	nsrun_json_put_filters(&r.json, plan);
	nsrun_json_number(&r.json, "uid", who->uid);
	nsrun_json_number(&r.json, "gid", who->gid);
	nsrun_json_number(&r.json, "host_uid", who->host_uid);
	nsrun_json_number(&r.json, "host_gid", who->host_gid);
	if (who->key)
		nsrun_json_string(&r.json, "key", who->key);
	nsrun_json_bool(&r.json, "root_kept", who->keeps_root);
	if (who->why_kept)
		nsrun_json_string(&r.json, "why_root_kept", who->why_kept);
	nsrun_json_open(&r.json, "unenforced", '[');
	if (who->unlimited && !(run->cgroup.controllers &
	    NSRUN_CONTROLLER_PIDS && run->cgroup.dir_fd >= 0))
		nsrun_json_string(&r.json, NULL, "processes");
	/* In namespaces of its own these have no bound of ours. */
	if (plan->nesting) {
		nsrun_json_string(&r.json, NULL, "tmpfs");
		nsrun_json_string(&r.json, NULL, "ipc");
	}
	nsrun_json_close(&r.json, ']');
	put_masks(&r.json, plan);
	nsrun_json_put_names(&r.json, "features", plan->features,
	    plan->n_features);
	nsrun_json_put_names(&r.json, "fallbacks", plan->fallbacks,
	    plan->n_fallbacks);
	nsrun_json_put_shields(&r.json, plan);
	nsrun_record_finish(&r, fd);
}

static void
limit_record(int fd, const char *name, const char *what, uint64_t bytes)
{
	struct nsrun_record r;

	if (!nsrun_record_begin(&r, fd, "limit"))
		return;
	nsrun_json_string(&r.json, "limit", name);
	nsrun_json_string(&r.json, "what", what);
	if (bytes)
		nsrun_json_number(&r.json, "bytes", bytes);
	nsrun_record_finish(&r, fd);
}

/* Which bounds were met, as far as the end tells. */
static void
put_limits(int fd, const struct nsrun_run *run)
{
	const struct nsrun_result *result = &run->result;

	if (result->reason == NSRUN_REASON_DEADLINE)
		limit_record(fd, "timeout", "killed", 0);
	if (result->limit)
		limit_record(fd, result->limit, "killed", 0);
	if (result->signal == SIGXCPU)
		limit_record(fd, "cpu", "killed", 0);
	if (result->signal == SIGXFSZ)
		limit_record(fd, "file-size", "killed", 0);
	for (int i = 0; i < 2; i++)
		if (result->dropped_bytes[i] &&
		    run->plan->supervision.max_output_bytes)
			limit_record(fd, "max-output", i ? "stderr cut" :
			    "stdout cut", result->dropped_bytes[i]);
}

void
nsrun_status_violation(int fd, const char *path, const char *what,
    const char *moved)
{
	struct nsrun_record r;

	if (!nsrun_record_begin(&r, fd, "violation"))
		return;
	nsrun_json_string(&r.json, "path", path);
	nsrun_json_string(&r.json, "moved", *moved ? moved : NULL);
	nsrun_json_string(&r.json, "what", what);
	nsrun_record_finish(&r, fd);
}

/* What a cgroup and the watcher of writes know, where there are such. */
static void
put_used(struct nsrun_json *j, const struct nsrun_run *run)
{
	const struct nsrun_result *result = &run->result;

	if (result->memory_peak_bytes)
		nsrun_json_number(j, "memory_peak_bytes",
		    result->memory_peak_bytes);
	if (result->processes_peak)
		nsrun_json_number(j, "processes_peak", result->processes_peak);
	if (!run->plan->supervision.watches_writes)
		return;
	nsrun_json_number(j, "grown_bytes", result->grown_bytes);
	nsrun_json_number(j, "grown_inodes", result->grown_inodes);
}

void
nsrun_status_handback(int fd, const char *path, const struct nsrun_err *err)
{
	bool done = err->step == NSRUN_STEP_NONE;
	struct nsrun_record r;

	if (!nsrun_record_begin(&r, fd, "credential"))
		return;
	nsrun_json_string(&r.json, "path", path);
	nsrun_json_bool(&r.json, "returned", done);
	nsrun_json_string(&r.json, "why", done ? NULL : err->call);
	nsrun_record_finish(&r, fd);
}

void
nsrun_status_exited(int fd, const struct nsrun_run *run)
{
	static const char *const reasons[] = {
		[NSRUN_REASON_EXIT]	= "exit",
		[NSRUN_REASON_SIGNAL]	= "signal",
		[NSRUN_REASON_DEADLINE]	= "deadline",
		[NSRUN_REASON_CANCELLED] = "cancelled",
		[NSRUN_REASON_FAILED]	= "failed",
		[NSRUN_REASON_OOM]	= "oom",
		[NSRUN_REASON_LIMIT]	= "limit",
	};
	_Static_assert(sizeof reasons / sizeof *reasons == NSRUN_N_REASONS,
	    "all");
	const struct nsrun_result *result = &run->result;
	struct nsrun_record r;

	put_limits(fd, run);
	if (!nsrun_record_begin(&r, fd, "exited"))
		return;
	nsrun_json_string(&r.json, "reason", reasons[result->reason]);
	if (result->limit)
		nsrun_json_string(&r.json, "limit", result->limit);
	if (result->signal)
		nsrun_json_number(&r.json, "signal", (uint64_t)result->signal);
	else
		nsrun_json_number(&r.json, "code", (uint64_t)result->code);
	nsrun_json_number(&r.json, "status", (uint64_t)result->status);
	nsrun_json_number(&r.json, "wall_ms", result->wall_ms);
	nsrun_json_number(&r.json, "cpu_ms", result->cpu_ms);
	nsrun_json_number(&r.json, "peak_kib", result->peak_kib);
	nsrun_json_number(&r.json, "killed", result->n_killed);
	nsrun_json_number(&r.json, "stdout_bytes", result->out_bytes[0]);
	nsrun_json_number(&r.json, "stderr_bytes", result->out_bytes[1]);
	nsrun_json_number(&r.json, "dropped_bytes",
	    result->dropped_bytes[0] + result->dropped_bytes[1]);
	put_used(&r.json, run);
	nsrun_record_finish(&r, fd);
}

void
nsrun_status_failed(int fd, const struct nsrun_err *err, int status)
{
	struct nsrun_record r;

	if (!nsrun_record_begin(&r, fd, "failed"))
		return;
	nsrun_json_string(&r.json, "step", nsrun_step_name(err->step));
	nsrun_json_string(&r.json, "call", err->call);
	nsrun_json_string(&r.json, "errno", nsrun_errno_name(err->errnum));
	nsrun_json_string(&r.json, "subject", err->subject);
	nsrun_json_string(&r.json, "category", nsrun_err_category(err));
	nsrun_json_string(&r.json, "hint", nsrun_err_hint(err));
	nsrun_json_number(&r.json, "status", (uint64_t)status);
	nsrun_record_finish(&r, fd);
}
