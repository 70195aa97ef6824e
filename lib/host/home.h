/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command's home, where it is more than the profile's empty one.
 *
 *	tmpfs		new and empty, in memory, gone with the launch
 *	private		a directory of the state directory's: of one launch, or
 *			with a name kept and shared by all that say it
 *	overlay		a directory of the host's, read-only beneath; what is
 *			written is thrown away, or kept under a name
 *
 * In all of them HOME has the path that it has outside. build_home.c makes the
 * plan's entries; this is what must be held on the host meanwhile.
 */
#ifndef NSRUN_HOST_HOME_H
#define NSRUN_HOST_HOME_H

#include "host/request.h"
#include "host/store.h"

struct nsrun_home_keep {
	struct nsrun_arena	arena;
	struct nsrun_store	store;
	struct nsrun_store_item	item;
	int			users_fd;	/* each has a read lock on it */
	bool			first;		/* of those that use it now:
						   a write lock, until filled */
	const char		**stubs;	/* beneath part: files that are
						   there to be mounted on */
	size_t			n_stubs;
};

#define NSRUN_HOME_KEEP_INIT { .arena = NSRUN_ARENA_INIT, \
	.store = NSRUN_STORE_INIT, .item = NSRUN_STORE_ITEM_INIT, \
	.users_fd = -1 }

/*
 * Before the plan: hold what the request's home is kept in, if it is kept at
 * all, and tell the request.
 */
int nsrun_home_hold(struct nsrun_home_keep *keep, struct nsrun_request *request,
    struct nsrun_err *err);

/*
 * Between the plan and the launch: give a kept home to who the command is, and
 * make in it what the plan mounts something on, or copies there. What the
 * command made of such a name is an error, never followed.
 */
int nsrun_home_fill(struct nsrun_home_keep *keep,
    const struct nsrun_request *request, const struct nsrun_plan *plan,
    struct nsrun_err *err);

/* After the launch. -1: something is left on the host that should not be. */
int nsrun_home_release(struct nsrun_home_keep *keep,
    struct nsrun_request *request, struct nsrun_err *err);

/* Lock its users' file, F_WRLCK or F_RDLCK, without waiting; false: not. */
bool nsrun_home_lock(const struct nsrun_home_keep *keep, short type);

/* home_fill.c: take away what fill made only to mount something on it, in the
 * item's directory dir. */
void nsrun_home_remove_stubs(struct nsrun_home_keep *keep, const char *dir);

/*
 * Of the state directory: the kind of the request's item, NULL where it needs
 * none; and its part that is the home, or holds upper and work of an overlay.
 */
const char *nsrun_home_kind(const struct nsrun_request *request);
const char *nsrun_home_part(const struct nsrun_request *request);

/* Setters of the words home, home-keep and state-dir. */
int nsrun_request_set_home(struct nsrun_request *request, const char *value,
    struct nsrun_err *err);
int nsrun_request_set_home_keep(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);
int nsrun_request_set_state_dir(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);

#endif
