/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The weakened launcher: weak --weak WORD[,WORD]... [OPTION VALUE]... -- CMD
 *
 * It makes the plan as oc-nsrun does, takes one protection out of it, and runs
 * what is left: what then succeeds was held back by that protection. A plan is
 * plain data, so the product has no switch for this, and this is not installed.
 */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "policy/embedded.h"

extern char **environ;

static const struct sock_filter allow_all[] = {
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct nsrun_filter no_filter = {
	.name = "none", .variant = "", .sha256 = "", .insns = allow_all,
	.n_insns = 1,
};
/* The kernel refuses a program that does not end with a verdict. */
static const struct sock_filter cut_short[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
};
static const struct nsrun_filter bad_filter = {
	.name = "bad", .variant = "", .sha256 = "", .insns = cut_short,
	.n_insns = 1,
};

static void
drop_mount(struct nsrun_plan *plan, size_t i)
{
	struct nsrun_mounts *m = &plan->mounts;

	memmove(&m->v[i], &m->v[i + 1], (m->n - i - 1) * sizeof *m->v);
	m->n--;
}

/* All entries of a kind, below /proc or, for the controls, elsewhere. */
static void
drop_kind(struct nsrun_plan *plan, enum nsrun_mount_kind kind, int in_proc)
{
	for (size_t i = plan->mounts.n; i-- > 0; )
		if (plan->mounts.v[i].kind == kind && in_proc ==
		    !strncmp(plan->mounts.v[i].target, "/proc/", 6))
			drop_mount(plan, i);
}

static void
no_covers(struct nsrun_plan *plan)
{
	drop_kind(plan, NSRUN_MOUNT_COVER, 1);
}

static void
no_controls(struct nsrun_plan *plan)
{
	drop_kind(plan, NSRUN_MOUNT_COVER, 0);
}

static void
no_masks(struct nsrun_plan *plan)
{
	drop_kind(plan, NSRUN_MOUNT_MASK, 1);
}

/* The tree and granted roots become writable; a recursive bind may not be. */
static void
no_readonly(struct nsrun_plan *plan)
{
	plan->mounts.v[0].flags &= ~(unsigned int)NSRUN_MOUNT_RDONLY;
	for (size_t i = 0; i < plan->mounts.n; i++)
		if (plan->mounts.v[i].flags & NSRUN_MOUNT_GRANT)
			plan->mounts.v[i].flags &= ~(unsigned int)
			    (NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE);
}

static void
no_filters(struct nsrun_plan *plan)
{
	plan->filters[0] = &no_filter;
	plan->n_filters = 1;
}

static void
bad_filters(struct nsrun_plan *plan)
{
	plan->filters[0] = &bad_filter;
	plan->n_filters = 1;
}

static void
no_nosetid(struct nsrun_plan *plan)
{
	plan->n_filters = 1;
}

static void
no_limits(struct nsrun_plan *plan)
{
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		plan->limits[i].set = false;
}

static void
no_sysctls(struct nsrun_plan *plan)
{
	plan->n_sysctls = 0;
}

/* The command is uid 0 of the namespace that owns the mounts. */
static void
no_lock(struct nsrun_plan *plan)
{
	plan->identity.lock_namespaces = false;
	plan->identity.uid = plan->identity.gid = 0;
}

static void
no_netns(struct nsrun_plan *plan)
{
	plan->namespaces &= ~(uint64_t)CLONE_NEWNET;
	plan->loopback = false;
	plan->network = NSRUN_NETWORK_DENIED;
}

static void
inherit_stdio(struct nsrun_plan *plan)
{
	plan->stdio[0] = plan->stdio[1] = plan->stdio[2] =
	    NSRUN_STDIO_INHERIT;
	plan->supervision.max_output_bytes = 0;
}

static void
inherit_env(struct nsrun_plan *plan)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	for (char **e = environ; *e; e++) {
		char *name = strdup(*e), *equals = name ? strchr(name, '=') :
		    NULL;

		if (equals) {
			*equals = '\0';
			nsrun_plan_set_env(plan, name, equals + 1, &err);
		}
		free(name);
	}
}

