/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An overlay that is mounted nowhere yet: made by a process with a user and a
 * mount namespace of its own, which then ends, and handed over as a descriptor.
 * Whoever has that sees both layers as one tree, before anything runs in it.
 */
#ifndef NSRUN_BASE_OVERLAY_MOUNT_H
#define NSRUN_BASE_OVERLAY_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

struct nsrun_overlay_mount {
	const char	*lower;		/* canonical, and what lower_fd is */
	int		lower_fd;
	const char	*layer;		/* canonical; holds upper and work */
	int		layer_fd;
	uid_t		uid;		/* who writes, as the host sees it */
	gid_t		gid;
	bool		leaves_root;	/* we are root, and that is another */
	bool		maps;		/* and lower's owner is to look so */
	uid_t		lower_uid;
	gid_t		lower_gid;
};

/*
 * Returns the detached mount, nosuid and nodev, which the caller owns; or -1
 * with errno set and why[] naming what failed, or the kernel's own words.
 */
enum { NSRUN_OVERLAY_WHY = 112 };
int nsrun_overlay_mount(const struct nsrun_overlay_mount *m,
    char why[NSRUN_OVERLAY_WHY]);

#endif
