/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Handing back: files that the command changed, to the host. One is handed back
 * only if the command did change it, what it is now can be what it was before,
 * and the host's is still what the command was given; then in one rename.
 */
#ifndef NSRUN_RUN_HANDBACK_H
#define NSRUN_RUN_HANDBACK_H

#include "run/run.h"

/* Before the child is made: memory for what the plan wants back. */
int nsrun_handback_open(struct nsrun_run *run, struct nsrun_err *err);

/*
 * When the run has ended: hand back the plan's file i. 1: done, 0: there was
 * nothing to do, -1: it was not, and the host's is as it was.
 */
int nsrun_handback(const struct nsrun_run *run, size_t i,
    struct nsrun_err *err);

#endif
