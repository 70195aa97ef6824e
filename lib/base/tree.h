/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directory trees that are to go. Parent only. */
#ifndef NSRUN_BASE_TREE_H
#define NSRUN_BASE_TREE_H

/*
 * Remove directory `name` of top with all that is in it, following nothing and
 * however deep it is. top is ours alone and holds nothing else: what is in the
 * tree moves up into it on the way. Returns 0, or -1 with errno set; then what
 * is left stays in top, for a next try.
 */
int nsrun_tree_remove(int top, const char *name);

/* Remove all that is in top, the same way. */
int nsrun_tree_empty(int top);

#endif
