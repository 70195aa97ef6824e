/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of --status-fd, one JSON object a line: nsrun-status(5). Exactly
 * one of the final ones, `exited` or `failed`, is written, last.
 */
#ifndef NSRUN_RUN_STATUS_H
#define NSRUN_RUN_STATUS_H

#include "nsrun.h"

struct nsrun_plan;
struct nsrun_run;

/* fd -1 writes nothing. A reader that is gone is not an error. */
void nsrun_status_started(int fd, const struct nsrun_run *run);
/* A changed copy was handed back to path, or err says why it was not. */
void nsrun_status_handback(int fd, const char *path,
    const struct nsrun_err *err);
/* Something appeared at a masked name; moved: where it is now, "" for there. */
void nsrun_status_violation(int fd, const char *path, const char *what,
    const char *moved);
void nsrun_status_exited(int fd, const struct nsrun_run *run);
void nsrun_status_failed(int fd, const struct nsrun_err *err, int status);

#endif
