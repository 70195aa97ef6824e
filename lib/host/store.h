/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state directory: what a session keeps on the host between launches.
 *
 *	DIR			the caller's, 0700
 *	DIR/KIND/NAME		an item, 0700, never seen by a command
 *	DIR/KIND/NAME/PART	what a command gets to see of it
 *	DIR/KIND/.XXXXXXXX	an item without a name: of one launch
 *
 * Everything beneath DIR is opened from the directory above it, following no
 * link. An item's own directory is its lock: who uses the item holds it, and
 * who finds one without a name that nobody holds removes it, for its launch
 * was killed. A name is removed only while it still means the directory that
 * is held. Any number of processes may do all of this at once.
 */
#ifndef NSRUN_HOST_STORE_H
#define NSRUN_HOST_STORE_H

#include <sys/types.h>

#include "host/profile.h"
#include "nsrun.h"

enum { NSRUN_STORE_PATH = 1024, NSRUN_STORE_NAME = 64 };

struct nsrun_store {
	int	fd;
	char	path[NSRUN_STORE_PATH];	/* canonical */
};

#define NSRUN_STORE_INIT { .fd = -1 }

/* What holding an item wants. */
enum nsrun_store_use {
	NSRUN_STORE_MAKE	= 1 << 0,	/* it need not be there yet */
	NSRUN_STORE_ALONE	= 1 << 1,	/* nobody else may hold it */
};

struct nsrun_store_item {
	int	kind_fd, fd;		/* fd is also the lock */
	char	name[NSRUN_STORE_NAME + 1];
	char	path[NSRUN_STORE_PATH + 160];
};

#define NSRUN_STORE_ITEM_INIT { .kind_fd = -1, .fd = -1 }

/*
 * Where the state directory is: dir, or where that is NULL, /var/lib/oc-nsrun
 * for root, for others oc-nsrun in XDG_STATE_HOME or in ~/.local/state. Nothing
 * is made.
 */
int nsrun_store_where(char path[NSRUN_STORE_PATH], const char *dir,
    struct nsrun_err *err);

/* Open it, making it where it lacks. After -1 there is nothing to close. */
int nsrun_store_open(struct nsrun_store *store, const char *dir,
    struct nsrun_err *err);
void nsrun_store_close(struct nsrun_store *store);

/* Is it a name? 1 to 64 letters, digits, '.', '_', '-', the first no '.'. */
int nsrun_store_check_name(const char *name, struct nsrun_err *err);

/*
 * Hold item `name` of that kind, a word of ours; NULL: a new one without a
 * name. use: of enum nsrun_store_use. Fails with EWOULDBLOCK in err->errnum
 * where somebody else holds it. After -1 nothing is held.
 */
int nsrun_store_hold(struct nsrun_store_item *item,
    const struct nsrun_store *store, const char *kind, const char *name,
    unsigned int use, struct nsrun_err *err);

/*
 * Make part `name` of the item, a directory, 0700, that belongs to these ids,
 * where it is not there yet. One that is there and belongs to others is an
 * error: whoever the command is this time could not use it.
 */
int nsrun_store_make_part(const struct nsrun_store_item *item, const char *name,
    uid_t uid, gid_t gid, struct nsrun_err *err);

/*
 * Hold it no longer; one without a name is removed. -1: it could not be, and
 * is left for the next sweep. A second call does nothing.
 */
int nsrun_store_release(struct nsrun_store_item *item, struct nsrun_err *err);

/* Remove an item that is held ALONE, with all that is in it, and release it. */
int nsrun_store_remove(struct nsrun_store_item *item, struct nsrun_err *err);

/* The names of that kind's items, in byte order. */
int nsrun_store_list(const struct nsrun_store *store, const char *kind,
    struct nsrun_arena *arena, struct nsrun_words *names,
    struct nsrun_err *err);

#endif
