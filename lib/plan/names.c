/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The words for the plan's enums, one table each. */
#include <linux/sched.h>

#include "plan/plan.h"

const char *
nsrun_stdio_name(enum nsrun_stdio stdio)
{
	static const char *const names[] = {
		[NSRUN_STDIO_INHERIT]	= "inherit",
		[NSRUN_STDIO_NULL]	= "null",
		[NSRUN_STDIO_RELAY]	= "relay",
		[NSRUN_STDIO_SAME]	= "same",
		[NSRUN_STDIO_TERMINAL]	= "terminal",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_STDIOS, "all");

	return names[stdio];
}

const char *
nsrun_boundary_name(enum nsrun_boundary boundary)
{
	static const char *const names[] = {
		[NSRUN_BOUNDARY_SANDBOX]	= "sandbox",
		[NSRUN_BOUNDARY_UNSANDBOXED]	= "unsandboxed",
		[NSRUN_BOUNDARY_HOOK_ENV_SCRUB]	= "hook-env-scrub",
		[NSRUN_BOUNDARY_HOOK_NONE]	= "hook-none",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_BOUNDARIES,
	    "all");

	return names[boundary];
}

const char *
nsrun_cgroup_use_name(enum nsrun_cgroup_use use)
{
	static const char *const names[] = {
		[NSRUN_CGROUP_OFF]	= "off",
		[NSRUN_CGROUP_AUTO]	= "auto",
		[NSRUN_CGROUP_REQUIRE]	= "require",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_CGROUP_USES,
	    "all");

	return names[use];
}

const char *
nsrun_network_name(enum nsrun_network network)
{
	static const char *const names[] = {
		[NSRUN_NETWORK_DENIED]		= "denied",
		[NSRUN_NETWORK_ISOLATED]	= "isolated",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_NETWORKS, "all");

	return names[network];
}

const char *
nsrun_plan_network(const struct nsrun_plan *plan)
{
	if (plan->boundary != NSRUN_BOUNDARY_SANDBOX)
		return "host";
	if (plan->profile || plan->namespaces & CLONE_NEWNET)
		return nsrun_network_name(plan->network);
	return plan->join.net >= 0 ? "joined" : "host";
}

const char *
nsrun_sid_name(enum nsrun_sid sid)
{
	static const char *const names[] = {
		[NSRUN_SESSION_OWN]	= "own",
		[NSRUN_SESSION_SHARED]	= "shared",
		[NSRUN_SESSION_CALLER]	= "caller",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_SESSIONS, "all");

	return names[sid];
}

const char *
nsrun_mount_kind_name(enum nsrun_mount_kind kind)
{
	static const char *const names[] = {
		[NSRUN_MOUNT_ROOT]	= "root",
		[NSRUN_MOUNT_TMPFS]	= "tmpfs",
		[NSRUN_MOUNT_SCRATCH]	= "scratch",
		[NSRUN_MOUNT_BIND]	= "bind",
		[NSRUN_MOUNT_PROC]	= "proc",
		[NSRUN_MOUNT_DEVPTS]	= "devpts",
		[NSRUN_MOUNT_DIR]	= "dir",
		[NSRUN_MOUNT_FILE]	= "file",
		[NSRUN_MOUNT_SYMLINK]	= "symlink",
		[NSRUN_MOUNT_COVER]	= "cover",
		[NSRUN_MOUNT_MASK]	= "mask",
		[NSRUN_MOUNT_MQUEUE]	= "mqueue",
		[NSRUN_MOUNT_OVERLAY]	= "overlay",
		[NSRUN_MOUNT_DATA]	= "data",
		[NSRUN_MOUNT_REMOUNT]	= "remount-ro",
		[NSRUN_MOUNT_CHMOD]	= "chmod",
		[NSRUN_MOUNT_PIN]	= "pin",
		[NSRUN_MOUNT_HIDE]	= "hide",
		[NSRUN_MOUNT_ABSENT]	= "absent",
		[NSRUN_MOUNT_FS]	= "fs",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_MOUNT_KINDS,
	    "all");

	return names[kind];
}

const struct nsrun_namespace nsrun_namespaces[NSRUN_N_NAMESPACES] = {
	{ CLONE_NEWUSER,	"user",		"user" },
	{ CLONE_NEWNS,		"mount",	"mnt" },
	{ CLONE_NEWPID,		"pid",		"pid" },
	{ CLONE_NEWNET,		"net",		"net" },
	{ CLONE_NEWIPC,		"ipc",		"ipc" },
	{ CLONE_NEWUTS,		"uts",		"uts" },
	{ CLONE_NEWCGROUP,	"cgroup",	"cgroup" },
};

const char *
nsrun_hazard_name(enum nsrun_hazard hazard)
{
	static const char *const names[] = {
		[NSRUN_HAZARD_NONE]		= "none",
		[NSRUN_HAZARD_MOUNT]		= "mount",
		[NSRUN_HAZARD_FILESYSTEM]	= "file-system",
		[NSRUN_HAZARD_SOCKET]		= "socket",
		[NSRUN_HAZARD_FIFO]		= "fifo",
		[NSRUN_HAZARD_CHAR]		= "char-device",
		[NSRUN_HAZARD_BLOCK]		= "block-device",
		[NSRUN_HAZARD_WHITEOUT]		= "whiteout",
		[NSRUN_HAZARD_ALIAS]		= "alias",
	};
	_Static_assert(sizeof names / sizeof *names == NSRUN_N_HAZARDS, "all");

	return names[hazard];
}
