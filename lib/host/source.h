/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sources of binds that a face was given by name or by descriptor. */
#ifndef NSRUN_HOST_SOURCE_H
#define NSRUN_HOST_SOURCE_H

#include "plan/mounts.h"

/*
 * Look at m->source: fills in m->type. What is not there, or
 * cannot be reached, is left to apply, which finds out for good.
 */
void nsrun_source_look(struct nsrun_mount *m);

/*
 * Pin what is open as fd, which stays the caller's: fills in m->pin, with a
 * descriptor of its own, m->type and, in path, m->source. -1 with errno set:
 * EBADF, or ENOENT for what has no name (any more).
 */
int nsrun_source_pin(struct nsrun_mount *m, int fd, char path[4096]);

#endif
