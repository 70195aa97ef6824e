/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FS: files outside the grant, and read-only ones inside it.
 *
 * ro= is a read-only root with `file`, outside= a directory that was not
 * granted, with `secret`. What is made is made in the working directory, the
 * project, and removed again.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static const char name[] = "nsrun-escape-made";

static const char *
below(const char *param, const char *rest)
{
	static char path[4096];

	snprintf(path, sizeof path, "%s/%s", probe_param(param), rest);
	return path;
}

/* The result of something that made `name`, which goes again. */
static _Noreturn void
made(long rc, const char *what)
{
	int saved = errno;

	unlink(name);
	errno = saved;
	probe_result(rc, what);
}

static void
read_absolute(void)
{
	probe_result(probe_try_open(below("outside", "secret"), O_RDONLY),
	    "by its path");
}

static void
read_self_root(void)
{
	char path[4200];

	snprintf(path, sizeof path, "/proc/self/root%s",
	    below("outside", "secret"));
	probe_result(probe_try_open(path, O_RDONLY), "by /proc/self/root");
}

static void
read_dots(void)
{
	char path[4200];

	snprintf(path, sizeof path, "../../../../../../../../../../../../..%s",
	    below("outside", "secret"));
	probe_result(probe_try_open(path, O_RDONLY), "by ..");
}

static void
read_cwd_dots(void)
{
	char path[4200];

	snprintf(path, sizeof path, "/proc/self/cwd/../../../../../../../..%s",
	    below("outside", "secret"));
	probe_result(probe_try_open(path, O_RDONLY), "by the cwd");
}

static void
read_neighbour(void)
{
	/* The project stands in home/, the neighbour beside it. */
	probe_result(probe_try_open("../neighbour", O_RDONLY), "../neighbour");
}

static void
read_link(void)
{
	if (symlink(below("outside", "secret"), name) < 0)
		probe_skip("symlink: %s", strerror(errno));
	made(probe_try_open(name, O_RDONLY), "through a link");
}

static void
create_link(void)
{
	if (symlink(below("outside", "created"), name) < 0)
		probe_skip("symlink: %s", strerror(errno));
	made(probe_try_open(name, O_WRONLY | O_CREAT), "a dangling link");
}

static void
link_ro(void)
{
	made(link(below("ro", "file"), name), "link");
}

static void
link_usr(void)
{
	made(link("/usr/bin/env", name), "link of /usr/bin/env");
}

static void
rename_ro(void)
{
	made(rename(below("ro", "victim"), name), "rename");
}

static void
rename_into(void)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	close(fd);
	made(rename(name, below("ro", "moved")), "rename into");
}

static void
exchange(void)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	close(fd);
	made(syscall(SYS_renameat2, AT_FDCWD, below("ro", "file"), AT_FDCWD,
	    name, RENAME_EXCHANGE), "exchange");
}

static void
ro_open(void)
{
	probe_result(probe_try_open(below("ro", "file"), O_RDWR), "O_RDWR");
}

static void
ro_trunc(void)
{
	probe_result(probe_try_open(below("ro", "file"), O_RDONLY | O_TRUNC),
	    "O_TRUNC");
}

static void
ro_truncate(void)
{
	probe_result(truncate(below("ro", "file"), 0), "truncate");
}

static void
ro_chmod(void)
{
	probe_result(chmod(below("ro", "file"), 0600), "chmod");
}

static void
ro_times(void)
{
	probe_result(utimensat(AT_FDCWD, below("ro", "file"), NULL, 0),
	    "utimensat");
}

static void
ro_xattr(void)
{
	probe_result(setxattr(below("ro", "file"), "user.escape", "x", 1, 0),
	    "setxattr");
}

static void
ro_flags(void)
{
	int fd = open(below("ro", "file"), O_RDONLY), flags = 0;

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	probe_result(ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0 ? -1 :
	    ioctl(fd, FS_IOC_SETFLAGS, &flags), "FS_IOC_SETFLAGS");
}

static void
ro_create(void)
{
	probe_result(probe_try_open(below("ro", "created"),
	    O_WRONLY | O_CREAT), "O_CREAT");
}

static void
ro_mkdir(void)
{
	probe_result(mkdir(below("ro", "made"), 0755), "mkdir");
}

static void
ro_unlink(void)
{
	probe_result(unlink(below("ro", "file2")), "unlink");
}

