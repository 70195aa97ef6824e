/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The subcommands of oc-nsrun: each gets its argv and returns the status. */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HELPER_FAILED = 125, HELPER_CANNOT_EXEC = 126, HELPER_NOT_FOUND = 127 };

int run_main(int argc, char *argv[]);
int explain_main(int argc, char *argv[]);
int doctor_main(int argc, char *argv[]);
int policy_main(int argc, char *argv[]);
int scan_main(int argc, char *argv[]);
int git_main(int argc, char *argv[]);
int home_main(int argc, char *argv[]);
int changes_main(int argc, char *argv[]);

/* Run what was parsed, or report err, if it says so; releases opts. */
struct opts;
struct nsrun_err;
int run_opts(struct opts *opts, struct nsrun_err *err);

/* The first thing each program does. NULL, or why it must not go on. */
const char *helper_start(int argc, char *argv[]);

/* Where this process keeps its arguments and environment: pid 1 hides them. */
extern char *helper_strings;
extern size_t helper_n_strings;

void usage_print(FILE *out);

#endif
