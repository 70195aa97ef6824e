/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nsrun_plan_check() itself is public: see nsrun.h. */
#ifndef NSRUN_PLAN_CHECK_H
#define NSRUN_PLAN_CHECK_H

#include "nsrun.h"

enum { NSRUN_MOUNTS_MAX = 65536 };

#endif
