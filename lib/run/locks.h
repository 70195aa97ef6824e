/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Locks on names of the host's directories, between sandboxes of whatever
 * program. A socket cannot be locked, and what the command sees it must not
 * lock: the locks are bytes of files outside. The kernel looks through all
 * locks of a file for each new one, so there are several files, and a name has
 * its byte in one of them.
 */
#ifndef NSRUN_RUN_LOCKS_H
#define NSRUN_RUN_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct nsrun_plan;

enum {
	NSRUN_LOCK_USERS	= 4,
	NSRUN_LOCK_PLACES	= 9,
	NSRUN_LOCK_FILES	= 64,
};

struct nsrun_locks {
	const struct nsrun_plan *plan;
	int	n;
	struct nsrun_lock_user {
		uid_t	uid;
		int	dirs[NSRUN_LOCK_PLACES];	/* -1: none there */
		int	files[NSRUN_LOCK_PLACES][NSRUN_LOCK_FILES];
	}	users[NSRUN_LOCK_USERS];
};

/* A name that is locked, or to be. */
struct nsrun_lock {
	int		user;		/* index into users */
	uint64_t	key;
};

/*
 * The lock of `name` in a directory below a root of owner's. False: there is
 * nowhere to lock anything.
 */
bool nsrun_locks_find(struct nsrun_locks *locks, uid_t owner,
    const struct stat *dir, const char *name, struct nsrun_lock *lock);

/* F_RDLCK, F_WRLCK or F_UNLCK, at once; false with errno set: not now. */
bool nsrun_locks_set(struct nsrun_locks *locks, const struct nsrun_lock *lock,
    short type);

/* Share it; one that is being removed is held exclusively, for a moment. */
bool nsrun_locks_share(struct nsrun_locks *locks,
    const struct nsrun_lock *lock);

/* Look for places again: one may have come since. */
void nsrun_locks_renew(struct nsrun_locks *locks);

#endif
