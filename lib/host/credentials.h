/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Credentials: files of the host's that a caller grants one by one, shown at a
 * place of the command's home, or copied there. A copy is an ordinary file of
 * the home: a client may write it in place, put another in its place, or make
 * a lock beside it, and the host's stays what it is.
 */
#ifndef NSRUN_HOST_CREDENTIALS_H
#define NSRUN_HOST_CREDENTIALS_H

#include "host/build.h"

/* More is no credential, and is neither copied nor taken back. */
enum { NSRUN_CREDENTIAL_MAX = 1 << 20 };

/* After the home: an entry of the plan for each. */
int nsrun_build_credentials(struct nsrun_build *b);

/*
 * Where the request's credential i is to be inside, absolute and clean; it is
 * beneath the home.
 */
const char *nsrun_credential_dest(struct nsrun_build *b, size_t i);

int nsrun_request_add_credential(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);
int nsrun_request_add_credential_copy(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);
int nsrun_request_set_credential_return(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);

#endif
