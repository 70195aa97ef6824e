/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching masks, for the janitor. A program of the host may rename, replace or
 * remove what a mask is mounted on, or a directory that leads there, and the
 * mask is gone. The kernel tells of directories in which names change; then all
 * names are compared with what stood there, and mend.c mounts what is missing.
 *
 * It is told by dnotify (F_NOTIFY of fcntl(2)), whose end is quick; closing an
 * inotify(7) instance waits for a grace period of the kernel's, ten or twenty
 * milliseconds, and each launch would.
 *
 * There is a moment between the two: what was made in it is found by
 * nsrun_absents_clear(), and that there was one is told.
 */
#ifndef NSRUN_RUN_WATCH_H
#define NSRUN_RUN_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct nsrun_absents;
struct nsrun_plan;

enum { NSRUN_WATCH_TREES = 64, NSRUN_WATCH_NONE = -1 };

/* What stood at a name; ino 0: nothing. */
struct nsrun_watch_object {
	dev_t	dev;
	ino_t	ino;
	mode_t	type;
};

struct nsrun_watch {
	const struct nsrun_plan *plan;
	struct nsrun_absents	*absents;
	int	init_fd;	/* pidfd of pid 1 */
	int	mounts_fd;	/* its mount namespace, which this keeps */
	int	user_fd;	/* and the user namespace that owns it */
	int	masks_fd;	/* what is mounted over masks */
	struct nsrun_watch_tree {
		size_t	mount;	/* of the plan: a root that may be written */
		int	fd;	/* as the sandbox sees it */
	}	trees[NSRUN_WATCH_TREES];
	int	n_trees;

	int	signal_fd;	/* dnotify's; -1: nothing is watched */
	int	inotify_fd;	/* where there is no dnotify; or -1 */
	struct nsrun_watch_place {
		ssize_t	parent;	/* NONE: a root */
		size_t	mount;	/* whose target begins with its path, */
		size_t	length;	/* of so many bytes */
		int	fd;	/* -1: no directory is there */
		bool	changed;
		struct nsrun_watch_object now;
	}	*places;
	size_t	n_places;
	struct nsrun_watch_name {
		size_t	mount;
		ssize_t	place;
		bool	changed;
		bool	lapsed;	/* it had to be mounted again */
		struct nsrun_watch_object now;
	}	*names;		/* shared with who mends */
	size_t	n_names;
};

void nsrun_watch_init(struct nsrun_watch *w, const struct nsrun_plan *plan,
    struct nsrun_absents *absents);

/* Begin; what cannot be watched is not. */
void nsrun_watch_start(struct nsrun_watch *w);

/* Until pid 1 is gone. */
void nsrun_watch_until_end(struct nsrun_watch *w);

/* All masks that had to be mounted again, to report_fd. */
void nsrun_watch_report(const struct nsrun_watch *w, int report_fd);

/* Mount again what is missing, in the sandbox; see mend.c. */
void nsrun_watch_mend(struct nsrun_watch *w);

#endif
