/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words of a failure: parent only, nothing here runs before exec. */
#ifndef NSRUN_BASE_ERR_PRINT_H
#define NSRUN_BASE_ERR_PRINT_H

#include "nsrun.h"

/* "EPERM" for EPERM, "?" for none of Linux's; NULL for 0. Static. */
const char *nsrun_errno_name(int errnum);
/* "Operation not permitted"; in English, never NULL. Static. */
const char *nsrun_errno_text(int errnum);

/*
 * What kind of failure it is, for programs: "namespace-refused", "bad-input",
 * "not-found", ... as listed in nsrun-status(5). Static, never NULL.
 */
const char *nsrun_err_category(const struct nsrun_err *err);

#endif
