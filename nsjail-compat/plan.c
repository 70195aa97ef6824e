/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the settings to a plan: namespaces, process, environment, command. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"
#include "nsjail.h"

extern char **environ;

static void
set_namespaces(const struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_config *c = &n->config;
	const struct {
		bool so;
		uint64_t flag;
	} all[] = {
		{ c->newnet, CLONE_NEWNET }, { c->newuser, CLONE_NEWUSER },
		{ c->newns, CLONE_NEWNS }, { c->newpid, CLONE_NEWPID },
		{ c->newipc, CLONE_NEWIPC }, { c->newuts, CLONE_NEWUTS },
		{ c->newcgroup, CLONE_NEWCGROUP },
		{ c->newtime, CLONE_NEWTIME },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].so)
			plan->namespaces |= all[i].flag;
	plan->network = NSRUN_NETWORK_ISOLATED;
	plan->loopback = c->newnet && !c->iface_no_lo;
	plan->hostname = c->newuts ? c->hostname : NULL;
}

static void
set_caps(const struct nsjail *n, struct nsrun_process *process)
{
	const char *const *names = n->config.cap.v;

	for (size_t i = 0; i < n->config.cap.n; i++) {
		int cap = nsjail_cap_find(names[i]);

		/* A configuration's: the command has less, not more. */
		if (cap < 0)
			nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("initNs"),
			    "there is no capability '%s' to keep", names[i]);
		else
			process->caps |= (uint64_t)1 << cap;
	}
	if (n->config.keep_caps)
		process->caps = ~(uint64_t)0;
}

static unsigned long
get_personality(const struct nsjail_config *c)
{
	return (c->persona_compat_layout ? ADDR_COMPAT_LAYOUT : 0UL) |
	    (c->persona_mmap_page_zero ? MMAP_PAGE_ZERO : 0UL) |
	    (c->persona_read_implies_exec ? READ_IMPLIES_EXEC : 0UL) |
	    (c->persona_limit_3gb ? ADDR_LIMIT_3GB : 0UL) |
	    (c->persona_no_randomize ? ADDR_NO_RANDOMIZE : 0UL);
}

static void
set_process(const struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_config *c = &n->config;
	struct nsrun_process *process = &plan->process;
	/* One that is to be like no jailer at all hears of every signal. */
	bool execve = c->mode == NSJAIL_EXECVE;
	bool init = n->init || execve;

	process->in_place = !init;
	process->names_command = init && (execve || c->forward_signals);
	process->spares_init = init;
	/* What may pass is marked already, by mark_fds(). */
	process->keeps_fds = true;
	process->free_caps = true;
	process->literal = true;
	process->new_privs = c->disable_no_new_privs && !plan->n_filters;
	process->log_filters = c->seccomp_log;
	process->no_tsc = c->disable_tsc;
	process->core_group = c->use_core_scheduling;
	process->session = c->skip_setsid ? NSRUN_SESSION_CALLER : init ?
	    NSRUN_SESSION_OWN : NSRUN_SESSION_SHARED;
	process->sets_oom_score = c->has_oom_score_adj;
	process->oom_score_adj = c->oom_score_adj;
	process->sets_nice = true;
	process->nice = c->nice_level;
	process->max_cpus = c->max_cpus;
	process->personality = get_personality(c);
	plan->supervision.thread_is_process = true;
	if (c->mode == NSJAIL_LISTEN) {
		plan->supervision.ends_with_input = true;
		for (int i = 0; i < 3; i++)
			plan->stdio[i] = c->silent || (c->stderr_to_null &&
			    i == 2) ? NSRUN_STDIO_INHERIT : NSRUN_STDIO_RELAY;
	}
	if (!execve)
		plan->supervision.timeout_ms = (uint64_t)c->time_limit * 1000 +
		    c->time_limit_ms;
	set_caps(n, process);
}

/* NAME=VALUE, or NAME alone: the caller's. */
static int
add_variable(struct nsjail *n, struct nsrun_plan *plan, const char *entry)
{
	char *name = nsrun_arena_strdup(&n->arena, entry), *value;

	if (!name)
		return nsjail_nomem(n);
	value = strchr(name, '=');
	if (value) {
		*value++ = '\0';
	} else {
		value = getenv(name);
		if (!value) {
			nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("addEnv"),
			    "Requested to use the '%s' envar, but it's not"
			    " set. It'll be ignored", name);
			return 0;
		}
	}
	if (!*name)
		return nsjail_refuse(n, "env", "a variable without a name",
		    entry);
	return nsrun_plan_set_env(plan, name, value, &n->err);
}

