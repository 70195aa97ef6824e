/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a shell cannot do for the tests of real callers: what a caller does
 * around bwrap, and what a command finds inside. See probe.c for the words.
 */
#ifndef TESTS_CLIENTS_PROBE_H
#define TESTS_CLIENTS_PROBE_H

#include <linux/filter.h>
#include <stddef.h>

enum { MAX_INSNS = 512 };

/*
 * A word of the command line and what it does; words[0] is its first operand
 * and the list ends in NULL. Returns the exit status.
 */
struct verb {
	const char *name;
	int (*run)(char **words);
};

/* The filters that callers bring along, as they bring them. */
size_t filter_make(const char *name, struct sock_filter insns[MAX_INSNS]);
/* Puts this process under it, no_new_privs included. */
void filter_load(const char *name);

int run_helper(char **words);
int run_try(char **words);

/* Does not return where there is no such program. */
_Noreturn void run_exec(char **words);
/* Says what failed and ends. */
_Noreturn void die(const char *what);
/* ENAME, or a number. */
const char *errno_name(int errnum);

#endif
