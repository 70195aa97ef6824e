/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The baseline: what the project was when its overlay was begun, one line a
 * name. What differs from it on the host was changed there since.
 *
 * A file or a link is the same while its inode and its ctime are, which nobody
 * can set; so neither the clock nor the order of times matters. A directory is
 * the same while it is that inode with that mode: what is in it has lines of
 * its own. The top's .git is left out: nothing is ever applied to it.
 */
#ifndef NSRUN_OVERLAY_BASELINE_H
#define NSRUN_OVERLAY_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nsrun.h"

struct nsrun_base {
	const char	*path;		/* below the project */
	uint64_t	ino;
	int64_t		ctime_s;
	uint32_t	ctime_ns;
	uint32_t	mode;		/* 0: it is not there */
};

struct nsrun_baseline {
	char		*text;		/* of the file: the paths */
	struct nsrun_base *v;
	size_t		n, room;
	size_t		n_sorted;	/* those of the file */
	char		**added;	/* paths of the others */
	size_t		n_added;
};

/* Write down what is in project_fd, into a file of dir_fd, all or nothing. */
int nsrun_baseline_record(int dir_fd, int project_fd, struct nsrun_err *err);

int nsrun_baseline_load(struct nsrun_baseline *b, int dir_fd,
    struct nsrun_err *err);
void nsrun_baseline_deinit(struct nsrun_baseline *b);

/*
 * Is what stands at path, st, or nothing where st is NULL, what stood there?
 */
bool nsrun_baseline_holds(const struct nsrun_baseline *b, const char *path,
    const struct stat *st);

/* From now on it is this that stood there; NULL: nothing. */
int nsrun_baseline_set(struct nsrun_baseline *b, const char *path,
    const struct stat *st);
/* Write it down again, as set. */
int nsrun_baseline_save(struct nsrun_baseline *b, int dir_fd,
    struct nsrun_err *err);

#endif
