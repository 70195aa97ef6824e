/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching masks: the directories from a root to a mask, of which the kernel
 * tells when a name in them changes, and what stands at a name.
 */
#ifndef NSRUN_RUN_WATCH_PLACE_H
#define NSRUN_RUN_WATCH_PLACE_H

#include "run/watch.h"

enum { NSRUN_WATCH_PLACES = 65536 };

const char *nsrun_watch_target(const struct nsrun_watch *w, size_t mount);

/* The deepest grant that target is below; what is elsewhere is not watched. */
const struct nsrun_mount *nsrun_watch_find_grant(const struct nsrun_watch *w,
    const char *target);

/*
 * The directory that holds a mount's target. Masks come in a tree's order, so
 * what it shares with the last one, k, is above that. NONE: there is no room.
 */
ssize_t nsrun_watch_find_place(struct nsrun_watch *w, size_t mount, ssize_t k);

/* Look at a place; true: it is another one, or gone, or there again. */
bool nsrun_watch_look_at_place(struct nsrun_watch *w,
    struct nsrun_watch_place *p);

/* Where nobody may look, as where the command closed a directory: as before. */
struct nsrun_watch_object nsrun_watch_look(int dir, const char *name,
    int flags, const struct nsrun_watch_object *before);

/* The same number: what is kept open, as a directory is, cannot lose it. */
bool nsrun_watch_is_same(const struct nsrun_watch_object *a,
    const struct nsrun_watch_object *b);

#endif
