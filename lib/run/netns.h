/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network namespace, made beside the child: the kernel needs as long for it
 * as for everything else, and the child needs it last.
 */
#ifndef NSRUN_RUN_NETNS_H
#define NSRUN_RUN_NETNS_H

struct nsrun_prep;
struct nsrun_run;

/* Where that is possible: the child is to be cloned without, and to get one by
 * prep->net_fd. If nothing comes that way, it makes one. */
void nsrun_netns_prepare(struct nsrun_prep *prep);
/* The child is there: begin. */
void nsrun_netns_begin(struct nsrun_prep *prep, struct nsrun_run *run);
/* Reap who made it. */
void nsrun_netns_end(struct nsrun_run *run);

#endif
