/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NS: what the namespaces are, and that there is no way to more. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The text of a file: equal is as it should be. */
static _Noreturn void
equals(const char *path, const char *want)
{
	char text[4096];

	if (probe_read(path, text, sizeof text) < 0)
		probe_blocked(errno, "%s", path);
	if (strcmp(text, want))
		probe_open("%s: %.200s", path, text);
	probe_blocked(0, "%s: %.200s", path, text);
}

static void
uid_map(void)
{
	char want[64];

	snprintf(want, sizeof want, "%10u %10u %10u\n", getuid(), 0, 1);
	equals("/proc/self/uid_map", want);
}

static void
gid_map(void)
{
	char want[64];

	snprintf(want, sizeof want, "%10u %10u %10u\n", getgid(), 0, 1);
	equals("/proc/self/gid_map", want);
}

static void
setgroups_file(void)
{
	equals("/proc/self/setgroups", "deny\n");
}

static void
host_name(void)
{
	struct utsname name;

	if (uname(&name) < 0)
		probe_blocked(errno, "uname");
	if (strcmp(name.nodename, "sandbox"))
		probe_open("the name is %s", name.nodename);
	probe_blocked(0, "the name is %s", name.nodename);
}

/* Our place in the host's cgroups, or the root of our own. */
static void
cgroup(void)
{
	char text[4096], *save = NULL;

	if (probe_read("/proc/self/cgroup", text, sizeof text) < 0)
		probe_blocked(errno, "/proc/self/cgroup");
	for (char *line = strtok_r(text, "\n", &save); line;
	    line = strtok_r(NULL, "\n", &save)) {
		const char *path = strrchr(line, ':');

		if (!path || strcmp(path, ":/"))
			probe_open("%s", line);
	}
	probe_blocked(0, "all are /");
}

static void
setns_uts(void)
{
	int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);

	probe_result(setns(fd, CLONE_NEWUTS), "our own uts namespace");
}

static void
setns_pidfd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	probe_result(setns(fd, CLONE_NEWUTS), "a pidfd");
}

/*
 * With the bit that clone3 knows and clone does not, the flags of a thread:
 * the filter must see all 32 bits of what the kernel reads.
 */
static void
all_flags(void)
{
	static const long flags[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID,
		CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP };
	long before = syscall(SYS_getpid);

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		long rc = syscall(SYS_clone, flags[i] | CLONE_NEWUSER |
		    1L << 33, 0, 0, 0, 0);

		if (syscall(SYS_getpid) != before)
			_exit(0);
		if (rc >= 0)
			probe_open("clone with 0x%lx", flags[i]);
		if (errno != EPERM)
			probe_blocked(errno, "clone with 0x%lx", flags[i]);
	}
	probe_blocked(errno, "clone with each");
}

const struct probe_check probe_ns[] = {
	{ "NS-01.each", all_flags },
	{ "NS-04.uts", setns_uts },
	{ "NS-04.pidfd", setns_pidfd },
	{ "NS-07.uid_map", uid_map },
	{ "NS-07.gid_map", gid_map },
	{ "NS-07.setgroups", setgroups_file },
	{ "NS-08.name", host_name },
	{ "NS-10.cgroup", cgroup },
	{ NULL, NULL }
};
