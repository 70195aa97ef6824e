/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PROC: other processes through /proc, pid 1 before all. Its files must stay
 * shut: it began as a copy of the caller and holds the way to the supervisor.
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void
open_one(const char *name, int flags)
{
	probe_result(probe_try_open(probe_proc_path(probe_pid1(), name), flags),
	    name);
}

static _Noreturn void
link_one(const char *name)
{
	char text[512];
	ssize_t n = readlink(probe_proc_path(probe_pid1(), name), text,
	    sizeof text - 1);

	if (n < 0)
		probe_blocked(errno, "%s", name);
	text[n] = '\0';
	probe_open("%s -> %s", name, text);
}

static void
one_environ(void)
{
	open_one("environ", O_RDONLY);
}

static void
one_maps(void)
{
	open_one("maps", O_RDONLY);
}

static void
one_auxv(void)
{
	open_one("auxv", O_RDONLY);
}

static void
one_mem_read(void)
{
	open_one("mem", O_RDONLY);
}

static void
one_mem_write(void)
{
	open_one("mem", O_RDWR);
}

/*
 * The links in a directory. The owner may list numbers of descriptors; what
 * they lead to is another question.
 */
static _Noreturn void
links_one(const char *name)
{
	char dir[512], path[1024], text[256];
	const struct dirent *entry;
	int errnum = EACCES;
	DIR *d;

	snprintf(dir, sizeof dir, "%s", probe_proc_path(probe_pid1(), name));
	d = opendir(dir);
	if (!d)
		probe_blocked(errno, "%s", name);
	while ((errno = 0, entry = readdir(d))) {
		ssize_t n;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
		n = readlink(path, text, sizeof text - 1);
		if (n >= 0)
			probe_open("%s -> %.*s", path, (int)n, text);
		errnum = errno;
	}
	probe_blocked(errno ? errno : errnum, "%s", name);
}

static void
one_fd(void)
{
	links_one("fd");
}

static void
one_map_files(void)
{
	links_one("map_files");
}

static void
one_syscall(void)
{
	char text[256];

	probe_result(probe_read(probe_proc_path(probe_pid1(), "syscall"), text,
	    sizeof text), "syscall");
}

static void
one_cwd(void)
{
	link_one("cwd");
}

static void
one_root(void)
{
	link_one("root");
}

static void
one_exe(void)
{
	link_one("exe");
}

static void
one_ns(void)
{
	link_one("ns/mnt");
}

static void
one_exe_write(void)
{
	open_one("exe", O_WRONLY);
}

/* The title is readable by design; it must be ours and nothing else. */
static void
one_cmdline(void)
{
	static const char title[] = "oc-nsrun-init";
	char text[4096];
	ssize_t n = probe_read(probe_proc_path(probe_pid1(), "cmdline"), text,
	    sizeof text);

	if (n < 0)
		probe_blocked(errno, "cmdline");
	if (strcmp(text, title))
		probe_open("%s", text);
	for (ssize_t i = sizeof title; i < n; i++)
		if (text[i])
			probe_open("after the title: %.80s", text + i);
	probe_blocked(0, "%s and %zd NULs", text,
	    n - (ssize_t)sizeof title + 1);
}

/* The secret is put together here, so that we are no place to find it. */
static const char *
secret(void)
{
	static char text[256];

	snprintf(text, sizeof text, "%s%s", probe_param("head"),
	    probe_param("tail"));
	return text;
}

static bool
has_secret(const char *pid, const char *name, const char *what)
{
	static char text[1 << 18];
	ssize_t n = probe_read(probe_proc_path(atol(pid), name), text,
	    sizeof text);

	return n > 0 && memmem(text, (size_t)n, what, strlen(what));
}

static void
find_secret(void)
{
	static const char *const names[] = { "environ", "cmdline", "auxv",
		"comm", "mountinfo" };
	const char *what = secret();
	const struct dirent *entry;
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		n++;
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (has_secret(entry->d_name, names[i], what))
				probe_open("/proc/%s/%s", entry->d_name,
				    names[i]);
	}
	probe_blocked(0, "not in %d processes", n);
}

