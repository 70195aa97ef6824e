/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DEV: devices and terminals. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_visible(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static void
list(void)
{
	static const char want[] = " fd full null ptmx pts random shm stderr"
	    " stdin stdout tty urandom zero";
	struct dirent **names;
	char text[4096] = "";
	int n = scandir("/dev", &names, is_visible, by_name);

	for (int i = 0; i < n; i++)
		if (strlen(text) + strlen(names[i]->d_name) + 2 < sizeof text)
			strcat(strcat(text, " "), names[i]->d_name);
	if (strcmp(text, want))
		probe_open("/dev:%.400s", text);
	probe_blocked(0, "/dev:%s", text);
}

static void
others(void)
{
	static const char *const names[] = { "mem", "kmem", "port", "kmsg",
		"kvm", "fuse", "net/tun", "vda", "sda", "nvme0n1", "vsock",
		"vhost-vsock", "vhost-net", "userfaultfd", "loop-control",
		"loop0", "dri", "snapshot", "console", "tty0", "tty1", "ttyS0",
		"uinput", "hwrng", "mapper/control", "mqueue" };
	char path[64];
	struct stat st;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "/dev/%s", names[i]);
		if (stat(path, &st) == 0)
			probe_open("%s", path);
		if (errno != ENOENT && errno != ENOTDIR)
			probe_blocked(errno, "%s", path);
	}
	probe_blocked(ENOENT, "none of %zu", sizeof names / sizeof *names);
}

/*
 * The node is the host's own inode: a change of its mode would outlive us. The
 * same mode as before, so that nothing changes where it works.
 */
static void
change_mode(void)
{
	struct stat st;

	if (stat("/dev/null", &st) < 0)
		probe_blocked(errno, "stat");
	probe_result(chmod("/dev/null", st.st_mode & 07777), "chmod /dev/null");
}

static void
change_times(void)
{
	struct stat st;
	struct timespec times[2];

	if (stat("/dev/full", &st) < 0)
		probe_blocked(errno, "stat");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	probe_result(utimensat(AT_FDCWD, "/dev/full", times, 0),
	    "utimensat /dev/full");
}

/* A new terminal that is ours and controls us: what is typed reaches nobody. */
static int
own_terminal(void)
{
	int unlock = 0, slave, master = open("/dev/ptmx", O_RDWR | O_NOCTTY);

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		probe_skip("no terminal: %s", strerror(errno));
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
	if (slave < 0)
		probe_skip("no terminal: %s", strerror(errno));
	setsid();
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		probe_skip("TIOCSCTTY: %s", strerror(errno));
	/* The session ends with us: its hang-up must not take the result. */
	signal(SIGHUP, SIG_IGN);
	return slave;
}

static _Noreturn void
request(unsigned long number, void *argument, const char *what)
{
	probe_result(syscall(SYS_ioctl, own_terminal(), number, argument),
	    what);
}

static void
sti(void)
{
	char c = 'x';

	request(0x5412, &c, "TIOCSTI");
}

static void
sti32(void)
{
	char c = 'x';

	request(0x100005412, &c, "TIOCSTI with bit 32");
}

static void
tioclinux(void)
{
	char c = 99;

	request(0x541c, &c, "TIOCLINUX");
}

static void
tioclinux32(void)
{
	char c = 99;

	request(0x10000541c, &c, "TIOCLINUX with bit 32");
}

/* Of a terminal that is not the console: EBADF or so without the filter. */
static void
tioccons(void)
{
	probe_result(syscall(SYS_ioctl, 0, 0x541d, NULL), "TIOCCONS");
}

static void
tiocsetd(void)
{
	int discipline = 0;

	request(0x5423, &discipline, "TIOCSETD");
}

/* The terminal on standard input: whose is it, and does it control us? */
static void
standard_input(void)
{
	struct stat st, own;

	if (!isatty(0) || fstat(0, &st) < 0)
		probe_skip("standard input is no terminal");
	if (st.st_rdev == (dev_t)probe_number("ttyrdev") &&
	    st.st_dev == (dev_t)probe_number("ttydev"))
		probe_open("the caller's own terminal");
	if (stat(ttyname(0) ? ttyname(0) : "/", &own) < 0 ||
	    own.st_ino != st.st_ino || own.st_dev != st.st_dev)
		probe_open("its name leads elsewhere");
	probe_contained("%s of a devpts of our own", ttyname(0));
}

static void
controlling(void)
{
	/* In a session that standard input did not make. */
	probe_result(probe_try_open("/dev/tty", O_RDWR), "/dev/tty");
}

/* One more than the bound of the sandbox's own devpts. */
static void
exhaust(void)
{
	int n;

	for (n = 0; n < 80; n++)
		if (open("/dev/ptmx", O_RDWR | O_NOCTTY) < 0)
			break;
	if (n == 80)
		probe_open("%d terminals", n);
	/* Standard streams may hold one of them. */
	if (n < 60)
		probe_skip("only %d terminals: %s", n, strerror(errno));
	probe_blocked(errno, "after %d terminals", n);
}

static void
shm(void)
{
	char path[128];

	snprintf(path, sizeof path, "/dev/shm/%s", probe_param("ipcname"));
	probe_result(probe_try_open(path, O_RDWR), path);
}

static void
mqueue(void)
{
	char name[128];

	snprintf(name, sizeof name, "/%s", probe_param("ipcname"));
	probe_result(mq_open(name, O_RDWR), name);
}

/* A device node of our own: /dev/null's number, if it can be made at all. */
static void
node(void)
{
	int rc = mknod("nsrun-escape-node", S_IFCHR | 0666, makedev(1, 3));
	int saved = errno;

	unlink("nsrun-escape-node");
	errno = saved;
	probe_result(rc, "mknod c 1 3");
}

static void
block_node(void)
{
	int rc = mknod("nsrun-escape-node", S_IFBLK | 0666, makedev(254, 0));
	int saved = errno;

	unlink("nsrun-escape-node");
	errno = saved;
	probe_result(rc, "mknod b 254 0");
}

const struct probe_check probe_dev[] = {
	{ "DEV-01.list", list },
	{ "DEV-02.others", others },
	{ "DEV-02.mode", change_mode },
	{ "DEV-02.times", change_times },
	{ "DEV-03.sti", sti },
	{ "DEV-04.sti32", sti32 },
	{ "DEV-04.linux32", tioclinux32 },
	{ "DEV-05.linux", tioclinux },
	{ "DEV-05.cons", tioccons },
	{ "DEV-05.setd", tiocsetd },
	{ "DEV-06.stdin", standard_input },
	{ "DEV-06.tty", controlling },
	{ "DEV-09.exhaust", exhaust },
	{ "DEV-10.shm", shm },
	{ "DEV-10.mqueue", mqueue },
	{ "FS-12.char", node },
	{ "FS-12.block", block_node },
	{ NULL, NULL }
};
