/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whose rights the janitor uses: what the command may do on the host, or, for a
 * moment, somebody else's. Of files alone, and of a process without threads.
 */
#ifndef NSRUN_RUN_BECOME_H
#define NSRUN_RUN_BECOME_H

#include <sys/types.h>

struct nsrun_plan;

/* Only root can; for anybody else there is nothing to do. */
void nsrun_become(const struct nsrun_plan *plan, uid_t uid);
void nsrun_become_caller(const struct nsrun_plan *plan);
void nsrun_become_command(const struct nsrun_plan *plan);

#endif
