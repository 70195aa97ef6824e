/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of capabilities(7), exactly as nsjail takes them: CAP_ and capitals. */
#include <linux/capability.h>
#include <string.h>

#include "nsjail.h"

#define CAP(name) [CAP_##name] = "CAP_" #name
static const char *const names[] = {
	CAP(CHOWN), CAP(DAC_OVERRIDE), CAP(DAC_READ_SEARCH), CAP(FOWNER),
	CAP(FSETID), CAP(KILL), CAP(SETGID), CAP(SETUID), CAP(SETPCAP),
	CAP(LINUX_IMMUTABLE), CAP(NET_BIND_SERVICE), CAP(NET_BROADCAST),
	CAP(NET_ADMIN), CAP(NET_RAW), CAP(IPC_LOCK), CAP(IPC_OWNER),
	CAP(SYS_MODULE), CAP(SYS_RAWIO), CAP(SYS_CHROOT), CAP(SYS_PTRACE),
	CAP(SYS_PACCT), CAP(SYS_ADMIN), CAP(SYS_BOOT), CAP(SYS_NICE),
	CAP(SYS_RESOURCE), CAP(SYS_TIME), CAP(SYS_TTY_CONFIG), CAP(MKNOD),
	CAP(LEASE), CAP(AUDIT_WRITE), CAP(AUDIT_CONTROL), CAP(SETFCAP),
	CAP(MAC_OVERRIDE), CAP(MAC_ADMIN), CAP(SYSLOG), CAP(WAKE_ALARM),
	CAP(BLOCK_SUSPEND), CAP(AUDIT_READ), CAP(PERFMON), CAP(BPF),
	CAP(CHECKPOINT_RESTORE),
};
_Static_assert(sizeof names / sizeof *names == CAP_LAST_CAP + 1, "all");

int
nsjail_cap_find(const char *name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}
