/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths as strings: nothing here asks the file system. */
#ifndef NSRUN_BASE_PATH_H
#define NSRUN_BASE_PATH_H

#include <stdbool.h>

/* Absolute, no empty, "." or ".." component, no slash at the end but "/". */
bool nsrun_path_is_clean(const char *path);

/* Is path the same as root, or below it, component by component? Both clean. */
bool nsrun_path_is_within(const char *path, const char *root);

/*
 * Order of a tree's listing: as strcmp(3), but what is below a directory comes
 * right after it ("/a", "/a/b", "/a-b").
 */
int nsrun_path_compare(const char *a, const char *b);

#endif
