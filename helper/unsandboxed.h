/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Running a command with no sandbox, where the site permits just that. */
#ifndef HELPER_UNSANDBOXED_H
#define HELPER_UNSANDBOXED_H

struct nsrun_err;
struct nsrun_run;

/*
 * Start run->plan's command with the caller's rights and see it to its end. One
 * line on standard error says so. After 0 run->result is set.
 */
int unsandboxed_run(struct nsrun_run *run, int status_fd, int log_fd,
    struct nsrun_err *err);

#endif
