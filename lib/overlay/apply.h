/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing to the project what its overlay holds.
 *
 * Name by name: each is the old or the new, at any moment and whenever we are
 * killed, and what was done is found done by the next time. A file is written
 * beside its name, under one of ours, and then takes its place. Everything is
 * opened from the project's descriptor, one component at a time, no link being
 * followed and no other file system entered.
 *
 * Not applied, and told: what was changed on the host since the overlay was
 * begun, and what no command may make there. Between the last look at a file
 * and its replacement are two system calls, no more.
 */
#ifndef NSRUN_OVERLAY_APPLY_H
#define NSRUN_OVERLAY_APPLY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "overlay/changes.h"

struct nsrun_baseline;

/* Why one was not applied. */
typedef void nsrun_refusal_fn(void *arg, const struct nsrun_change *change,
    const char *why);

struct nsrun_apply {
	int		dir_fd;		/* the overlay's own: for its notes */
	int		layer_fd, project_fd;
	struct nsrun_baseline *baseline;
	const char *const *reserved;
	bool		gives;		/* to whom the project belongs */
	uid_t		uid;
	gid_t		gid;
	nsrun_refusal_fn *refuse;
	void		*arg;
	uint64_t	n_applied, n_refused;	/* results */
	/* Our own. */
	struct nsrun_err *err;
	const char	*why;		/* a change is refused; NULL */
	char		why_text[128];
	char		temp[40];
	char		noted[PATH_MAX];	/* where it may be left */
	struct nsrun_late_mode {
		char	*path;
		mode_t	mode;
	}		*late;		/* directories to be closed at last */
	size_t		n_late;
};

/*
 * Apply it. What was applied is taken out of the layer when something is left
 * in it; when nothing is, the layer is as it was, to be removed by the caller.
 * -1: stopped by an error, and to be done again.
 */
int nsrun_apply_changes(struct nsrun_apply *a, struct nsrun_err *err);

/* Remove what one that was killed had left beside a name, if anything. */
int nsrun_apply_recover(int dir_fd, int project_fd, struct nsrun_err *err);

#endif
