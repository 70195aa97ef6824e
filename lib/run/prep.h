/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preparing: the last allocations before clone. Everything that the child will
 * read is made here and belongs to the arena in struct nsrun_prepared; its
 * descriptors are close-on-exec and are closed by deinit.
 */
#ifndef NSRUN_RUN_PREP_H
#define NSRUN_RUN_PREP_H

#include "apply/prep.h"
#include "base/arena.h"

struct nsrun_run;

struct nsrun_prepared {
	struct nsrun_arena	arena;
	struct nsrun_prep	prep;
	int			child_fds[3];	/* ends of relays */
};

void nsrun_prepared_init(struct nsrun_prepared *p);
/* Makes the channels of run too: its ends are run's. */
int nsrun_prepared_build(struct nsrun_prepared *p, struct nsrun_run *run,
    struct nsrun_err *err);
void nsrun_prepared_deinit(struct nsrun_prepared *p);

/* The parts of that which prep_limits.c has. */
int nsrun_prepare_limits(struct nsrun_prep *prep, struct nsrun_err *err);
/* The cgroup counts processes as well, and can say that they were too many. */
void nsrun_prepare_for_cgroup(struct nsrun_prep *prep,
    const struct nsrun_run *run);
int nsrun_prepare_scheduling(struct nsrun_prep *prep, struct nsrun_err *err);

/* The lines of the first (0) or the second (1) user namespace's maps. */
void nsrun_map_texts(const struct nsrun_plan *plan, int which,
    char uid_map[NSRUN_MAP_SIZE], char gid_map[NSRUN_MAP_SIZE]);
/* Write them for pid 1, which waits: for a caller that left uid 0. */
int nsrun_maps_write(struct nsrun_run *run, int which, struct nsrun_err *err);

/*
 * For a caller that leaves uid 0: clone every source now, with the rights it
 * is about to give up, restricted and idmapped; fills in prep->tree_fds.
 */
int nsrun_trees_clone(struct nsrun_prep *prep, struct nsrun_err *err);

#endif
