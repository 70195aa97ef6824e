/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that must stay absent, on the host: the janitor's part. At each stands
 * a stub (base/stub.h) while a sandbox needs it. Several sandboxes may share
 * one; who made it does not matter: each holds a lock on the name, and the last
 * to leave, who alone can have it exclusively, removes the stub. What a killed
 * janitor leaves behind is the same as what a living one has made, and goes
 * with the next.
 *
 * A socket cannot be locked, and what the command sees it must not lock: the
 * locks are bytes of a file outside, one file a user, one byte a name.
 */
#ifndef NSRUN_RUN_ABSENT_H
#define NSRUN_RUN_ABSENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nsrun_plan;

enum { NSRUN_ABSENT_MAX = 8192, NSRUN_LOCK_USERS = 4, NSRUN_LOCK_FILES = 9 };

struct nsrun_absent {
	size_t	mount;		/* of the plan */
	int	dir_fd;		/* may be an earlier one's, too */
	int	look_fd;	/* the same, where no mask is mounted on it */
	int	users;		/* index into lock files */
	off_t	key;
	ino_t	made;		/* a directory that we made; or 0 */
};

struct nsrun_absents {
	const struct nsrun_plan *plan;
	unsigned int	n;
	struct nsrun_absent v[NSRUN_ABSENT_MAX];
	struct nsrun_lock_files {
		uid_t	uid;
		int	fds[NSRUN_LOCK_FILES];	/* -1: none there */
	}		locks[NSRUN_LOCK_USERS];
	int		n_locks;
};

/* What appeared at a name that was to stay absent; `moved` may be empty. */
struct nsrun_violation {
	size_t	mount;
	char	moved[256];
};

/* Act as who the command is on the host, in all that follows. */
int nsrun_absents_init(struct nsrun_absents *a, const struct nsrun_plan *plan);

/*
 * Have mount i of the plan's name in *dir, lock it, and remember it. 0, or an
 * errno: EEXIST, something else is there; EROFS, nobody can make anything.
 */
int nsrun_absents_make(struct nsrun_absents *a, size_t i, int *dir);

/* Make again what somebody has removed. */
void nsrun_absents_remake(struct nsrun_absents *a);

/* Act as the caller, for what only he may do; and as the command again. */
void nsrun_absents_as_caller(const struct nsrun_absents *a);
void nsrun_absents_as_command(const struct nsrun_absents *a);

/* Nobody of ours needs them any more; what appeared is told to report_fd. */
void nsrun_absents_clear(struct nsrun_absents *a, int report_fd);

#endif
