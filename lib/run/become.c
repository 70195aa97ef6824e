/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/become.h"

#include <sys/fsuid.h>
#include <unistd.h>

#include "plan/plan.h"

void
nsrun_become(const struct nsrun_plan *plan, uid_t uid)
{
	if (geteuid() != 0)
		return;
	setfsuid(0);
	setfsgid(plan->identity.host_gid);
	setfsuid(uid);
}

void
nsrun_become_caller(const struct nsrun_plan *plan)
{
	nsrun_become(plan, geteuid());
}

void
nsrun_become_command(const struct nsrun_plan *plan)
{
	nsrun_become(plan, plan->identity.host_uid);
}
