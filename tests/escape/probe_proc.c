/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PROC: the knobs and the secrets of /proc and /sys. Knobs are only opened. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static _Noreturn void
report(const struct probe_walk *walk)
{
	if (walk->n_opened)
		probe_open("%lu of %lu files, %s first", walk->n_opened,
		    walk->n_files, walk->first);
	if (!walk->n_files)
		probe_skip("there is no file");
	probe_blocked(walk->errnum, "none of %lu files, %d with another errno",
	    walk->n_files, walk->others);
}

static void
sys_writable(void)
{
	struct probe_walk walk = { 0 };

	probe_walk(&walk, "/proc/sys", O_WRONLY, 12);
	/* A walk that sees next to nothing proves nothing. */
	if (walk.n_files < 100)
		probe_skip("only %lu files in /proc/sys", walk.n_files);
	report(&walk);
}

static void
sys_core_pattern(void)
{
	probe_result(probe_try_open("/proc/sys/kernel/core_pattern", O_WRONLY),
	    "core_pattern");
}

/* Of the ipc namespace: its uid 0 may write it without any capability. */
static void
sys_shmmax(void)
{
	probe_result(probe_try_open("/proc/sys/kernel/shmmax", O_RDWR),
	    "shmmax");
}

/* Of the user namespace that owns the sandbox. */
static void
sys_namespaces(void)
{
	probe_result(probe_try_open("/proc/sys/user/max_user_namespaces",
	    O_RDWR), "max_user_namespaces");
}

static void
sysrq(void)
{
	if (access("/proc/sysrq-trigger", F_OK) < 0)
		probe_skip("this kernel has no sysrq");
	probe_result(probe_try_open("/proc/sysrq-trigger", O_WRONLY), "sysrq");
}

/* Everything that is not a process's own. */
static void
others_writable(void)
{
	static const char *const dirs[] = { "irq", "bus", "fs", "acpi", "scsi",
		"driver", "tty", "asound", "dynamic_debug", "sysvipc" };
	struct probe_walk walk = { 0 };
	char path[64];

	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
		snprintf(path, sizeof path, "/proc/%s", dirs[i]);
		probe_walk(&walk, path, O_WRONLY, 6);
	}
	report(&walk);
}

/* The files directly in /proc; /proc/pressure may be opened by anybody. */
static void
top_writable(void)
{
	struct probe_walk walk = { 0 };

	probe_walk(&walk, "/proc", O_WRONLY, 0);
	report(&walk);
}

/* "blocked": it opens and says nothing, as a masked file does. */
static _Noreturn void
read_secret(const char *path)
{
	char text[256];
	ssize_t n = probe_read(path, text, sizeof text);

	if (n > 0)
		probe_open("%s: %.60s", path, text);
	if (n == 0)
		probe_blocked(0, "%s is empty", path);
	probe_blocked(errno, "%s", path);
}

static void
keys(void)
{
	read_secret("/proc/keys");
}

static void
key_users(void)
{
	read_secret("/proc/key-users");
}

static void
timer_list(void)
{
	read_secret("/proc/timer_list");
}

static void
kcore(void)
{
	read_secret("/proc/kcore");
}

static void
kmsg(void)
{
	probe_result(probe_try_open("/proc/kmsg", O_RDONLY), "kmsg");
}

static void
kpage(void)
{
	static const char *const names[] = { "/proc/kpagecount",
		"/proc/kpageflags", "/proc/kpagecgroup" };

	for (size_t i = 0; i < 3; i++)
		if (probe_try_open(names[i], O_RDONLY) == 0)
			probe_open("%s", names[i]);
	probe_blocked(errno, "kpage*");
}

/* Where the kernel is: iomem and kallsyms show zeros to the unprivileged. */
static _Noreturn void
addresses(const char *path)
{
	char line[512];
	FILE *f = fopen(path, "r");

	if (!f)
		probe_blocked(errno, "%s", path);
	while (fgets(line, sizeof line, f)) {
		size_t n = strspn(line, " 0-");

		if (strchr("123456789abcdef", line[n]) && line[n] != '\0')
			probe_open("%s: %.40s", path, line);
	}
	probe_blocked(0, "%s: zeros only", path);
}

static void
kallsyms(void)
{
	addresses("/proc/kallsyms");
}

static void
iomem(void)
{
	addresses("/proc/iomem");
}

