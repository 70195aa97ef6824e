/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Roots: the directories that a caller grants, opened once and pinned. From
 * then on the plan knows them by identity; a swapped path never mounts.
 */
#ifndef NSRUN_HOST_ROOTS_H
#define NSRUN_HOST_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "nsrun.h"
#include "plan/mounts.h"

struct nsrun_arena;

/* One pinned root; the pin's descriptor is this struct's until taken. */
struct nsrun_granted {
	const char	*path;		/* canonical; the arena's */
	bool		writable;
	struct nsrun_pin pin;
};

/*
 * Open `given`, a directory, canonically. `home` is the caller's (or NULL);
 * a broad root, an ancestor of home, home itself, a place in /proc, /sys or
 * /dev, and what the caller may not read, are refused. What a writable root
 * holds is the scan's business. step says what to call it in err.
 */
int nsrun_root_open(struct nsrun_granted *root, struct nsrun_arena *arena,
    const char *given, bool writable, const char *home, enum nsrun_step step,
    struct nsrun_err *err);

/* The same, read-only, and without any judgement of the place. */
int nsrun_root_pin(struct nsrun_granted *root, struct nsrun_arena *arena,
    const char *given, enum nsrun_step step, struct nsrun_err *err);

/* Is this path one that no one should grant whole? */
bool nsrun_root_is_broad(const char *path);

/*
 * Find in *mountinfo, a text as of /proc/PID/mountinfo, the next mount point
 * strictly below root, and move on behind it. Returns 1 and fills in found, 0
 * when there is none, -1 when the text is malformed.
 */
int nsrun_mountinfo_next_below(const char **mountinfo, const char *root,
    char *found, size_t size);

#endif
