/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session's own temporary directory on the host: private, new, and gone with
 * the session.
 *
 *	BASE/oc-nsrun-XXXXXXXX		the caller's, 0700, locked while it
 *					lives; never seen by a command
 *	BASE/oc-nsrun-XXXXXXXX/tmp	the command's, 0700: TMPDIR, at the same
 *					path inside and outside
 *
 * BASE is XDG_RUNTIME_DIR, or /tmp. Who finds one without a lock removes it: it
 * is of a session that was killed.
 */
#ifndef NSRUN_RUN_TEMP_H
#define NSRUN_RUN_TEMP_H

#include <sys/types.h>

#include "nsrun.h"

struct nsrun_temp {
	char	path[256];	/* of tmp; "": there is none */
	char	name[32];	/* of the outer one, in BASE */
	int	base_fd, outer_fd;
	dev_t	dev;		/* what tmp was when it was made */
	ino_t	ino;
};

#define NSRUN_TEMP_INIT { .base_fd = -1, .outer_fd = -1 }

/* Make one that belongs to these; and remove what killed sessions left. */
int nsrun_temp_make(struct nsrun_temp *temp, uid_t uid, gid_t gid,
    struct nsrun_err *err);

/* The command turned out to be somebody else than was expected. */
int nsrun_temp_give(const struct nsrun_temp *temp, uid_t uid, gid_t gid,
    struct nsrun_err *err);

/*
 * Remove it with all that is in it, following nothing; -1 where something else
 * stands at its place, which is left alone.
 */
int nsrun_temp_release(struct nsrun_temp *temp, struct nsrun_err *err);

#endif
