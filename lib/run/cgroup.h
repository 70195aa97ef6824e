/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A cgroup (v2) of its own for one launch.
 *
 *	base	the directory below which we may make them: named by the caller,
 *		or what a service manager or a container delegated to us;
 *	scope	the launch's own directory in it. The child is born there, by
 *		CLONE_INTO_CGROUP; whatever is left in it at the end is killed,
 *		and it is removed.
 *
 * A scope is locked as long as its supervisor lives. Whoever makes the next one
 * in the same base kills and removes those that nobody holds any more.
 *
 * Only the file system is used: nothing here talks to a service manager.
 */
#ifndef NSRUN_RUN_CGROUP_H
#define NSRUN_RUN_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "nsrun.h"
#include "plan/cgroup.h"

/* The controllers that we know, as bits. */
enum {
	NSRUN_CONTROLLER_MEMORY	= 1 << 0,
	NSRUN_CONTROLLER_PIDS	= 1 << 1,
	NSRUN_CONTROLLER_CPU	= 1 << 2,
	NSRUN_CONTROLLER_IO	= 1 << 3,
	NSRUN_N_CONTROLLERS	= 4,
};
const char *nsrun_controller_name(unsigned int bit);
/* Words between blanks, or up to a '.': "memory.max" is MEMORY. */
unsigned int nsrun_controllers_parse(const char *text);

struct nsrun_cgroup_base {
	int		fd;		/* -1: none */
	unsigned int	controllers;	/* that it can give */
	char		path[PATH_MAX];	/* also of one that cannot be used */
};

/*
 * cgroup_find.c: open the directory `path`; NULL: the nearest above us that is
 * delegated to us. Changes nothing. After -1 err says what is missing.
 */
int nsrun_cgroup_find(struct nsrun_cgroup_base *base, const char *path,
    struct nsrun_err *err);
/* Where we are ourselves: a path below a mounted cgroup2; -1: nowhere. */
int nsrun_cgroup_own(char path[PATH_MAX], struct nsrun_err *err);

struct nsrun_cgroup {
	int	base_fd;	/* shared lock; -1: there is no cgroup */
	int	dir_fd;		/* the scope, locked; for CLONE_INTO_CGROUP */
	int	self_fd;	/* where we moved ourselves; -1: nowhere */
	int	memory_fd;	/* memory.events and pids.events: POLLPRI when
				   they change; -1: not to be watched */
	int	pids_fd;
	unsigned int controllers;	/* that the scope has */
	char	name[40], self_name[40];
};
#define NSRUN_CGROUP_INIT { .base_fd = -1, .dir_fd = -1, .self_fd = -1, \
	.memory_fd = -1, .pids_fd = -1 }

/*
 * Make a scope and write its settings. 0 with dir_fd -1: the plan wants none,
 * or would do without and must. After -1 nothing is left.
 */
int nsrun_cgroup_open(struct nsrun_cgroup *cgroup,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err);

/* Kill all in it, at once; a killed one takes no more in. */
void nsrun_cgroup_kill(const struct nsrun_cgroup *cgroup);

/* Kill, wait until it is empty, remove; go back to where we were. */
void nsrun_cgroup_deinit(struct nsrun_cgroup *cgroup);

/* What was used at most and what was refused, as far as the kernel tells. */
struct nsrun_cgroup_used {
	uint64_t	memory_peak;	/* bytes; 0: not known */
	uint64_t	pids_peak;	/* 0: not known */
	uint64_t	cpu_us;
	uint64_t	oom_kills;	/* processes */
	uint64_t	forks_refused;
};
/* One of the two changed: from now on, poll(2) tells of the next time. */
void nsrun_cgroup_acknowledge(const struct nsrun_cgroup *cgroup);
void nsrun_cgroup_read(const struct nsrun_cgroup *cgroup,
    struct nsrun_cgroup_used *used);

#endif
