/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The limits that only a cgroup can keep, as what is written to its files, and
 * those that it keeps better than setrlimit(2).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "host/build.h"

enum { CPU_PERIOD_US = 100000, MAX_DISKS = 64 };

static int
add(struct nsrun_build *b, const char *file, bool optional, const char *value)
{
	const struct nsrun_cgroup_setting setting = { file, value, optional };

	return value ? nsrun_plan_add_cgroup(b->plan, &setting, b->err) : -1;
}

static int
add_number(struct nsrun_build *b, const char *file, bool optional,
    uint64_t value)
{
	return add(b, file, optional, nsrun_build_text(b, "%" PRIu64, value));
}

/*
 * A broken bound ends the launch, not the process that happens to be the
 * largest. Without a word on swap there is none: it would be memory too.
 */
static int
add_memory(struct nsrun_build *b)
{
	const struct nsrun_limit *memory = &b->plan->limits[NSRUN_LIMIT_MEMORY];
	const struct nsrun_limit *swap = &b->plan->limits[NSRUN_LIMIT_SWAP];

	if (add_number(b, "memory.oom.group", true, 1) < 0)
		return -1;
	if (memory->set && add_number(b, "memory.max", false,
	    memory->value) < 0)
		return -1;
	if (!memory->set && !swap->set)
		return 0;
	return add_number(b, "memory.swap.max", !swap->set, swap->set ?
	    swap->value : 0);
}

/* The disk that a partition is on has the limits. */
static dev_t
disk_of(dev_t dev)
{
	unsigned int ids[2] = { major(dev), minor(dev) };
	char path[96], *text;

	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/partition", ids[0],
	    ids[1]);
	if (access(path, F_OK) < 0)
		return dev;
	snprintf(path, sizeof path, "/sys/dev/block/%u:%u/../dev", ids[0],
	    ids[1]);
	text = nsrun_file_read(path, 64);
	if (text && sscanf(text, "%u:%u", &ids[0], &ids[1]) == 2)
		dev = makedev(ids[0], ids[1]);
	free(text);
	return dev;
}

/* Each disk once; false: there is no room for it. */
static bool
note_disk(dev_t disks[MAX_DISKS], size_t *n, dev_t dev)
{
	dev = disk_of(dev);
	for (size_t i = 0; i < *n; i++)
		if (disks[i] == dev)
			return true;
	if (*n == MAX_DISKS)
		return false;
	disks[(*n)++] = dev;
	return true;
}

/*
 * Where the roots lie, and the system's own trees. A root on no disk that we
 * can name is an error, unless it lies in memory.
 */
static int
find_disks(struct nsrun_build *b, dev_t disks[MAX_DISKS], size_t *n)
{
	const struct nsrun_words *system = &b->profile->system;
	struct statfs fs;
	struct stat st;

	for (size_t i = 0; i < b->n_roots; i++) {
		const struct nsrun_granted *root = &b->roots[i];

		if (major(root->pin.dev) == 0 && statfs(root->path, &fs) == 0 &&
		    (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC))
			continue;
		if (major(root->pin.dev) == 0)
			return nsrun_err_rule(b->err, NSRUN_STEP_CGROUP, "is on"
			    " no block device: io-read and io-write limit"
			    " those", root->path, NULL);
		if (!note_disk(disks, n, root->pin.dev))
			return nsrun_err_rule(b->err, NSRUN_STEP_CGROUP,
			    "too many disks", root->path, NULL);
	}
	for (size_t i = 0; i < system->n; i++)
		if (stat(system->v[i], &st) == 0 && major(st.st_dev))
			(void)note_disk(disks, n, st.st_dev);
	return 0;
}

static int
add_io(struct nsrun_build *b)
{
	const struct nsrun_limit *read = &b->plan->limits[NSRUN_LIMIT_IO_READ];
	const struct nsrun_limit *write =
	    &b->plan->limits[NSRUN_LIMIT_IO_WRITE];
	dev_t disks[MAX_DISKS];
	size_t n = 0;

	if (!read->set && !write->set)
		return 0;
	if (find_disks(b, disks, &n) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (read->set && add(b, "io.max", false, nsrun_build_text(b,
		    "%u:%u rbps=%" PRIu64, major(disks[i]), minor(disks[i]),
		    read->value)) < 0)
			return -1;
		if (write->set && add(b, "io.max", false, nsrun_build_text(b,
		    "%u:%u wbps=%" PRIu64, major(disks[i]), minor(disks[i]),
		    write->value)) < 0)
			return -1;
	}
	return n ? 0 : nsrun_err_rule(b->err, NSRUN_STEP_CGROUP,
	    "there is no disk to limit the use of", "io.max", NULL);
}

static int
add_settings(struct nsrun_build *b)
{
	const struct nsrun_limit *limits = b->plan->limits;

	if (add_memory(b) < 0)
		return -1;
	/* setrlimit(2) keeps it too, but not for the host's root. */
	if (limits[NSRUN_LIMIT_PROCESSES].set && add_number(b, "pids.max", true,
	    limits[NSRUN_LIMIT_PROCESSES].value) < 0)
		return -1;
	if (limits[NSRUN_LIMIT_CPUS].set && add(b, "cpu.max", false,
	    nsrun_build_text(b, "%" PRIu64 " %d", limits[NSRUN_LIMIT_CPUS].value
	    * (CPU_PERIOD_US / 1000), CPU_PERIOD_US)) < 0)
		return -1;
	return add_io(b);
}

int
nsrun_build_cgroup(struct nsrun_build *b)
{
	struct nsrun_cgroup_plan *cgroup = &b->plan->cgroup;

	cgroup->use = b->request->cgroup_use;
	for (int i = 0; i < NSRUN_N_LIMITS; i++) {
		enum nsrun_limit_kind kind = (enum nsrun_limit_kind)i;

		if (!b->plan->limits[i].set || !nsrun_limit_needs_cgroup(kind))
			continue;
		if (cgroup->use == NSRUN_CGROUP_OFF)
			return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
			    "is a limit that only a cgroup can keep (--cgroup"
			    " off)", nsrun_limit_name(kind), NULL);
		cgroup->use = NSRUN_CGROUP_REQUIRE;
	}
	if (cgroup->use == NSRUN_CGROUP_OFF)
		return 0;
	cgroup->moves_caller = b->request->for_program;
	if (b->request->cgroup_parent && !(cgroup->parent =
	    nsrun_build_text(b, "%s", b->request->cgroup_parent)))
		return -1;
	return add_settings(b);
}