/* Not a protection less, but a bound that can be reached quickly. */
static void
small_scratch(struct nsrun_plan *plan)
{
	plan->mounts.v[0].size_bytes = 4 << 20;
	plan->mounts.v[0].n_inodes = 400;
}

static const struct {
	const char *word;
	void (*edit)(struct nsrun_plan *plan);
} weaknesses[] = {
	{ "badfilter", bad_filters },
	{ "controls", no_controls },
	{ "covers", no_covers },
	{ "env", inherit_env },
	{ "filter", no_filters },
	{ "limits", no_limits },
	{ "lock", no_lock },
	{ "masks", no_masks },
	{ "netns", no_netns },
	{ "nosetid", no_nosetid },
	{ "readonly", no_readonly },
	{ "scratch", small_scratch },
	{ "stdio", inherit_stdio },
	{ "sysctls", no_sysctls },
};

static int
weaken(struct nsrun_plan *plan, const char *words)
{
	for (const char *s = words; *s; s += *s == ',') {
		size_t n = strcspn(s, ","), i;

		for (i = 0; i < sizeof weaknesses / sizeof *weaknesses; i++)
			if (strlen(weaknesses[i].word) == n &&
			    !strncmp(weaknesses[i].word, s, n))
				break;
		if (i == sizeof weaknesses / sizeof *weaknesses)
			return -1;
		weaknesses[i].edit(plan);
		s += n;
	}
	return 0;
}

static int
run(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	struct nsrun_result result = { .status = 125 };
	struct nsrun_run *r;

	if (nsrun_start(&r, plan, err) < 0)
		return 125;
	if (nsrun_wait(r, &result, err) < 0)
		result.status = 125;
	nsrun_run_free(r);
	return result.status;
}

static int
count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* The same plan over and over, as a host that lives for long. */
static int
run_times(const struct nsrun_plan *plan, int times, struct nsrun_err *err)
{
	int status = run(plan, err), before = count_descriptors();

	for (int i = 1; i < times && status == 0; i++)
		status = run(plan, err);
	if (times > 1)
		printf("%d launches, %d more descriptors, %s\n", times,
		    count_descriptors() - before,
		    waitpid(-1, NULL, __WALL | WNOHANG) < 0 ? "0 children" :
		    "children");
	return status;
}

/* Options in pairs, up to "--". */
static int
parse(struct nsrun_request *request, char *argv[], const char **words,
    int *times, struct nsrun_err *err)
{
	for (; argv[0] && argv[1] && strcmp(argv[0], "--"); argv += 2)
		if (!strcmp(argv[0], "--weak"))
			*words = argv[1];
		else if (!strcmp(argv[0], "--times"))
			*times = atoi(argv[1]);
		else if (strncmp(argv[0], "--", 2) || nsrun_request_set(request,
		    argv[0] + 2, argv[1], err) < 0)
			return -1;
	if (!argv[0] || !argv[1])
		return -1;
	return nsrun_request_set_command(request, argv + 1, err);
}

int
main(int argc, char *argv[])
{
	struct nsrun_request *request = nsrun_request_new();
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_plan *plan = NULL;
	const char *words = "";
	int status = 125, times = 1;

	if (!request || argc < 1)
		return status;
	if (parse(request, argv + 1, &words, &times, &err) < 0)
		fprintf(stderr, "weak: bad arguments\n");
	else if (nsrun_plan_new(&plan, request, &err) == 0 &&
	    weaken(plan, words) < 0)
		fprintf(stderr, "weak: %s: no such weakness\n", words);
	else if (plan)
		status = run_times(plan, times, &err);
	if (err.step != NSRUN_STEP_NONE)
		nsrun_err_print(STDERR_FILENO, "weak", &err);
	nsrun_plan_free(plan);
	nsrun_request_free(request);
	return status;
}