static void
slabinfo(void)
{
	read_secret("/proc/slabinfo");
}

static void
vmallocinfo(void)
{
	read_secret("/proc/vmallocinfo");
}

/* The sentinel outside, by its number. */
static void
host_pid(void)
{
	probe_result(probe_try_open(probe_proc_path(probe_number("sentinel"),
	    "cmdline"), O_RDONLY), "the sentinel's cmdline");
}

static void
host_pids(void)
{
	char title[4096];
	const struct dirent *entry;
	const char *marker = probe_param("marker");
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (entry = readdir(d))) {
		ssize_t len;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		n++;
		len = probe_read(probe_proc_path(atol(entry->d_name),
		    "cmdline"), title, sizeof title);
		if (len > 0 && memmem(title, (size_t)len, marker,
		    strlen(marker)) && !memmem(title, (size_t)len, "marker=",
		    7))
			probe_open("process %s is visible", entry->d_name);
	}
	probe_blocked(0, "%d processes, none the sentinel", n);
}

/* Host sockets, as /proc lists them. */
static _Noreturn void
listed(const char *path, const char *what)
{
	char *text = malloc(1 << 20);
	ssize_t n = text ? probe_read(path, text, 1 << 20) : -1;

	if (n < 0)
		probe_blocked(errno, "%s", path);
	if (strcasestr(text, what))
		probe_open("%s lists %s", path, what);
	probe_blocked(0, "%s does not list %s", path, what);
}

static void
net_unix(void)
{
	listed("/proc/net/unix", probe_param("abstract"));
}

static void
net_tcp(void)
{
	char port[16];

	snprintf(port, sizeof port, ":%04lX ", probe_number("port"));
	listed("/proc/net/tcp", port);
}

static void
sys(void)
{
	static const char *const paths[] = { "/sys", "/sys/fs/cgroup",
		"/sys/kernel", "/sys/firmware", "/cgroup" };

	for (size_t i = 0; i < 5; i++)
		if (access(paths[i], F_OK) == 0)
			probe_open("%s", paths[i]);
	probe_blocked(errno, "/sys");
}

static void
label(void)
{
	char now[128];

	if (probe_read("/proc/self/attr/current", now, sizeof now) <= 0)
		probe_skip("no security module gives labels");
	now[strcspn(now, "\n")] = '\0';
	if (strstr(now, "unconfined"))
		probe_skip("the label is %s already", now);
	probe_result(probe_try_open("/proc/self/attr/exec", O_WRONLY), now);
}

/* The user namespace that owns ours: from its handle the others follow. */
static void
owner(void)
{
	static const char *const names[] = { "mnt", "pid", "net", "ipc", "uts",
		"cgroup" };
	char path[64];

	for (size_t i = 0; i < 6; i++) {
		int fd, owned;

		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		owned = fd < 0 ? -1 : ioctl(fd, NS_GET_USERNS);
		if (owned >= 0)
			probe_open("%s", path);
	}
	probe_blocked(errno, "NS_GET_USERNS");
}

const struct probe_check probe_proc[] = {
	{ "PROC-01.all", sys_writable },
	{ "PROC-01.core_pattern", sys_core_pattern },
	{ "PROC-01.shmmax", sys_shmmax },
	{ "PROC-01.namespaces", sys_namespaces },
	{ "PROC-02.sysrq", sysrq },
	{ "PROC-02.others", others_writable },
	{ "PROC-02.top", top_writable },
	{ "PROC-02.timer_list", timer_list },
	{ "PROC-03.kcore", kcore },
	{ "PROC-03.kmsg", kmsg },
	{ "PROC-03.kpage", kpage },
	{ "PROC-03.kallsyms", kallsyms },
	{ "PROC-03.iomem", iomem },
	{ "PROC-03.slabinfo", slabinfo },
	{ "PROC-03.vmallocinfo", vmallocinfo },
	{ "PROC-03.keys", keys },
	{ "PROC-03.key_users", key_users },
	{ "PROC-04.number", host_pid },
	{ "PROC-04.list", host_pids },
	{ "PROC-13.unix", net_unix },
	{ "PROC-13.tcp", net_tcp },
	{ "PROC-14.sys", sys },
	{ "PROC-15.label", label },
	{ "PROC-16.owner", owner },
	{ NULL, NULL }
};
