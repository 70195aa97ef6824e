/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cgroup of a launch, as the plan has it: whether there is to be one, below
 * which directory, and what is written to which of its files.
 */
#ifndef NSRUN_PLAN_CGROUP_H
#define NSRUN_PLAN_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

enum nsrun_cgroup_use {
	NSRUN_CGROUP_OFF,	/* none */
	NSRUN_CGROUP_AUTO,	/* where there can be one */
	NSRUN_CGROUP_REQUIRE,	/* or no launch */
	NSRUN_N_CGROUP_USES
};

/* "memory.max" and "1073741824"; the file begins with its controller. */
struct nsrun_cgroup_setting {
	const char	*file, *value;
	bool		optional;	/* not where there is no such file, or
					   nobody gave us its controller */
};

struct nsrun_cgroup_plan {
	enum nsrun_cgroup_use use;
	const char	*parent;	/* NULL: the one that we are given */
	const char	*prefix;	/* of its name; NULL: ours */
	const char	*self_prefix;	/* and of where our process is moved */
	struct nsrun_cgroup_setting *settings;	/* written in this order */
	size_t		n_settings;
	bool		moves_caller;	/* our process may be moved, too */
	bool		soft;		/* what meets a bound is refused more,
					   and not the end of all */
};

const char *nsrun_cgroup_use_name(enum nsrun_cgroup_use use);

#endif
