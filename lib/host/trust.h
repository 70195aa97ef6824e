/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is a file one that only root can replace? */
#ifndef NSRUN_HOST_TRUST_H
#define NSRUN_HOST_TRUST_H

#include "nsrun.h"

/*
 * `path`, absolute and canonical, and each directory above it: owned by root
 * and writable by nobody else. 0, or -1 with err naming the first that is not.
 */
int nsrun_trust_check(const char *path, enum nsrun_step step,
    struct nsrun_err *err);

#endif
