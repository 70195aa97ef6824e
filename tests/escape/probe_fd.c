/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FD: descriptors, standard streams, and what else exec(2) hands down. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of every process whose descriptors can be seen: 0, 1, 2 and nothing else. */
static void
descriptors(void)
{
	char path[64], link[400], text[16];
	const struct dirent *entry, *fd;
	DIR *proc = opendir("/proc"), *fds;
	int n = 0;

	while (proc && (entry = readdir(proc))) {
		long pid = atol(entry->d_name);

		/* We hold the two directories ourselves. */
		snprintf(path, sizeof path, "/proc/%ld/fd", pid);
		if (pid <= 0 || pid == getpid() || !(fds = opendir(path)))
			continue;
		n++;
		while ((fd = readdir(fds))) {
			if (fd->d_name[0] == '.' || atoi(fd->d_name) <= 2)
				continue;
			/* A number alone is nothing yet: pid 1's, for uid 0. */
			snprintf(link, sizeof link, "%s/%s", path, fd->d_name);
			if (readlink(link, text, sizeof text) >= 0)
				probe_open("%s", link);
		}
		closedir(fds);
	}
	if (n < 1)
		probe_skip("no process's descriptors can be seen");
	probe_blocked(0, "%d processes have 0 to 2", n);
}

/* Our own, without a directory: every number there may be. */
static void
numbers(void)
{
	long max = probe_number("maxfd");

	for (int fd = 3; fd <= max; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			probe_open("descriptor %d", fd);
	probe_blocked(EBADF, "3 to %ld", max);
}

/* The same as the kernel lists it: one may be very high. */
static void
listed(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(d))
			probe_open("descriptor %s", entry->d_name);
	if (!d)
		probe_skip("/proc/self/fd: %s", strerror(errno));
	probe_blocked(0, "0 to 2");
}

static void
closed(void)
{
	struct stat st, null;

	if (stat("/dev/null", &null) < 0)
		probe_blocked(errno, "/dev/null");
	for (int fd = 0; fd < 3; fd++)
		/* 1 carries our answer. */
		if (fd != 1 && (fstat(fd, &st) < 0 ||
		    st.st_rdev != null.st_rdev))
			probe_open("%d is not /dev/null", fd);
	probe_contained("0 and 2 are /dev/null");
}

/* A descriptor opened read-only, opened again for writing. */
static _Noreturn void
again(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	long rc;

	if (fd < 0)
		probe_blocked(errno, "%s", path);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		probe_contained("%s: no regular file (%o)", path, st.st_mode);
	rc = flags & O_TRUNC ? ftruncate(fd, 0) : flags == O_RDONLY ?
	    read(fd, &st, 1) : write(fd, "EVIL", 4);
	probe_result(rc, path);
}

static void
stdin_write(void)
{
	again("/proc/self/fd/0", O_WRONLY);
}

static void
stdin_truncate(void)
{
	again("/proc/self/fd/0", O_WRONLY | O_TRUNC);
}

static void
stderr_read(void)
{
	again("/proc/self/fd/2", O_RDONLY);
}

static void
stderr_truncate(void)
{
	again("/proc/self/fd/2", O_WRONLY | O_TRUNC);
}

static void
stderr_ftruncate(void)
{
	struct stat st;

	if (fstat(2, &st) < 0 || !S_ISREG(st.st_mode))
		probe_contained("stderr is no regular file");
	probe_result(ftruncate(2, 0), "ftruncate");
}

static void
stderr_chmod(void)
{
	struct stat st;

	if (fstat(2, &st) < 0 || !S_ISREG(st.st_mode))
		probe_contained("stderr is no regular file");
	probe_result(fchmod(2, 0666), "fchmod");
}

/* A descriptor that the other end of standard input passed along. */
static void
receive(void)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(0, &msg, 0);

	if (n < 0)
		probe_blocked(errno, "recvmsg");
	if (!CMSG_FIRSTHDR(&msg))
		probe_blocked(0, "no descriptor came");
	probe_open("a descriptor came");
}

/* One mask of /proc/self/status. */
static unsigned long
mask(const char *key)
{
	char text[8192], *s;

	if (probe_read("/proc/self/status", text, sizeof text) < 0 ||
	    !(s = strstr(text, key)))
		probe_skip("no %s", key);
	return strtoul(s + strlen(key), NULL, 16);
}

/* 32 and 33 are the C library's own, which sigaction(3) does not touch. */
static const unsigned long internal = 3UL << 31;

static void
signals(void)
{
	if (mask("SigBlk:") || mask("SigIgn:") & ~internal)
		probe_open("blocked %lx, ignored %lx", mask("SigBlk:"),
		    mask("SigIgn:"));
	probe_blocked(0, "none blocked or ignored");
}

static void
internal_signals(void)
{
	if (mask("SigIgn:") & internal)
		probe_open("ignored %lx", mask("SigIgn:"));
	probe_blocked(0, "none ignored");
}

static void
execution_domain(void)
{
	int now = personality(0xffffffff);

	if (now == -1)
		probe_blocked(errno, "personality");
	if (now != PER_LINUX)
		probe_open("0x%x", now);
	probe_blocked(0, "0x%x", now);
}

const struct probe_check probe_fd[] = {
	{ "FD-01.processes", descriptors },
	{ "FD-01.numbers", numbers },
	{ "FD-01.listed", listed },
	{ "FD-02.closed", closed },
	{ "FD-03.write", stdin_write },
	{ "FD-03.truncate", stdin_truncate },
	{ "FD-04.read", stderr_read },
	{ "FD-04.truncate", stderr_truncate },
	{ "FD-04.ftruncate", stderr_ftruncate },
	{ "FD-04.chmod", stderr_chmod },
	{ "FD-06.signals", signals },
	{ "FD-06.internal", internal_signals },
	{ "FD-06.personality", execution_domain },
	{ "NET-08.receive", receive },
	{ NULL, NULL }
};
