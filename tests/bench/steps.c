/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the time of one launch goes: the plan, what is prepared, the clone, and
 * each step of lib/apply/child.c, timed in the child that makes it. What comes
 * after (exec, the command, the teardown) is in the totals of the other tables.
 */
#include "bench.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/prep.h"
#include "run/run.h"

static const struct {
	const char *name;
	int (*apply)(const struct nsrun_prep *prep, struct nsrun_child *child,
	    struct nsrun_err *err);
} steps[] = {
	{ "id maps", nsrun_apply_idmap },
	{ "mount tree", nsrun_apply_mounts },
	{ "pivot_root, old root away", nsrun_apply_pivot },
	{ "loopback", nsrun_apply_network },
	{ "host name", nsrun_apply_hostname },
	{ "terminal", nsrun_apply_terminal },
	{ "second user namespace", nsrun_apply_lock },
	{ "namespaces' numbers", nsrun_apply_witness },
	{ "descriptors", nsrun_apply_fds },
	{ "core limit", nsrun_apply_core_limit },
	{ "capabilities", nsrun_apply_caps },
	{ "working directory", nsrun_apply_cwd },
	{ "pid 1 opaque, setsid", nsrun_apply_privacy },
	{ "filter", nsrun_apply_filter },
};
enum { N_STEPS = sizeof steps / sizeof *steps };
enum { PLAN, PREPARE, CLONE, CHILD_READY, FIRST_STEP };

static int64_t spent[FIRST_STEP + N_STEPS][BENCH_MAX_RUNS];

/* Shared with the child. */
struct stamps {
	int64_t	ready;
	int64_t	after[N_STEPS];
};

static _Noreturn void
child(const struct nsrun_prep *prep, struct stamps *stamps)
{
	struct nsrun_child c = {
		.root_fd = -1, .dir_fd = -1, .sys_fd = -1, .terminal_fd = -1,
		.umask = umask(0),
	};
	struct nsrun_err err = NSRUN_ERR_INIT;

	stamps->ready = bench_now_ns();
	for (int i = 0; i < N_STEPS; i++) {
		if (steps[i].apply(prep, &c, &err) < 0)
			_exit(1);
		stamps->after[i] = bench_now_ns();
	}
	_exit(0);
}

static void
one_launch(const struct nsrun_request *request, struct stamps *stamps, int run)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	struct nsrun_prepared prepared;
	struct nsrun_plan *plan;
	struct nsrun_run r;
	int64_t t0 = bench_now_ns(), t1, t2, t3;
	int status;
	pid_t pid;

	if (nsrun_plan_new(&plan, request, &err) < 0)
		bench_die("plan");
	t1 = bench_now_ns();
	nsrun_run_init(&r, plan);
	nsrun_prepared_init(&prepared);
	if (nsrun_prepared_build(&prepared, &r, &err) < 0)
		bench_die("prepare");
	args.flags |= plan->namespaces;
	t2 = bench_now_ns();
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		child(&prepared.prep, stamps);
	t3 = bench_now_ns();
	if (pid < 0 || waitpid(pid, &status, __WALL) != pid || status != 0)
		bench_die("child");
	spent[PLAN][run] = t1 - t0;
	spent[PREPARE][run] = t2 - t1;
	spent[CLONE][run] = t3 - t2;
	spent[CHILD_READY][run] = stamps->ready - t2;
	for (int i = 0; i < N_STEPS; i++)
		spent[FIRST_STEP + i][run] = stamps->after[i] -
		    (i ? stamps->after[i - 1] : stamps->ready);
	nsrun_prepared_deinit(&prepared);
	nsrun_run_deinit(&r);
	nsrun_plan_free(plan);
}

static void
print_row(const char *name, int64_t *ns, int n)
{
	printf("  %-28s %7.1f %7.1f %7.1f\n", name,
	    (double)bench_quantile(ns, n, 0.5) / 1000,
	    (double)bench_quantile(ns, n, 0.1) / 1000,
	    (double)bench_quantile(ns, n, 0.99) / 1000);
}

void
bench_steps(const char *project, const char *payload, int n)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_request *request = nsrun_request_new();
	char *argv[] = { (char *)(uintptr_t)payload, NULL };
	struct stamps *stamps = mmap(NULL, sizeof *stamps,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (stamps == MAP_FAILED || !request ||
	    nsrun_request_set(request, "project", project, &err) < 0 ||
	    nsrun_request_set_command(request, argv, &err) < 0)
		bench_die("request");
	/* A root caller's own ids serve: whom it becomes is another matter. */
	nsrun_request_set(request, "as", "keep", &err);
	for (int i = 0; i < n; i++)
		one_launch(request, stamps, i);
	printf("\nwhere one launch goes (us, %d)     median     p10     p99\n",
	    n);
	print_row("plan, from the host", spent[PLAN], n);
	print_row("prepare", spent[PREPARE], n);
	print_row("clone3, in the parent", spent[CLONE], n);
	print_row("clone3, to the child's start", spent[CHILD_READY], n);
	for (int i = 0; i < N_STEPS; i++)
		print_row(steps[i].name, spent[FIRST_STEP + i], n);
	nsrun_request_free(request);
}
