/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that must stay absent, on the host: the janitor's part. At each stands
 * a stub (base/stub.h) while a sandbox needs it. Several sandboxes may share
 * one; who made it does not matter: each holds a lock on the name, and the last
 * to leave, who alone can have it exclusively, removes the stub. What a killed
 * janitor leaves behind is the same as what a living one has made, and goes
 * with the next.
 *
 * The locks are those of locks.h.
 */
#ifndef NSRUN_RUN_ABSENT_H
#define NSRUN_RUN_ABSENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "run/locks.h"

struct nsrun_plan;

enum { NSRUN_ABSENT_MAX = 8192 };

struct nsrun_absent {
	size_t	mount;		/* of the plan */
	int	dir_fd;		/* may be an earlier one's, too */
	int	look_fd;	/* the same, where no mask is mounted on it */
	struct nsrun_lock lock;
	ino_t	made;		/* a directory that we made; or 0 */
	bool	is_alone;	/* its descriptors are nobody else's */
};

struct nsrun_absents {
	const struct nsrun_plan *plan;
	int	socket_fd;	/* one that we made; or -1 */
	unsigned int	n;
	struct nsrun_absent v[NSRUN_ABSENT_MAX];
	struct nsrun_locks locks;
};

/* What became of a mask while the command ran. */
struct nsrun_violation {
	size_t	mount;
	enum {
		NSRUN_VIOLATION_APPEARED,	/* something was there then */
		NSRUN_VIOLATION_REPLACED,	/* it had to be put back */
	}	what;
	char	moved[256];	/* APPEARED: its name now; or empty */
};

/* Act as who the command is on the host, in all that follows. */
int nsrun_absents_init(struct nsrun_absents *a, const struct nsrun_plan *plan);

/*
 * Have the names of mounts *i to end-1 of the plan in dir, one directory, which
 * may be taken; lock and remember them. What else is at a name is left alone.
 * 0, or an errno: EROFS, nobody can make what is not there; any other is of
 * mount *i.
 */
int nsrun_absents_make(struct nsrun_absents *a, size_t *i, size_t end,
    int *dir);

/*
 * Another directory may lead to mount i's name by now: have it there, too. tree
 * is the root that the first n bytes of its path lead to. What else is there by
 * then is remembered, and told in the end.
 */
void nsrun_absents_follow(struct nsrun_absents *a, size_t i, int tree,
    size_t n);

/* Nobody of ours needs them any more; what appeared is told to report_fd. */
void nsrun_absents_clear(struct nsrun_absents *a, int report_fd);

#endif
