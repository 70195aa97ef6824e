/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recording a failure. See struct nsrun_err in nsrun.h for what one holds.
 *
 * Each of these returns -1, so that failing is one `return` line, and reads
 * errno before anything else runs. Nothing here allocates: all of it is safe
 * between clone and exec. err_print.h makes the words.
 */
#ifndef NSRUN_BASE_ERR_H
#define NSRUN_BASE_ERR_H

#include "nsrun.h"

_Static_assert(sizeof(struct nsrun_err) <= 512, "one atomic pipe write");

/*
 * `call` failed with the errno it left. The subject is a, or "a -> b" when b
 * is not NULL.
 */
int nsrun_err_sys(struct nsrun_err *err, enum nsrun_step step,
    const char *call, const char *a, const char *b);

/* A rule of ours was broken: `rule` says which, in words. */
int nsrun_err_rule(struct nsrun_err *err, enum nsrun_step step,
    const char *rule, const char *a, const char *b);

/* Out of memory while working on `subject`. */
int nsrun_err_nomem(struct nsrun_err *err, const char *subject);

#endif
