/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bounds on a whole launch that others than its processes' own limits keep:
 * what its cgroup tells and what is written on the host; and what to say of its
 * end.
 */
#ifndef NSRUN_RUN_BOUNDS_H
#define NSRUN_RUN_BOUNDS_H

#include <poll.h>
#include <stdbool.h>
#include <sys/resource.h>

struct nsrun_run;

enum { NSRUN_BOUNDS_POLLED = 3 };

/* What to poll for, and after that: was a bound met that ends the launch? */
void nsrun_bounds_poll(const struct nsrun_run *run, struct pollfd *fds);
bool nsrun_bounds_handle(struct nsrun_run *run, const struct pollfd *fds);

/* The result, when pid 1 is gone; `used` is what it used, with its children. */
void nsrun_bounds_fill_result(struct nsrun_run *run, const struct rusage *used);
/* When everything is: the last look at what was written. */
void nsrun_bounds_finish(struct nsrun_run *run);

#endif
