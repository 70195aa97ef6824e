/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The index of gitformat-index(5), as far as it names repositories: git looks
 * into each that a work tree has, with the configuration that it finds there.
 */
#ifndef NSRUN_HOST_GITINDEX_H
#define NSRUN_HOST_GITINDEX_H

#include <stddef.h>

/*
 * Call take for the path of each entry that is a repository (160000). Stops
 * and returns -1 when take does; 1 when data is not an index with hashes of
 * that size (20 or 32), before any call.
 */
int nsrun_gitindex_links(const void *data, size_t size, size_t hash_size,
    int (*take)(void *to, const char *path), void *to);

#endif
