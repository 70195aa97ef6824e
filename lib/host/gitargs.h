/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command lines of git that are run for a caller, by what each needs. */
#ifndef NSRUN_HOST_GITARGS_H
#define NSRUN_HOST_GITARGS_H

#include <stdbool.h>

struct nsrun_err;

struct nsrun_gitargs {
	bool	writes;		/* in the work tree and the repository */
	bool	needs_shell;	/* git starts the other side with one */
};

/*
 * argv is "git" or "/usr/bin/git", a subcommand and its arguments. What could
 * make git run a program, or write where it does not by itself, is refused.
 */
int nsrun_gitargs_check(struct nsrun_gitargs *args, char *const argv[],
    struct nsrun_err *err);

#endif
