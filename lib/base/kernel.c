/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/kernel.h"

#include <stdio.h>

bool
nsrun_kernel_suffices(struct utsname *name)
{
	int major = 0, minor = 0;

	*name = (struct utsname){ 0 };
	if (uname(name) < 0)
		return false;
	return sscanf(name->release, "%d.%d", &major, &minor) == 2 &&
	    (major > 5 || (major == 5 && minor >= 14));
}
