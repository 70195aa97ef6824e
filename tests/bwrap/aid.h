/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Words of `aid`, for demands.sh; each gets what follows its name. */
#ifndef TESTS_BWRAP_AID_H
#define TESTS_BWRAP_AID_H

_Noreturn void die(const char *what);
const char *error_name(int errnum);

/* aid_life.c */
int run_kills(char **words);
int run_thread(char **words);

/* aid_tty.c */
int run_pty(char **words);
int run_type(char **words);

#endif
