/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits, and the filter. */
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"
#include "kafel.h"
#include "nsjail.h"
#include "policy/embedded.h"

static const struct {
	enum nsrun_limit_kind kind;
	uint64_t unit;
	const char *name;
} limits[NSJAIL_N_LIMITS] = {
	[NSJAIL_AS]	= { NSRUN_LIMIT_ADDRESS_SPACE, 1 << 20, "rlimit_as" },
	[NSJAIL_CORE]	= { NSRUN_LIMIT_CORE, 1 << 20, "rlimit_core" },
	[NSJAIL_CPU]	= { NSRUN_LIMIT_CPU, 1, "rlimit_cpu" },
	[NSJAIL_FSIZE]	= { NSRUN_LIMIT_FILE_SIZE, 1 << 20, "rlimit_fsize" },
	[NSJAIL_NOFILE]	= { NSRUN_LIMIT_FILES, 1, "rlimit_nofile" },
	[NSJAIL_NPROC]	= { NSRUN_LIMIT_PROCESSES, 1, "rlimit_nproc" },
	[NSJAIL_STACK]	= { NSRUN_LIMIT_STACK, 1 << 20, "rlimit_stack" },
	[NSJAIL_MEMLOCK] = { NSRUN_LIMIT_LOCKED, 1 << 10, "rlimit_memlock" },
	[NSJAIL_RTPRIO]	= { NSRUN_LIMIT_REALTIME, 1, "rlimit_rtprio" },
	[NSJAIL_MSGQUEUE] = { NSRUN_LIMIT_MESSAGES, 1, "rlimit_msgqueue" },
};

static uint64_t
machine_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size :
	    UINT64_MAX / 1024;
}

/* What was meant cannot be known; that it was not this can. */
static void
doubt(const struct nsjail *n, int i, uint64_t value, const struct rlimit *now)
{
	if (limits[i].unit == 1 << 20 && value != RLIM_INFINITY &&
	    value / 1024 > machine_bytes())
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("setLimits"),
		    "%s is in MiB; %llu of them are more than a thousand times"
		    " this machine's memory", limits[i].name,
		    (unsigned long long)n->config.limits[i]);
	if (value != RLIM_INFINITY && value > now->rlim_max)
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("setLimits"),
		    "%s is no higher than the caller's own hard limit, %llu",
		    limits[i].name, (unsigned long long)now->rlim_max);
}

/*
 * Programs that reserve far more address space than they use. They are known
 * by name alone: "node20" and "/usr/bin/java" are meant, a script is not.
 */
static bool
reserves_much(const char *file)
{
	static const char *const names[] = {
		"bun", "chrome", "chromium", "deno", "dotnet", "firefox",
		"java", "javac", "node", "nodejs", "wasmtime",
	};
	const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 :
	    file;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(name, names[i], len) &&
		    !name[len + strspn(name + len, "0123456789.-")])
			return true;
	}
	return false;
}

void
nsjail_doubt_memory(const struct nsjail *n, const struct nsrun_plan *plan)
{
	const struct nsrun_limit *limit =
	    &plan->limits[NSRUN_LIMIT_ADDRESS_SPACE];
	enum { ENOUGH_GIB = 64 };

	if (limit->set && limit->value < (uint64_t)ENOUGH_GIB << 30 &&
	    reserves_much(plan->process.file))
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("setLimits"),
		    "'%s' reserves more address space than it uses, and is"
		    " known to fail with rlimit_as at %llu MiB; --rlimit_as inf"
		    " and a limit of a cgroup serve it better",
		    plan->process.file,
		    (unsigned long long)limit->value >> 20);
}

int
nsjail_plan_limits(struct nsjail *n, struct nsrun_plan *plan)
{
	for (int i = 0; i < NSJAIL_N_LIMITS && !n->config.disable_rl; i++) {
		uint64_t value = n->config.limits[i];
		struct rlimit now;

		if (getrlimit(nsrun_limit_resource(limits[i].kind), &now) < 0)
			return nsrun_err_sys(&n->err, NSRUN_STEP_LIMIT,
			    "getrlimit", limits[i].name, NULL);
		switch ((enum nsjail_limit_type)n->config.limit_types[i]) {
		case NSJAIL_SOFT:
			value = now.rlim_cur;
			break;
		case NSJAIL_HARD:
			value = now.rlim_max;
			break;
		case NSJAIL_INF:
			value = RLIM_INFINITY;
			break;
		case NSJAIL_VALUE:
			if (value > RLIM_INFINITY / limits[i].unit)
				value = RLIM_INFINITY;
			else
				value *= limits[i].unit;
			doubt(n, i, value, &now);
			break;
		}
		plan->limits[limits[i].kind] = (struct nsrun_limit){
			.set = true, .exact = true, .value = value,
		};
	}
	return 0;
}

/* The strings are lines of one policy. */
static int
join(struct nsjail *n, struct kafel_source *source)
{
	const struct nsjail_list *list = &n->config.seccomp_string;
	const char *const *v = list->v;
	size_t len = 0;
	char *text, *at;

	for (size_t i = 0; i < list->n; i++)
		len += strlen(v[i]) + 1;
	text = at = nsrun_arena_alloc(&n->arena, len + 1);
	if (!text)
		return nsjail_nomem(n);
	for (size_t i = 0; i < list->n; i++) {
		size_t k = strlen(v[i]);

		memcpy(at, v[i], k);
		at[k] = '\n';
		at += k + 1;
	}
	*source = (struct kafel_source){
		.name = "seccomp_string", .text = text, .len = len,
	};
	return 0;
}

int
nsjail_plan_filter(struct nsjail *n, struct nsrun_plan *plan)
{
	const char *file = n->config.seccomp_file;
	struct kafel_source source = { .name = file };
	struct kafel_program program;
	struct nsrun_filter *filter;

	if (!file && !n->config.seccomp_string.n)
		return 0;
	if (file && n->config.seccomp_string.n)
		return nsjail_refuse(n, "seccomp_policy", "goes with no"
		    " seccomp_string", file);
	if (!file && join(n, &source) < 0)
		return -1;
	source.refuse_x32 = true;
	if ((file ? kafel_compile_file : kafel_compile)(&plan->arena, &source,
	    SYS_AUDIT_ARCH, &program, &n->err) < 0)
		return -1;
	filter = nsrun_arena_alloc(&plan->arena, sizeof *filter);
	if (!filter)
		return nsjail_nomem(n);
	*filter = (struct nsrun_filter){
		.name = "kafel", .variant = "", .sha256 = "",
		.audit_arch = SYS_AUDIT_ARCH, .insns = program.insns,
		.n_insns = program.n,
	};
	return nsrun_plan_add_filter(plan, filter, &n->err);
}
