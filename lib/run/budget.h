/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The budget of a launch: by how much what it may write on the host may grow,
 * in bytes and in names. There are no quotas for ordinary users, so a process
 * of its own looks, and tells when it is more.
 *
 * It looks often while the file systems change, but never for more than a fifth
 * of its time. Before the command it takes stock; it then enters the sandbox's
 * user namespace, where no mode of a directory hides what the command made; and
 * it looks once more when everything inside is dead.
 */
#ifndef NSRUN_RUN_BUDGET_H
#define NSRUN_RUN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nsrun.h"
#include "run/usage.h"

struct nsrun_plan;
struct nsrun_run;

struct nsrun_budget {
	int	socket_fd;	/* to the watcher; -1: there is none */
	int	userns_fd;	/* the sandbox's, until it is in there */
	pid_t	pid;
	bool	over_bytes, over_inodes;
	int	errnum;		/* it could not look any more: like over */
	struct nsrun_usage grown;	/* at most, as far as was told */
};
#define NSRUN_BUDGET_INIT { .socket_fd = -1, .userns_fd = -1 }

/* Before clone: take stock. Nothing where the plan has no such limit. */
int nsrun_budget_open(struct nsrun_budget *budget,
    const struct nsrun_plan *plan, struct nsrun_err *err);

/* The command runs: watch it, from within userns_fd. */
int nsrun_budget_watch(struct nsrun_run *run, struct nsrun_err *err);

/* Its socket is readable. */
void nsrun_budget_read(struct nsrun_run *run);
bool nsrun_budget_is_spent(const struct nsrun_budget *budget);

/* Everything inside is dead: the last look. */
void nsrun_budget_finish(struct nsrun_run *run);

void nsrun_budget_deinit(struct nsrun_budget *budget);

#endif
