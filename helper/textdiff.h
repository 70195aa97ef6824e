/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changed within a file, as unified diff. */
#ifndef HELPER_TEXTDIFF_H
#define HELPER_TEXTDIFF_H

#include <stddef.h>
#include <stdio.h>

struct nsrun_change;

/*
 * Print that of a change, as patch(1) takes it. What is not text, or too large
 * to compare, is said to be so. On a terminal no byte of it is obeyed.
 */
void textdiff_print(FILE *out, const struct nsrun_change *change);

/* The hunks from one text to another; 0: there are too many differences. */
int textdiff_hunks(FILE *out, const char *old, size_t n_old, const char *new,
    size_t n_new, int escapes);

#endif
