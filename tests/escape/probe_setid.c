/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FS-14: a set-user-ID file that belongs to root on the host, by every call
 * that gives a file its mode. The driver also looks for one afterwards.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char name[] = "nsrun-escape-setid";

/* A file to be changed; it stays: whether it is harmless is to be seen. */
static int
fresh(void)
{
	int fd;

	unlink(name);
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0755);
	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	return fd;
}

/* Did the call, whatever it said, leave a bit on what it made? */
static _Noreturn void
judge(long rc, const char *path, const char *what)
{
	int saved = errno;
	struct stat st;

	if (lstat(path, &st) < 0)
		st.st_mode = 0;
	if (remove(path) < 0 && rc >= 0)
		probe_open("%s: and it cannot be removed", what);
	if (st.st_mode & (S_ISUID | S_ISGID))
		probe_open("%s: mode %o", what, st.st_mode);
	errno = saved;
	if (rc >= 0)
		probe_contained("%s: mode %o, the bits were dropped", what,
		    st.st_mode);
	probe_blocked(errno, "%s", what);
}

static void
by_chmod(void)
{
	fresh();
#ifdef SYS_chmod
	judge(syscall(SYS_chmod, name, 04755), name, "chmod");
#else
	judge(chmod(name, 04755), name, "chmod");
#endif
}

static void
by_chmod_gid(void)
{
	fresh();
	judge(chmod(name, 02755), name, "chmod 02755");
}

static void
by_fchmod(void)
{
	int fd = fresh();

	judge(syscall(SYS_fchmod, fd, 04755), name, "fchmod");
}

static void
by_fchmodat(void)
{
	fresh();
	judge(syscall(SYS_fchmodat, AT_FDCWD, name, 06755), name, "fchmodat");
}

/* fchmodat2, whose number is the same everywhere. */
static void
by_fchmodat2(void)
{
	fresh();
	judge(syscall(452, AT_FDCWD, name, 04755, 0), name, "fchmodat2");
}

static void
by_fchmodat2_fd(void)
{
	int fd = fresh();

	judge(syscall(452, fd, "", 04755, AT_EMPTY_PATH), name,
	    "fchmodat2 of a descriptor");
}

static void
by_chmod32(void)
{
	fresh();
	judge(syscall(SYS_fchmodat, AT_FDCWD, name, 1L << 32 | 04755), name,
	    "fchmodat with bit 32");
}

static void
by_open(void)
{
	unlink(name);
#ifdef SYS_open
	judge(syscall(SYS_open, name, O_WRONLY | O_CREAT, 04755), name, "open");
#else
	probe_skip("this machine has no open");
#endif
}

static void
by_openat(void)
{
	unlink(name);
	judge(syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT, 04755),
	    name, "openat");
}

static void
by_openat_gid(void)
{
	unlink(name);
	judge(syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CREAT | O_TRUNC |
	    O_CLOEXEC, 02755), name, "openat 02755");
}

static void
by_creat(void)
{
	unlink(name);
#ifdef SYS_creat
	judge(syscall(SYS_creat, name, 04755), name, "creat");
#else
	probe_skip("this machine has no creat");
#endif
}

static void
by_tmpfile(void)
{
	char path[64];
	int fd;

	unlink(name);
	fd = (int)syscall(SYS_openat, AT_FDCWD, ".", O_TMPFILE | O_RDWR,
	    04755);
	if (fd < 0)
		probe_blocked(errno, "O_TMPFILE");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	judge(linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW), name,
	    "O_TMPFILE");
}

static void
by_openat2(void)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 04755 };

	unlink(name);
	judge(syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how), name,
	    "openat2");
}

static void
by_mknod(void)
{
	unlink(name);
#ifdef SYS_mknod
	judge(syscall(SYS_mknod, name, S_IFREG | 04755, 0), name, "mknod");
#else
	probe_skip("this machine has no mknod");
#endif
}

static void
by_mknodat(void)
{
	unlink(name);
	judge(syscall(SYS_mknodat, AT_FDCWD, name, S_IFREG | 04755, 0), name,
	    "mknodat");
}

static void
by_mkdir(void)
{
	rmdir(name);
	unlink(name);
#ifdef SYS_mkdir
	judge(syscall(SYS_mkdir, name, 02755), name, "mkdir");
#else
	probe_skip("this machine has no mkdir");
#endif
}

static void
by_chmod_dir(void)
{
	rmdir(name);
	unlink(name);
	if (mkdir(name, 0755) < 0)
		probe_skip("mkdir: %s", strerror(errno));
	judge(chmod(name, 02755), name, "chmod of a directory");
}

const struct probe_check probe_setid[] = {
	{ "FS-14.chmod", by_chmod },
	{ "FS-14.chmod_gid", by_chmod_gid },
	{ "FS-14.fchmod", by_fchmod },
	{ "FS-14.fchmodat", by_fchmodat },
	{ "FS-14.fchmodat32", by_chmod32 },
	{ "FS-14.fchmodat2", by_fchmodat2 },
	{ "FS-14.fchmodat2_fd", by_fchmodat2_fd },
	{ "FS-14.open", by_open },
	{ "FS-14.openat", by_openat },
	{ "FS-14.openat_gid", by_openat_gid },
	{ "FS-14.creat", by_creat },
	{ "FS-14.tmpfile", by_tmpfile },
	{ "FS-14.openat2", by_openat2 },
	{ "FS-14.mknod", by_mknod },
	{ "FS-14.mknodat", by_mknodat },
	{ "FS-14.mkdir", by_mkdir },
	{ "FS-14.chmod_dir", by_chmod_dir },
	{ NULL, NULL }
};
