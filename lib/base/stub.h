/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stubs: what stands on the host at a name that must stay absent, so that there
 * is something to mount on. A socket without any permission bit, which git and
 * most tools pass over; an empty directory where sockets cannot be made.
 */
#ifndef NSRUN_BASE_STUB_H
#define NSRUN_BASE_STUB_H

#include <stdbool.h>
#include <sys/stat.h>

enum {
	NSRUN_STUB_SOCKET = S_IFSOCK,
	/* Nobody else makes such a one; readable, or git complains. */
	NSRUN_STUB_DIR = S_IFDIR | S_ISVTX | 0555,
};

/* Does st look like one, of whatever sandbox, and of whoever's? */
static inline bool
nsrun_stub_is_one(const struct stat *st)
{
	return st->st_mode == NSRUN_STUB_SOCKET ||
	    (st->st_mode == NSRUN_STUB_DIR && st->st_nlink <= 2);
}

#endif
