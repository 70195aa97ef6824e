/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much directory trees hold: bytes on the disk and names. A file with n
 * names counts as a part of n for each, so that a link that is made or removed
 * changes nothing. What is mounted in a tree, and a root within another, counts
 * once or not at all.
 *
 * For a process of its own: nothing allocates, and the descriptors are taken.
 */
#ifndef NSRUN_RUN_USAGE_H
#define NSRUN_RUN_USAGE_H

#include <stdint.h>
#include <sys/types.h>

enum { NSRUN_USAGE_ROOTS = 256, NSRUN_USAGE_DEPTH = 16384,
	NSRUN_USAGE_WHERE = 320 };

struct nsrun_usage {
	uint64_t	bytes;
	uint64_t	inodes;
};

struct nsrun_usage_roots {
	unsigned int	n;
	struct {
		int	fd;		/* to be read */
		ino_t	ino;
		uint32_t dev_major, dev_minor;
	}		v[NSRUN_USAGE_ROOTS];
};

/*
 * Measure; -1 with errno: something cannot be read, or is too deep. where says
 * what, as far as that can be told.
 */
int nsrun_usage_measure(const struct nsrun_usage_roots *roots,
    struct nsrun_usage *usage, char where[NSRUN_USAGE_WHERE]);

/*
 * Add what has no name (any more) and is held open by a process in the pid
 * namespace with that inode, or below: in the file systems of the roots, and in
 * memory files. What no descriptor leads to, such as a mapping, is not seen.
 */
void nsrun_usage_add_nameless(const struct nsrun_usage_roots *roots,
    uint64_t pid_namespace, struct nsrun_usage *usage);

/* Has any of the file systems changed since? Notes how it is in *now. */
uint64_t nsrun_usage_fingerprint(const struct nsrun_usage_roots *roots);

#endif
