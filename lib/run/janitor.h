/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The janitor: a process of its own that makes the mount points which a
 * sandbox needs in directories of the host, and removes them when the last
 * process in its mount namespace is gone, whoever was killed before.
 */
#ifndef NSRUN_RUN_JANITOR_H
#define NSRUN_RUN_JANITOR_H

#include "nsrun.h"

/*
 * Start one that serves socket_fd, which stays the caller's. Returns a pidfd,
 * which becomes readable when everything was removed, or -1 and err.
 */
int nsrun_janitor_start(int socket_fd, struct nsrun_err *err);

#endif
