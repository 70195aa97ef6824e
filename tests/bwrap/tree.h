/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree as lines of text, for the driver, who looks at the host's files, and
 * for the probe, who looks at the same names inside:
 *
 *	FIELD PATH TYPE MODE UID:GID [w] [TARGET | CONTENT | NUMBERS]
 *
 * w says that access(2) allows writing. Nothing that differs between two
 * fixtures made alike is shown: times, inodes, sizes of directories.
 */
#ifndef TESTS_BWRAP_TREE_H
#define TESTS_BWRAP_TREE_H

#include <stdio.h>

/* path, and what is below it, `depth` directories deep; 0 is itself alone. */
void tree_print(FILE *out, const char *field, const char *path, int depth);

/* Text on one line: what is not printable becomes \xHH. */
void tree_escape(FILE *out, const char *text, size_t length);

#endif
