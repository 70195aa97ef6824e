/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The janitor: a process of its own that makes the mount points which a
 * sandbox needs in directories of the host, and removes them when the last
 * process in its mount namespace is gone, whoever was killed before.
 */
#ifndef NSRUN_RUN_JANITOR_H
#define NSRUN_RUN_JANITOR_H

#include "nsrun.h"

struct nsrun_run;

/*
 * Start one that serves socket_fd, which stays the caller's. run->janitor_fd is
 * its pidfd, which becomes readable when everything was removed.
 */
int nsrun_janitor_start(struct nsrun_run *run, int socket_fd,
    struct nsrun_err *err);

#endif
