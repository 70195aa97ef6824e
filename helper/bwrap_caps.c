/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of capabilities(7), as cap_from_name(3) takes them. Not by libcap-ng:
 * what it adds to the start of every sandbox is more than this table.
 */
#include <linux/capability.h>
#include <strings.h>

#include "base/number.h"
#include "bwrap.h"

static const char *const names[] = {
	[CAP_CHOWN]		= "chown",
	[CAP_DAC_OVERRIDE]	= "dac_override",
	[CAP_DAC_READ_SEARCH]	= "dac_read_search",
	[CAP_FOWNER]		= "fowner",
	[CAP_FSETID]		= "fsetid",
	[CAP_KILL]		= "kill",
	[CAP_SETGID]		= "setgid",
	[CAP_SETUID]		= "setuid",
	[CAP_SETPCAP]		= "setpcap",
	[CAP_LINUX_IMMUTABLE]	= "linux_immutable",
	[CAP_NET_BIND_SERVICE]	= "net_bind_service",
	[CAP_NET_BROADCAST]	= "net_broadcast",
	[CAP_NET_ADMIN]		= "net_admin",
	[CAP_NET_RAW]		= "net_raw",
	[CAP_IPC_LOCK]		= "ipc_lock",
	[CAP_IPC_OWNER]		= "ipc_owner",
	[CAP_SYS_MODULE]	= "sys_module",
	[CAP_SYS_RAWIO]		= "sys_rawio",
	[CAP_SYS_CHROOT]	= "sys_chroot",
	[CAP_SYS_PTRACE]	= "sys_ptrace",
	[CAP_SYS_PACCT]		= "sys_pacct",
	[CAP_SYS_ADMIN]		= "sys_admin",
	[CAP_SYS_BOOT]		= "sys_boot",
	[CAP_SYS_NICE]		= "sys_nice",
	[CAP_SYS_RESOURCE]	= "sys_resource",
	[CAP_SYS_TIME]		= "sys_time",
	[CAP_SYS_TTY_CONFIG]	= "sys_tty_config",
	[CAP_MKNOD]		= "mknod",
	[CAP_LEASE]		= "lease",
	[CAP_AUDIT_WRITE]	= "audit_write",
	[CAP_AUDIT_CONTROL]	= "audit_control",
	[CAP_SETFCAP]		= "setfcap",
	[CAP_MAC_OVERRIDE]	= "mac_override",
	[CAP_MAC_ADMIN]		= "mac_admin",
	[CAP_SYSLOG]		= "syslog",
	[CAP_WAKE_ALARM]	= "wake_alarm",
	[CAP_BLOCK_SUSPEND]	= "block_suspend",
	[CAP_AUDIT_READ]	= "audit_read",
	[CAP_PERFMON]		= "perfmon",
	[CAP_BPF]		= "bpf",
	[CAP_CHECKPOINT_RESTORE] = "checkpoint_restore",
};
_Static_assert(sizeof names / sizeof *names == CAP_LAST_CAP + 1, "all");

int
bwrap_cap_find(const char *name)
{
	uint64_t number;

	if (!strcasecmp(name, "all"))
		return BWRAP_ALL;
	if (nsrun_number_parse(name, CAP_LAST_CAP, &number) == 0)
		return (int)number;
	if (!strncasecmp(name, "cap_", 4))
		for (int cap = 0; cap <= CAP_LAST_CAP; cap++)
			if (!strcasecmp(names[cap], name + 4))
				return cap;
	return -2;
}
