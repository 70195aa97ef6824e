/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The overlay of a project, as it is kept in the state directory:
 *
 *	overlays/NAME/project	the path of the project that it is of
 *	overlays/NAME/baseline	what that was when the overlay was begun
 *	overlays/NAME/busy	locked while a sandbox has it
 *	overlays/NAME/layer	upper and work: the kernel's
 *	overlays/NAME/pending	what an apply may have left
 *	overlays/NAME/closed	what is open only to be listed
 *
 * It is one user's at a time: run, diff, apply and discard hold it alone.
 */
#ifndef HELPER_OVERLAY_H
#define HELPER_OVERLAY_H

#include <stdbool.h>
#include <sys/types.h>

#include "host/store.h"

struct nsrun_request;

struct overlay {
	struct nsrun_store	store;
	struct nsrun_store_item	item;
	char	*project;		/* canonical */
	char	name[NSRUN_STORE_NAME + 1];
	int	project_fd, busy_fd;
	int	layer_fd;		/* upper; -1: nothing was begun */
	bool	thrown_away;
	bool	is_open;		/* wholly: it may be removed */
};

#define OVERLAY_INIT { .store = NSRUN_STORE_INIT, \
    .item = NSRUN_STORE_ITEM_INIT, .project_fd = -1, .busy_fd = -1, \
    .layer_fd = -1 }

enum overlay_use {
	OVERLAY_BEGIN,		/* it need not be there yet */
	OVERLAY_THROW_AWAY,	/* one without a name, of one launch */
	OVERLAY_FIND,		/* it must be there */
};

/* Hold that of the project's; name: one, or NSRUN_REQUEST_OWN. */
int overlay_open(struct overlay *o, const char *project, const char *name,
    const char *state_dir, enum overlay_use use, struct nsrun_err *err);
/* Let it go; with nothing in it, it goes. */
int overlay_close(struct overlay *o, struct nsrun_err *err);

/* Remove it whole: never half of it is found by the next. */
int overlay_remove(struct overlay *o, struct nsrun_err *err);

/* Tell the request of dry_run: what may not be said together, run or explained,
 * is an error. */
int overlay_choose(struct nsrun_request *request, bool dry_run,
    struct nsrun_err *err);

/* For run: that, and hold what the request asks for, if it does. */
int overlay_hold(struct overlay *o, struct nsrun_request *request,
    bool dry_run, struct nsrun_err *err);
/* There is a plan: write down what the project is, if it begins now. */
int overlay_record(struct overlay *o, struct nsrun_err *err);
/* The launch is over: list it, where that was asked for, and let it go. */
int overlay_end(struct overlay *o, struct nsrun_err *err);

#endif