static void
ro_mmap(void)
{
	int fd = open(below("ro", "file"), O_RDWR);

	if (fd < 0)
		fd = open(below("ro", "file"), O_RDONLY);
	if (mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) ==
	    MAP_FAILED)
		probe_blocked(errno, "mmap");
	probe_open("mmap");
}

/* Through the descriptor's magic link, as whoever opened it may not write. */
static void
ro_reopen(void)
{
	char path[64];
	int fd = open(below("ro", "file"), O_PATH);

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	probe_result(probe_try_open(path, O_WRONLY), path);
}

/*
 * A lease makes whoever opens the file for writing, outside too, wait for
 * fs.lease-break-time: 45 seconds.
 */
static void
lease(void)
{
	int fd = open(below("ro", "file"), O_RDONLY);

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	probe_result(fcntl(fd, F_SETLEASE, F_RDLCK), "F_SETLEASE");
}

/* Below a read-only root something else of the host is mounted. */
static void
ro_nested(void)
{
	probe_result(probe_try_open(below("nested", "file"), O_WRONLY),
	    "a mount below a read-only root");
}

/* A new file there, which does not stay where it can be made. */
static _Noreturn void
create(const char *path)
{
	int rc = probe_try_open(path, O_WRONLY | O_CREAT | O_EXCL);
	int saved = errno;

	if (rc == 0)
		unlink(path);
	errno = saved;
	probe_result(rc, path);
}

static void
root_write(void)
{
	create("/nsrun-escape-made");
}

static void
etc_write(void)
{
	create("/etc/nsrun-escape-made");
}

static void
dev_write(void)
{
	create("/dev/nsrun-escape-made");
}

/* On a file of our own. */
static _Noreturn void
attribute(const char *attribute_name, const void *value, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	made(fsetxattr(fd, attribute_name, value, n, 0), attribute_name);
}

static void
xattr_capability(void)
{
	/* VFS_CAP_REVISION_2 | effective, CAP_SYS_ADMIN. */
	static const unsigned int caps[5] = { 0x02000001, 1 << 21 };

	attribute("security.capability", caps, sizeof caps);
}

static void
xattr_trusted(void)
{
	attribute("trusted.escape", "x", 1);
}

static _Noreturn void
give_away(uid_t uid)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	made(fchown(fd, uid, (gid_t)-1), "fchown");
}

static void
chown_one(void)
{
	give_away(1);
}

static void
chown_root(void)
{
	give_away(getuid() == 0 ? 2 : 0);
}

/* Somebody else's file that anybody may write: only its owner changes. */
static void
chown_outer(void)
{
	give_away((uid_t)probe_number("outer") + 1);
}

const struct probe_check probe_fs[] = {
	{ "FS-01.path", read_absolute },
	{ "FS-01.self_root", read_self_root },
	{ "FS-02.dots", read_dots },
	{ "FS-02.cwd", read_cwd_dots },
	{ "FS-02.neighbour", read_neighbour },
	{ "FS-03.read", read_link },
	{ "FS-03.create", create_link },
	{ "FS-05.ro", link_ro },
	{ "FS-05.usr", link_usr },
	{ "FS-08.rename", rename_ro },
	{ "FS-08.into", rename_into },
	{ "FS-08.exchange", exchange },
	{ "FS-09.open", ro_open },
	{ "FS-09.trunc", ro_trunc },
	{ "FS-09.truncate", ro_truncate },
	{ "FS-09.chmod", ro_chmod },
	{ "FS-09.times", ro_times },
	{ "FS-09.xattr", ro_xattr },
	{ "FS-09.flags", ro_flags },
	{ "FS-09.create", ro_create },
	{ "FS-09.mkdir", ro_mkdir },
	{ "FS-09.unlink", ro_unlink },
	{ "FS-09.reopen", ro_reopen },
	{ "FS-10.mmap", ro_mmap },
	{ "FS-15.capability", xattr_capability },
	{ "FS-15.trusted", xattr_trusted },
	{ "FS-16.one", chown_one },
	{ "FS-16.root", chown_root },
	{ "FS-16.outer", chown_outer },
	{ "FS-25.lease", lease },
	{ "MNT-21.nested", ro_nested },
	{ "RES-08.root", root_write },
	{ "RES-08.etc", etc_write },
	{ "RES-08.dev", dev_write },
	{ NULL, NULL }
};
