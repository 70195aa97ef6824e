/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The guard: a process of ours beside a jail that has something outside which
 * must not stay when the jail is gone: a cgroup, or pasta(1) and its way into
 * the jail's network. It makes what cgroup v1 and networks take while the jail
 * waits, and undoes it when the jail has ended, or when we have, by whatever.
 */
#ifndef NSJAIL_GUARD_H
#define NSJAIL_GUARD_H

#include <sys/types.h>

struct nsjail;
struct nsrun_run;

struct nsjail_guard {
	pid_t	pid;		/* 0: none */
	int	fd;		/* to it; our end of it is our life */
	int	pidfd;
};
#define NSJAIL_GUARD_INIT { .fd = -1, .pidfd = -1 }

/*
 * The jail was launched: have a guard, if it is to have one, and let the jail
 * go on when all is there. From then on, the guard's end is the jail's.
 */
int nsjail_guard_start(struct nsjail *n, struct nsrun_run *run,
    struct nsjail_guard *guard);
/* The jail has ended, or is to: undo, and wait until that is done. */
void nsjail_guard_end(const struct nsjail *n, struct nsrun_run *run,
    struct nsjail_guard *guard);

#endif
