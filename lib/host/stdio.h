/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the caller's descriptors 0 to 2 may reach the command. */
#ifndef NSRUN_HOST_STDIO_H
#define NSRUN_HOST_STDIO_H

#include "host/request.h"
#include "plan/plan.h"

/* Look at 0 to 2 and fill in plan->stdio. */
int nsrun_stdio_decide(struct nsrun_plan *plan,
    const struct nsrun_request *request, bool stdin_null,
    struct nsrun_err *err);

#endif
