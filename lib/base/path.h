/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths as strings: nothing here asks the file system. */
#ifndef NSRUN_BASE_PATH_H
#define NSRUN_BASE_PATH_H

#include <stdbool.h>

/* Absolute, no empty, "." or ".." component, no slash at the end but "/". */
bool nsrun_path_is_clean(const char *path);

/* Is path the same as root, or below it, component by component? Both clean. */
bool nsrun_path_is_within(const char *path, const char *root);

/* The part after the last slash. */
const char *nsrun_path_name(const char *path);

#endif
