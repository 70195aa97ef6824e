/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/names.h"

#include <seccomp.h>

static const uint32_t tokens[NSRUN_N_ARCHES] = {
	[NSRUN_ARCH_X86_64]	= SCMP_ARCH_X86_64,
	[NSRUN_ARCH_AARCH64]	= SCMP_ARCH_AARCH64,
};

char *
nsrun_syscall_name(enum nsrun_arch arch, int nr)
{
	return seccomp_syscall_resolve_num_arch(tokens[arch], nr);
}

int
nsrun_syscall_number(enum nsrun_arch arch, const char *name)
{
	int nr = seccomp_syscall_resolve_name_arch(tokens[arch], name);

	/* A call of other architectures has a negative number of its own. */
	if (nr == __NR_SCMP_ERROR)
		return -2;
	return nr < 0 ? -1 : nr;
}
