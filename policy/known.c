/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of calls in what is installed, which has no libseccomp. */
#include <string.h>

#include "policy/embedded.h"
#include "policy/names.h"

int
nsrun_syscall_number(enum nsrun_arch arch, const char *name)
{
	for (size_t i = 0; i < nsrun_n_embedded_calls; i++)
		if (!strcmp(nsrun_embedded_calls[i].name, name))
			return nsrun_embedded_calls[i].nr[arch];
	return -2;
}
