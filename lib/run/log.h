/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of --log-fd, for whoever keeps one of many launches: JSON Lines, each
 * with the time and the launch it is of. nsrun-status(5) has the fields. fd -1
 * writes nothing.
 */
#ifndef NSRUN_RUN_LOG_H
#define NSRUN_RUN_LOG_H

#include "nsrun.h"

struct nsrun_plan;
struct nsrun_run;

/* A plan is made: what it is, and each grant in it. */
void nsrun_log_preflight(int fd, const struct nsrun_plan *plan);
/* The command runs. */
void nsrun_log_start(int fd, const struct nsrun_run *run);
/* Something stood at a masked name; `moved`, where it is now, may be empty. */
void nsrun_log_violation(int fd, const char *path, const char *what,
    const char *moved);
/* It has ended; before that, what cancelled it. */
void nsrun_log_end(int fd, const struct nsrun_run *run);
/* It was refused, or could not be. */
void nsrun_log_denial(int fd, const struct nsrun_err *err, int status);

#endif
