/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Terminals: the caller's becomes raw and is restored, the sandbox's own gets
 * its modes and its size, and two relays connect them.
 */
#ifndef NSRUN_RUN_TTY_H
#define NSRUN_RUN_TTY_H

#include "run/run.h"

/* The master has arrived: wire it up. Takes *master. */
int nsrun_tty_connect(struct nsrun_run *run, int *master,
    struct nsrun_err *err);
/* The caller's terminal changed its size, or came back to the foreground. */
void nsrun_tty_refresh(struct nsrun_run *run);
/* May standard input be read now? */
bool nsrun_tty_has_keys(const struct nsrun_run *run);
/* Give the caller's terminal its modes back. May be called again. */
void nsrun_tty_restore(struct nsrun_run *run);

#endif