/* The helper, by its number outside. */
static void
helper_mem(void)
{
	probe_result(probe_try_open(probe_proc_path(probe_number("sentinel"),
	    "mem"), O_RDWR), "the sentinel's mem");
}

static void
map_files(void)
{
	char path[512], target[512];
	const struct dirent *entry;
	DIR *d = opendir("/proc/self/map_files");

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/self/map_files/%s",
		    entry->d_name);
		if (readlink(path, target, sizeof target) > 0)
			probe_result(probe_try_open(path, O_RDONLY), path);
	}
	probe_skip("nothing is mapped: %s", strerror(errno));
}

static _Noreturn void
write_one(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		probe_blocked(errno, "open %s", path);
	probe_result(write(fd, text, strlen(text)), path);
}

/* The control makes a user namespace of its own first. */
static void
enter_fresh(void)
{
	if (probe_has("fresh") && unshare(CLONE_NEWUSER) < 0)
		probe_skip("unshare: %s", strerror(errno));
}

/* "inside outside count", of a map that a new namespace would take. */
static void
uid_map(void)
{
	char map[64];

	enter_fresh();
	snprintf(map, sizeof map, "0 %s 1", probe_param("outer"));
	write_one("/proc/self/uid_map", map);
}

static void
gid_map(void)
{
	char map[64];
	int fd;

	enter_fresh();
	if (probe_has("fresh")) {
		fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
		if (write(fd, "deny", 4) < 0)
			probe_skip("setgroups: %s", strerror(errno));
	}
	snprintf(map, sizeof map, "0 %s 1", probe_param("outergid"));
	write_one("/proc/self/gid_map", map);
}

static void
setgroups_deny(void)
{
	enter_fresh();
	write_one("/proc/self/setgroups", "deny");
}

/* Our own process's, which ends with the check. */
static void
oom(void)
{
	write_one("/proc/self/oom_score_adj", "-1000");
}

static void
slack(void)
{
	write_one(probe_proc_path(probe_pid1(), "timerslack_ns"), "50000");
}

static void
dump_filter(void)
{
	open_one("coredump_filter", O_WRONLY);
}

static void
clear_refs(void)
{
	open_one("clear_refs", O_WRONLY);
}

/* PIDFD_GET_*_NAMESPACE: 1 to 10 of pidfd's ioctls, without an argument. */
static void
pidfd_namespace(void)
{
	int fd = (int)syscall(SYS_pidfd_open, probe_pid1(), 0);

	if (fd < 0)
		probe_blocked(errno, "pidfd_open");
	for (unsigned int i = 1; i <= 10; i++)
		if (ioctl(fd, _IO(0xff, i), 0) >= 0)
			probe_open("namespace %u of pid 1", i);
	if (errno == ENOTTY || errno == EINVAL)
		probe_skip("this kernel's pidfds have no namespaces");
	probe_blocked(errno, "pidfd ioctl");
}

const struct probe_check probe_proc_one[] = {
	{ "PROC-05.environ", one_environ },
	{ "PROC-05.cmdline", one_cmdline },
	{ "PROC-05.fd", one_fd },
	{ "PROC-05.maps", one_maps },
	{ "PROC-05.auxv", one_auxv },
	{ "PROC-05.mem", one_mem_read },
	{ "PROC-05.map_files", one_map_files },
	{ "PROC-05.syscall", one_syscall },
	{ "PROC-05.cwd", one_cwd },
	{ "PROC-05.root", one_root },
	{ "PROC-05.ns", one_ns },
	{ "PROC-05.secret", find_secret },
	{ "PROC-06.mem", one_mem_write },
	{ "PROC-06.helper", helper_mem },
	{ "PROC-07.exe", one_exe },
	{ "PROC-07.write", one_exe_write },
	{ "PROC-09.map_files", map_files },
	{ "PROC-10.uid_map", uid_map },
	{ "PROC-10.gid_map", gid_map },
	{ "PROC-10.setgroups", setgroups_deny },
	{ "PROC-11.oom", oom },
	{ "PROC-11.slack", slack },
	{ "PROC-11.coredump_filter", dump_filter },
	{ "PROC-11.clear_refs", clear_refs },
	{ "PROC-16.pidfd", pidfd_namespace },
	{ NULL, NULL }
};
