/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of root's that would lend its rights. One with a set-ID bit or with
 * capabilities keeps them when it is written through a shared mapping, and no
 * filter sees that: a tree that holds one is not root's command's to write.
 */
#include "host/scan_tree.h"

#include <errno.h>
#include <stdio.h>
#include <sys/xattr.h>

/* By a path through procfs: there is no lgetxattrat(2) before Linux 6.13. */
static bool
has_capabilities(int dir_fd, const char *name)
{
	char path[NAME_MAX + 64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir_fd, name);
	return lgetxattr(path, "security.capability", NULL, 0) >= 0 ||
	    (errno != ENODATA && errno != EOPNOTSUPP && errno != ENOENT);
}

const char *
nsrun_scan_setid_rule(int dir_fd, const char *name, mode_t mode)
{
	if (mode & (S_ISUID | S_ISGID))
		return "has a set-ID bit, in a tree that a command of root's"
		    " may write: remove the bit";
	if (has_capabilities(dir_fd, name))
		return "has capabilities, in a tree that a command of root's"
		    " may write: setcap -r";
	return NULL;
}
