/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scan: what trees that a command may write hold that is not theirs alone.
 *
 * A file with a name outside of them is written there too; a socket or a FIFO
 * leads to a process of the host's; what is mounted below hides something. The
 * scan walks from pinned directories by descriptor, two threads at a time,
 * follows no link and crosses no mount. It keeps a node a directory and a
 * record for each file with several names, and no path.
 *
 * A tree that changes meanwhile is read again where it changed, until all of
 * it was seen unchanged; one that never rests is an error. So is whatever
 * cannot be looked into, and a bound that is met: there is no guess. What the
 * scan cannot know is a name that is made elsewhere after a file was looked at,
 * and clocks of network file systems.
 */
#ifndef NSRUN_HOST_SCAN_H
#define NSRUN_HOST_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "nsrun.h"
#include "plan/mounts.h"

struct nsrun_scan;
struct nsrun_scan_dir;

/* What to do about it: of a request or a profile. */
enum nsrun_on_hazard {
	NSRUN_ON_HAZARD_DEFAULT,
	NSRUN_ON_HAZARD_REFUSE,
	NSRUN_ON_HAZARD_SHIELD,
};
/* "refuse" or "shield"; DEFAULT: it is neither. */
enum nsrun_on_hazard nsrun_on_hazard_parse(const char *word);

struct nsrun_scan_limits {
	uint64_t	entries;	/* of all directories together */
	uint64_t	depth;		/* of directories below a root */
	uint64_t	time_ms;	/* for all of it */
	uint64_t	settle_ms;	/* for the tree to rest, once read */
};

#define NSRUN_SCAN_LIMITS { .entries = 4000000, .depth = 16384, \
    .time_ms = 120000, .settle_ms = 5000 }

/* Borrowed by the scan as long as it lives. */
struct nsrun_scan_root {
	const char	*path;		/* canonical */
	int		fd;		/* O_PATH will do */
	bool		lends;		/* a set-ID file in it is root's: then
					   it is refused */
};

/* How a place of a tree is met by the command. */
enum nsrun_exposure {
	NSRUN_EXPOSURE_WRITABLE,
	NSRUN_EXPOSURE_READONLY,	/* special files still work */
	NSRUN_EXPOSURE_HIDDEN,
};
typedef enum nsrun_exposure nsrun_exposure_fn(const void *arg, size_t root,
    const char *path);

struct nsrun_offender {
	enum nsrun_hazard kind;
	struct nsrun_scan_dir *dir;	/* that holds it */
	const char	*name;		/* in dir */
	uint64_t	names, inside;	/* ALIAS: of the file; in the trees */
	struct nsrun_pin pin;
};

struct nsrun_scan_result {
	uint64_t	n_entries, n_dirs;
	uint64_t	n[NSRUN_N_HAZARDS];
	struct nsrun_offender *v;	/* all of them, the scan's */
	size_t		n_offenders;
};

/*
 * Walk the trees. No root lies within another. On failure err has the step
 * "project" and names what stood in the way, escaped, and *scan is NULL.
 */
int nsrun_scan_new(struct nsrun_scan **scan,
    const struct nsrun_scan_root *roots, size_t n,
    const struct nsrun_scan_limits *limits, struct nsrun_err *err);
void nsrun_scan_free(struct nsrun_scan *scan);

/*
 * Call take for the path of each directory, file and link that is called .git,
 * in no order; it stops where take returns -1, and so does this.
 */
int nsrun_scan_each_git(struct nsrun_scan *scan,
    int (*take)(void *to, size_t root, const char *path), void *to,
    struct nsrun_err *err);

/*
 * What stands at this path, absolute, and what leads there may be met otherwise
 * than what is around it. To be said before anything is judged.
 */
void nsrun_scan_keep(struct nsrun_scan *scan, const char *path);

/*
 * What of it the command would meet; exposure NULL: all, and may write it. The
 * result is the scan's.
 */
int nsrun_scan_judge(struct nsrun_scan *scan, nsrun_exposure_fn *exposure,
    const void *arg, const struct nsrun_scan_result **result,
    struct nsrun_err *err);

/*
 * The first n offenders, at most NSRUN_SCAN_NAMED, by kind and then by name.
 * Returns how many v got.
 */
enum { NSRUN_SCAN_NAMED = 10 };
size_t nsrun_scan_first(struct nsrun_scan *scan,
    const struct nsrun_scan_result *result,
    struct nsrun_offender v[NSRUN_SCAN_NAMED]);

/*
 * The path of a name in dir, or of dir itself when that is NULL. It is the
 * scan's and good until the next call; NULL: no memory.
 */
const char *nsrun_scan_path(struct nsrun_scan *scan,
    const struct nsrun_scan_dir *dir, const char *name);
/* Which root dir is below. */
size_t nsrun_scan_root_of(const struct nsrun_scan_dir *dir);

/*
 * Which directories to cover so that no alias is written, as few as may be;
 * none that a kept path leads through.
 */
void nsrun_scan_plan_covers(struct nsrun_scan *scan,
    const struct nsrun_scan_result *result);
/*
 * What covers this alias: a directory, when all regular files below it are such
 * and it is no root; else NULL, the file itself. *pin is the directory's.
 */
struct nsrun_scan_dir *nsrun_scan_cover_of(const struct nsrun_offender *o,
    struct nsrun_pin *pin);
/* Is it told for the first time? */
bool nsrun_scan_cover_once(struct nsrun_scan_dir *dir);

#endif
