/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the drivers need and no shell can do: see aide.c. Most subcommands end
 * by running a command, in a state of their own making.
 */
#ifndef TESTS_ESCAPE_AIDE_H
#define TESTS_ESCAPE_AIDE_H

_Noreturn void aide_fail(const char *what);
_Noreturn void aide_exec(char *argv[]);

/* The sentinel: a victim outside, which logs whatever reaches it. */
int aide_sentinel(char *argv[]);

/* A tree that does not hold still. */
int aide_swap(char *argv[]);

/* Lives and deaths. */
int aide_daemons(char *argv[]);
int aide_zombies(char *argv[]);
int aide_thread(char *argv[]);
int aide_random(char *argv[]);
int aide_confined(char *argv[]);
int aide_pause(char *argv[]);

#endif
