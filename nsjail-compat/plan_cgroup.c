/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits of cgroups. Of v2 they go into the plan: the engine finds the
 * directory that is ours, and the jail is born in one below it. Of v1 they are
 * kept for the guard, which makes a directory in each hierarchy.
 */
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#include "nsjail.h"

static const char *
number(struct nsjail *n, uint64_t value)
{
	return nsrun_arena_printf(&n->arena, "%llu",
	    (unsigned long long)value);
}

/* *swap: what of memory and swap together, or of swap alone; -1: no limit. */
static int
find_swap(struct nsjail *n, int64_t *swap)
{
	const struct nsjail_config *c = &n->config;
	uint64_t left = c->cgroup_memsw_max - c->cgroup_mem_max;

	*swap = c->cgroup_swap_max < 0 ? -1 : c->cgroup_swap_max;
	if (!c->cgroup_memsw_max)
		return 0;
	if (*swap >= 0)
		return nsjail_refuse(n, "cgroup_mem_memsw_max", "goes with no"
		    " cgroup_mem_swap_max", NULL);
	if (c->cgroup_memsw_max < c->cgroup_mem_max || left > INT64_MAX)
		return nsjail_refuse(n, "cgroup_mem_memsw_max", "is less than"
		    " cgroup_mem_max, or too much", NULL);
	*swap = (int64_t)left;
	return 0;
}

static int
add(struct nsjail *n, struct nsrun_plan *plan, const char *file,
    const char *value)
{
	const struct nsrun_cgroup_setting setting = {
		.file = file, .value = value,
	};

	return value ? nsrun_plan_add_cgroup(plan, &setting, &n->err) :
	    nsjail_nomem(n);
}

static int
plan_v2(struct nsjail *n, struct nsrun_plan *plan, int64_t swap)
{
	const struct nsjail_config *c = &n->config;

	if (c->cgroup_classid)
		return nsjail_refuse(n, "cgroup_net_cls_classid", "is of cgroup"
		    " v1; v2 has nothing like it", NULL);
	plan->cgroup.use = NSRUN_CGROUP_REQUIRE;
	plan->cgroup.moves_caller = plan->cgroup.soft = true;
	plan->cgroup.prefix = "NSJAIL.";
	plan->cgroup.self_prefix = "NSJAIL_SELF.";
	if (nsjail_field_given(&nsjail_config_message, c, "cgroupv2_mount"))
		plan->cgroup.parent = c->cgroupv2_mount;
	if (c->cgroup_mem_max && add(n, plan, "memory.max",
	    number(n, c->cgroup_mem_max)) < 0)
		return -1;
	if (swap >= 0 && add(n, plan, "memory.swap.max",
	    number(n, (uint64_t)swap)) < 0)
		return -1;
	if (c->cgroup_pids_max && add(n, plan, "pids.max",
	    number(n, c->cgroup_pids_max)) < 0)
		return -1;
	/* Of each second, as nsjail has it: 1000 is one processor. */
	return c->cgroup_cpu_ms ? add(n, plan, "cpu.max",
	    nsrun_arena_printf(&n->arena, "%llu 1000000",
	    (unsigned long long)c->cgroup_cpu_ms * 1000)) : 0;
}

static int
set(struct nsjail *n, struct nsjail_cgroup1 *cg, const char *file,
    const char *value)
{
	size_t i = 0;

	while (cg->settings[i].file)
		i++;
	cg->settings[i].file = file;
	cg->settings[i].value = value;
	return value ? 0 : nsjail_nomem(n);
}

/* The next one, below mount/parent; NULL: no memory. */
static struct nsjail_cgroup1 *
begin(struct nsjail *n, const char *mount, const char *parent)
{
	struct nsjail_cgroup1 *cg = n->cgroups1;

	while (cg->parent)
		cg++;
	cg->parent = nsrun_arena_printf(&n->arena, "%s/%s", mount, parent);
	return cg->parent ? cg : NULL;
}

static int
plan_memory1(struct nsjail *n, int64_t swap)
{
	const struct nsjail_config *c = &n->config;
	struct nsjail_cgroup1 *cg;

	if (!c->cgroup_mem_max && swap < 0)
		return 0;
	if (!c->cgroup_mem_max)
		return nsjail_refuse(n, "cgroup_mem_swap_max", "takes a"
		    " cgroup_mem_max with cgroup v1", NULL);
	cg = begin(n, c->cgroup_mem_mount, c->cgroup_mem_parent);
	if (!cg || set(n, cg, "memory.limit_in_bytes",
	    number(n, c->cgroup_mem_max)) < 0)
		return nsjail_nomem(n);
	if (swap >= 0 && set(n, cg, "memory.memsw.limit_in_bytes",
	    number(n, c->cgroup_mem_max + (uint64_t)swap)) < 0)
		return -1;
	/* Who needs more is killed, and does not sleep. */
	return set(n, cg, "memory.oom_control", "0");
}

static int
plan_v1(struct nsjail *n, int64_t swap)
{
	const struct nsjail_config *c = &n->config;
	struct nsjail_cgroup1 *cg;

	memset(n->cgroups1, 0, sizeof n->cgroups1);
	if (plan_memory1(n, swap) < 0)
		return -1;
	if (c->cgroup_pids_max && (!(cg = begin(n, c->cgroup_pids_mount,
	    c->cgroup_pids_parent)) || set(n, cg, "pids.max",
	    number(n, c->cgroup_pids_max)) < 0))
		return nsjail_nomem(n);
	if (c->cgroup_classid && (!(cg = begin(n, c->cgroup_net_cls_mount,
	    c->cgroup_net_cls_parent)) || set(n, cg, "net_cls.classid",
	    nsrun_arena_printf(&n->arena, "0x%x", c->cgroup_classid)) < 0))
		return nsjail_nomem(n);
	if (c->cgroup_cpu_ms && (!(cg = begin(n, c->cgroup_cpu_mount,
	    c->cgroup_cpu_parent)) || set(n, cg, "cpu.cfs_period_us",
	    "1000000") < 0 || set(n, cg, "cpu.cfs_quota_us", number(n,
	    (uint64_t)c->cgroup_cpu_ms * 1000)) < 0))
		return nsjail_nomem(n);
	return 0;
}

static bool
is_v2(const struct nsjail_config *c)
{
	struct statfs fs;

	if (!c->detect_cgroupv2)
		return c->use_cgroupv2;
	return statfs(c->cgroupv2_mount, &fs) == 0 &&
	    fs.f_type == CGROUP2_SUPER_MAGIC;
}

int
nsjail_plan_cgroups(struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_config *c = &n->config;
	int64_t swap;

	if (find_swap(n, &swap) < 0)
		return -1;
	if (!c->cgroup_mem_max && swap < 0 && !c->cgroup_pids_max &&
	    !c->cgroup_classid && !c->cgroup_cpu_ms)
		return 0;
	n->guarded = true;
	if (is_v2(c))
		return plan_v2(n, plan, swap);
	/* It is put there once it has a pid, and does nothing before. */
	plan->process.waits = true;
	return plan_v1(n, swap);
}
