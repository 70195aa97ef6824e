/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks: names beneath the granted roots, resolved to what must be mounted so
 * that they hold. Every name is looked at by descriptors from a pinned root on;
 * nothing is created. globs.c finds what a pattern matches.
 */
#ifndef NSRUN_HOST_MASKS_H
#define NSRUN_HOST_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "plan/mounts.h"

struct nsrun_arena;
struct nsrun_err;
struct nsrun_request;

/* A granted root, as masks see it; the descriptor is somebody else's. */
struct nsrun_mask_root {
	const char	*path;		/* canonical */
	int		fd;
	bool		writable;
	uid_t		uid;		/* its owner's */
};

/* What is to be mounted where: PIN, COVER, HIDE or ABSENT. */
struct nsrun_mask {
	enum nsrun_mount_kind kind;
	const char	*path;		/* absolute and clean */
	const char	*root;		/* the root's path */
	bool		optional;	/* HIDE: it may be gone by then */
	struct nsrun_pin pin;		/* of what stands there; ABSENT: of
					   the directory that lacks it, and the
					   owner of its root */
};

struct nsrun_masks {
	struct nsrun_arena	*arena;
	const struct nsrun_mask_root *roots;
	size_t			n_roots;
	struct nsrun_mask	*v;
	size_t			n;
	char			*dir;		/* of dir_fd; malloc'ed */
	int			dir_fd;		/* the last directory; or -1 */
	struct nsrun_err	*err;
};

void nsrun_masks_init(struct nsrun_masks *masks, struct nsrun_arena *arena,
    const struct nsrun_mask_root *roots, size_t n_roots,
    struct nsrun_err *err);
void nsrun_masks_deinit(struct nsrun_masks *masks);

/*
 * Add what makes `path`, absolute and clean, hold: read-only where it is a
 * control name, not to be seen where it is hidden, not to be made where it is
 * absent. `optional`: it may be gone when the sandbox starts.
 */
int nsrun_masks_add(struct nsrun_masks *masks, const char *path, bool hide,
    bool optional);

/* Pin the directories between a root and `path`, which is mounted there. */
int nsrun_masks_add_pins(struct nsrun_masks *masks, const char *path);

/* Put them into the order in which they are mounted, each once. */
void nsrun_masks_sort(struct nsrun_masks *masks);

/* The deepest root that `path` is strictly below; NULL: none. */
const struct nsrun_mask_root *nsrun_masks_root_of(
    const struct nsrun_masks *masks, const char *path);

/* Has the pattern a character that makes it one? */
bool nsrun_glob_is_one(const char *pattern);

/*
 * Call nsrun_masks_add() for all that the patterns, absolute ones, match; each
 * root's tree is walked once, whatever their number.
 */
int nsrun_globs_add(struct nsrun_masks *masks, const char *const *patterns,
    size_t n);

/* The setter of the word `mask`. */
int nsrun_request_add_mask(struct nsrun_request *request, const char *value,
    struct nsrun_err *err);

#endif
