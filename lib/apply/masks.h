/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What masks are made of, in a directory of the sandbox's first tmpfs: the
 * child makes it, and who mends masks later finds it.
 */
#ifndef NSRUN_APPLY_MASKS_H
#define NSRUN_APPLY_MASKS_H

/* Over a directory, and over anything else. */
#define nsrun_masks_empty	"empty"
#define nsrun_masks_nothing	"nothing"

/*
 * The directory of the i-th tree in which pins are: the plan's pins have one
 * for each source, in its order.
 */
enum { NSRUN_MASKS_TREE_SIZE = sizeof "tree-00000000" };
void nsrun_masks_tree_name(char name[NSRUN_MASKS_TREE_SIZE], unsigned int i);

#endif
