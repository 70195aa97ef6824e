/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun run: a request becomes a plan becomes a run; then its status. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "helper.h"
#include "host/home.h"
#include "host/identity.h"
#include "host/request.h"
#include "opts.h"
#include "overlay.h"
#include "plan/plan.h"
#include "run/absent.h"
#include "run/handback.h"
#include "run/log.h"
#include "run/probe.h"
#include "run/run.h"
#include "run/status.h"
#include "run/temp.h"
#include "unsandboxed.h"

/*
 * The signals that are passed on, as a descriptor. What the caller had ignored
 * (as nohup does) stays ignored.
 */
static int
open_signals(void)
{
	static const int passed[] = {
		SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT,
	};
	struct sigaction now;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		if (sigaction(passed[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(&set, passed[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * The caller's process, not the thread that made us: a pidfd tells of the end
 * of the former. One that died before we asked has left us to another, who is
 * then watched; one outside our pid namespace cannot be.
 */
static int
open_parent(struct nsrun_err *err)
{
	pid_t parent = getppid();
	int fd;

	if (parent == 0)
		return -1;
	fd = sys_pidfd_open(parent);
	if (fd < 0 || getppid() != parent)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "pidfd_open",
		    "the caller", NULL);
	return fd;
}

static int
exit_status(const struct nsrun_run *run, const struct nsrun_err *err)
{
	if (err->step == NSRUN_STEP_NONE)
		return run->result.status;
	if (err->step == NSRUN_STEP_EXEC)
		return err->errnum == ENOENT && strcmp(err->call,
		    "interpreter") ? HELPER_NOT_FOUND : HELPER_CANNOT_EXEC;
	return run->deadline_hit ? 124 : HELPER_FAILED;
}

/*
 * What was made at a name that a mask kept, by whomever, stands beside it; what
 * was put in a masked one's place may have been seen.
 */
static void
tell_violations(struct nsrun_run *run, const struct opts *opts)
{
	struct nsrun_violation v;
	char moved[PATH_MAX + 256];
	const char *path;

	nsrun_run_wait_janitor(run);
	while ((path = nsrun_run_violation(run, &v))) {
		bool replaced = v.what == NSRUN_VIOLATION_REPLACED;
		const char *what = replaced ? "replaced" : "appeared";
		struct nsrun_err err = NSRUN_ERR_INIT;
		int n = (int)(strrchr(path, '/') - path);

		*moved = '\0';
		if (*v.moved)
			snprintf(moved, sizeof moved, "%.*s/%s", n, path,
			    v.moved);
		nsrun_err_rule(&err, NSRUN_STEP_MASK, replaced ?
		    "was replaced from outside, and masked again a moment"
		    " later" : *moved ?
		    "appeared at a masked name and was moved aside" :
		    "appeared at a masked name and cannot be moved", path,
		    *moved ? moved : NULL);
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
		nsrun_status_violation(opts->status_fd, path, what, moved);
		nsrun_log_violation(opts->log_fd, path, what, moved);
	}
}

/* It did not end by itself: the person at the terminal wants to know why. */
static void
tell_bound(const struct nsrun_run *run)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char subject[64], text[24];
	int kind;

	if (!run->result.limit)
		return;
	kind = nsrun_limit_find(run->result.limit);
	snprintf(subject, sizeof subject, "%s %s", run->result.limit,
	    run->plan->limits[kind].set ? nsrun_limit_text(
	    (enum nsrun_limit_kind)kind, run->plan->limits[kind].value,
	    text) : "");
	if (run->budget.errnum) {
		errno = run->budget.errnum;
		nsrun_err_sys(&err, NSRUN_STEP_LIMIT, "cannot be watched any"
		    " more", subject, NULL);
	} else {
		nsrun_err_rule(&err, NSRUN_STEP_LIMIT,
		    "is used up, and so everything was ended", subject, NULL);
	}
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
}

/* Copies that the command changed, to the host, where that is asked for. */
static void
hand_back(const struct nsrun_run *run, const struct opts *opts)
{
	for (size_t i = 0; i < run->plan->n_returns; i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		int rc = nsrun_handback(run, i, &err);

		/* The command's status stands; that it was not, is told. */
		if (rc < 0)
			nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
		if (rc != 0)
			nsrun_status_handback(opts->status_fd,
			    run->plan->returns[i].host, &err);
	}
}

/* Start it and see it to its end. */
static int
execute(struct nsrun_run *run, const struct opts *opts, struct nsrun_err *err)
{
	if (run->plan->boundary != NSRUN_BOUNDARY_SANDBOX)
		return unsandboxed_run(run, opts->status_fd, opts->log_fd,
		    err);
	if (nsrun_launch(run, err) < 0 ||
	    nsrun_supervise(run, NSRUN_STATE_RUNNING, err) < 0)
		return -1;
	nsrun_status_started(opts->status_fd, run);
	nsrun_log_start(opts->log_fd, run);
	if (nsrun_supervise(run, NSRUN_STATE_ENDED, err) < 0)
		return -1;
	tell_violations(run, opts);
	tell_bound(run);
	hand_back(run, opts);
	nsrun_status_exited(opts->status_fd, run);
	nsrun_log_end(opts->log_fd, run);
	return 0;
}

/*
 * Where only the network namespace is refused, `denied` can do without: its
 * filter lets no socket be made. Nothing has run yet, the probe must agree,
 * and it is a plan of its own, which says so.
 */
static bool
wants_shared_network(const struct nsrun_plan *plan, const struct opts *opts,
    const struct nsrun_run *run, const struct nsrun_err *err)
{
	return run->state != NSRUN_STATE_RUNNING && !run->cancelled &&
	    !run->deadline_hit && !opts->request->share_network &&
	    plan->network == NSRUN_NETWORK_DENIED &&
	    (err->step == NSRUN_STEP_NETWORK ||
	    err->step == NSRUN_STEP_NAMESPACE) &&
	    nsrun_probe_only_network_refused();
}

static int
run_plan(struct opts *opts, const struct nsrun_plan *plan, int signal_fd,
    int watch_fd, bool *again, struct nsrun_err *err)
{
	struct nsrun_run run;
	int status;

	nsrun_run_init(&run, plan);
	run.signal_fd = signal_fd;
	run.own_strings = helper_strings;
	run.n_own_strings = helper_n_strings;
	run.watch_fd = watch_fd;
	execute(&run, opts, err);
	*again = err->step != NSRUN_STEP_NONE &&
	    wants_shared_network(plan, opts, &run, err);
	status = exit_status(&run, err);
	nsrun_run_deinit(&run);
	return status;
}

/* What the session has on the host while it lasts. */
struct held {
	struct nsrun_temp	temp;
	struct nsrun_home_keep	home;
	struct overlay		overlay;
};

/* The plan has decided who the command is: it gets what is its own. */
static int
give(struct opts *opts, struct held *held, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	if (*held->temp.path && nsrun_temp_give(&held->temp,
	    plan->identity.host_uid, plan->identity.host_gid, err) < 0)
		return -1;
	if (overlay_record(&held->overlay, err) < 0)
		return -1;
	return nsrun_home_fill(&held->home, opts->request, plan, err);
}

/* A plan, and where one fallback is due, the plan with that. */
static int
run_request(struct opts *opts, struct held *held, int signal_fd, int watch_fd,
    struct nsrun_err *err)
{
	struct nsrun_plan *plan;
	bool again = false;
	int status = HELPER_FAILED;

	if (nsrun_plan_new(&plan, opts->request, err) < 0)
		return status;
	nsrun_log_preflight(opts->log_fd, plan);
	if (give(opts, held, plan, err) == 0)
		status = run_plan(opts, plan, signal_fd, watch_fd, &again, err);
	nsrun_plan_free(plan);
	if (!again)
		return status;
	*err = (struct nsrun_err)NSRUN_ERR_INIT;
	opts->request->share_network = true;
	return run_request(opts, held, signal_fd, watch_fd, err);
}

static int
hold(struct opts *opts, struct held *held, struct nsrun_err *err)
{
	struct nsrun_request *request = opts->request;
	uid_t uid;
	gid_t gid;

	if (overlay_hold(&held->overlay, request, opts->dry_run, err) < 0 ||
	    nsrun_identity_record(request, err) < 0 ||
	    nsrun_home_hold(&held->home, request, err) < 0)
		return -1;
	if (!request->host_temp)
		return 0;
	nsrun_identity_expect(request, &uid, &gid);
	if (nsrun_temp_make(&held->temp, uid, gid, err) < 0)
		return -1;
	request->temp = held->temp.path;
	return 0;
}

/* The command's status stands; that something is left is told. */
static void
release(struct nsrun_request *request, struct held *held)
{
	struct nsrun_err late = NSRUN_ERR_INIT, later = NSRUN_ERR_INIT;
	struct nsrun_err last = NSRUN_ERR_INIT;

	if (nsrun_temp_release(&held->temp, &late) < 0)
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &late);
	request->temp = NULL;
	if (nsrun_home_release(&held->home, request, &later) < 0)
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &later);
	if (overlay_end(&held->overlay, &last) < 0)
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &last);
	request->overlay_item = NULL;
}

/* With the session's directories on the host, where they are asked for. */
static int
run_session(struct opts *opts, int signal_fd, int watch_fd,
    struct nsrun_err *err)
{
	struct held held = {
		NSRUN_TEMP_INIT, NSRUN_HOME_KEEP_INIT, OVERLAY_INIT,
	};
	int status = HELPER_FAILED;

	if (hold(opts, &held, err) == 0)
		status = run_request(opts, &held, signal_fd, watch_fd, err);
	release(opts->request, &held);
	return status;
}

int
run_opts(struct opts *opts, struct nsrun_err *err)
{
	nsrun_autoclose int watch_fd = -1;
	nsrun_autoclose int signal_fd = -1;
	int status = HELPER_FAILED;

	if (err->step == NSRUN_STEP_NONE && opts->json)
		nsrun_err_rule(err, NSRUN_STEP_OPTION, "belongs to explain",
		    "--json", NULL);
	/* Only now: an option must not name a descriptor of ours. */
	if (err->step == NSRUN_STEP_NONE && (signal_fd = open_signals()) < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "signalfd", NULL,
		    NULL);
	if (err->step == NSRUN_STEP_NONE)
		watch_fd = open_parent(err);
	if (err->step == NSRUN_STEP_NONE) {
		opts->request->for_program = true;
		opts->request->reports = opts->status_fd >= 0;
		status = run_session(opts, signal_fd, watch_fd, err);
	}
	if (err->step != NSRUN_STEP_NONE) {
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", err);
		nsrun_status_failed(opts->status_fd, err, status);
		nsrun_log_denial(opts->log_fd, err, status);
	}
	opts_deinit(opts);
	return status;
}

int
run_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct opts opts;

	if (opts_parse(&opts, argc, argv, &err) == 0 && opts.help) {
		usage_print(stdout);
		opts_deinit(&opts);
		return 0;
	}
	return run_opts(&opts, &err);
}
