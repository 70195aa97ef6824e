/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in a tree that would lend their owner's rights. */
#ifndef NSRUN_HOST_SETID_H
#define NSRUN_HOST_SETID_H

#include "nsrun.h"

/*
 * A file of root's with a set-ID bit or capabilities, in a tree that root's
 * command may write, keeps them when it is written through a shared mapping: no
 * filter sees that. So such a tree is refused. Walks what is below root_fd, a
 * directory, on its file system, following no link; `path` is its name. 0, or
 * -1 with err naming the first such file, or why the tree cannot be looked
 * through.
 */
int nsrun_setid_check(int root_fd, const char *path, struct nsrun_err *err);

#endif
