/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching masks, for the janitor. A program of the host may rename or remove
 * what a mask is mounted on, and the mask is gone. inotify(7) tells of names
 * that change; then a process of its own enters the mount namespace and mounts
 * what is missing. There is a moment between the two: what was made in it is
 * found by nsrun_absents_clear().
 */
#ifndef NSRUN_RUN_WATCH_H
#define NSRUN_RUN_WATCH_H

#include <stddef.h>

struct nsrun_absents;
struct nsrun_plan;

struct nsrun_watch {
	const struct nsrun_plan *plan;
	struct nsrun_absents	*absents;
	int	inotify_fd;
	int	init_fd;	/* pidfd of pid 1 */
	int	mounts_fd;	/* its mount namespace, which this keeps */
	int	user_fd;	/* and the user namespace that owns it */
	int	masks_fd;	/* what is mounted over masks */
};

/* Begin; what cannot be watched is not. inotify_fd is -1 or to be polled. */
void nsrun_watch_start(struct nsrun_watch *w);

/* It is readable: see to it. */
void nsrun_watch_handle(struct nsrun_watch *w);

#endif