static int
set_environment(struct nsjail *n, struct nsrun_plan *plan)
{
	const char *const *v = n->config.envar.v;

	for (char **e = environ; n->config.keep_env && *e; e++)
		if (**e != '=' && strchr(*e, '=') &&
		    add_variable(n, plan, *e) < 0)
			return -1;
	for (size_t i = 0; i < n->config.envar.n; i++)
		if (add_variable(n, plan, v[i]) < 0)
			return -1;
	if (!plan->env) {
		plan->env = nsrun_arena_alloc(&plan->arena, sizeof *plan->env);
		if (!plan->env)
			return nsjail_nomem(n);
	}
	return 0;
}

/* argv of the configuration's exec_bin, which ends in NULL; NULL: no memory. */
static char **
configured_argv(struct nsjail *n, const struct nsjail_exe *exe)
{
	const char *const *args = exe->args.v;
	char **argv = nsrun_arena_alloc(&n->arena, (exe->args.n + 2) *
	    sizeof *argv);

	if (!argv)
		return NULL;
	argv[0] = (char *)(uintptr_t)(exe->arg0 ? exe->arg0 : exe->path);
	for (size_t i = 0; i < exe->args.n; i++)
		argv[i + 1] = (char *)(uintptr_t)args[i];
	return argv;
}

/*
 * Words of the command line replace the arguments; what is executed stays the
 * configuration's, if that names something. No PATH is searched.
 */
static int
set_command(struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_exe *exe = n->config.exec_bin;
	char **argv = n->command;
	const char *file;

	if (!*argv && (!exe || !exe->path))
		return nsrun_err_rule(&n->err, NSRUN_STEP_OPTION,
		    "no command was given", "--", NULL);
	if (!*argv && !(argv = configured_argv(n, exe)))
		return nsjail_nomem(n);
	file = exe && exe->path ? exe->path : argv[0];
	if (exe && exe->path && n->command[0] && strcmp(file, argv[0]))
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("setupArgv"),
		    "'%s' is executed with the name '%s'; -x replaces it",
		    file, argv[0]);
	if (!strchr(file, '/')) {
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("setupArgv"),
		    "'%s' is looked for in the working directory; PATH is not"
		    " searched", file);
		file = nsrun_arena_printf(&n->arena, "./%s", file);
		if (!file)
			return nsjail_nomem(n);
	}
	plan->process.file = file;
	if (exe && exe->exec_fd) {
		plan->process.exec_fd = open(file, O_PATH | O_CLOEXEC);
		if (plan->process.exec_fd < 0)
			return nsrun_err_sys(&n->err, NSRUN_STEP_EXEC, "open",
			    file, NULL);
	}
	return nsrun_plan_set_argv(plan, argv, &n->err);
}

/* Relative is relative to the new root. */
static int
set_cwd(struct nsjail *n, struct nsrun_plan *plan)
{
	const char *cwd = n->config.cwd;

	plan->cwd = *cwd == '/' ? cwd : nsrun_arena_printf(&n->arena, "/%s",
	    cwd);
	return plan->cwd ? 0 : nsjail_nomem(n);
}

/*
 * Of what the caller left open, only what is to pass survives exec. Ours are
 * marked from the start, so that a number of ours is never taken for his.
 */
static int
mark_fds(struct nsjail *n)
{
	const int32_t *fds = n->pass_fds.v;
	bool *passes = nsrun_arena_alloc(&n->arena, n->pass_fds.n + 1);

	if (!passes)
		return nsjail_nomem(n);
	for (size_t i = 0; i < n->pass_fds.n; i++)
		passes[i] = fcntl(fds[i], F_GETFD) == 0;
	if (sys_close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
		return nsrun_err_sys(&n->err, NSRUN_STEP_FD, "close_range",
		    NULL, NULL);
	for (size_t i = 0; i < n->pass_fds.n; i++)
		if (passes[i] && fcntl(fds[i], F_SETFD, 0) < 0)
			return nsrun_err_sys(&n->err, NSRUN_STEP_FD, "fcntl",
			    "--pass_fd", NULL);
	return 0;
}

int
nsjail_plan(struct nsjail *n, struct nsrun_plan *plan)
{
	set_namespaces(n, plan);
	if (mark_fds(n) < 0 || nsjail_plan_filter(n, plan) < 0)
		return -1;
	set_process(n, plan);
	if (nsjail_plan_ids(n, plan) < 0 || nsjail_plan_limits(n, plan) < 0 ||
	    nsjail_plan_cgroups(n, plan) < 0 || nsjail_plan_net(n, plan) < 0 ||
	    nsjail_plan_mounts(n, plan) < 0 || set_environment(n, plan) < 0 ||
	    set_cwd(n, plan) < 0 || set_command(n, plan) < 0)
		return -1;
	nsjail_doubt_memory(n, plan);
	return nsrun_plan_check(plan, &n->err);
}
