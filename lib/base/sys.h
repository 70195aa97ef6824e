/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls, structures and numbers that the C library or the headers of
 * Debian 12 (Linux 6.1, glibc 2.36) lack. The only file with #ifdefs on them.
 *
 * A name with sys_ is one system call and nothing else: it returns what the
 * kernel returns, or -1 with errno set, and is async-signal-safe.
 */
#ifndef NSRUN_BASE_SYS_H
#define NSRUN_BASE_SYS_H

#include <linux/mount.h>	/* before anything that brings <sys/mount.h> */
#include <linux/audit.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MOUNT_ATTR_NOSYMFOLLOW
#define MOUNT_ATTR_NOSYMFOLLOW	0x00200000
#endif
#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND	0x100000000ULL
#endif
#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP	0x200000000ULL
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC	(1U << 2)
#endif
#ifndef P_PIDFD
#define P_PIDFD	3
#endif

/* What this program is: seccomp(2)'s name for it. */
#ifdef __x86_64__
#define SYS_AUDIT_ARCH	AUDIT_ARCH_X86_64
#else
#define SYS_AUDIT_ARCH	AUDIT_ARCH_AARCH64
#endif

/* As statx(2) tells it; the headers of C libraries differ on newer members. */
struct sys_statx {
	uint32_t mask, blksize;
	uint64_t attributes;
	uint32_t nlink, uid, gid;
	uint16_t mode;
	uint64_t ino, size, blocks, attributes_mask;
	struct { int64_t s; uint32_t ns; } atime, btime, ctime, mtime;
	uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
	uint64_t mnt_id, more[13];
};
_Static_assert(sizeof(struct sys_statx) == 256, "as the kernel fills it");
#define SYS_STATX_TYPE		0x1
#define SYS_STATX_NLINK		0x4
#define SYS_STATX_CTIME		0x80
#define SYS_STATX_INO		0x100
#define SYS_STATX_BLOCKS	0x400
#define SYS_STATX_BTIME		0x800
#define SYS_STATX_MNT_ID	0x1000
#define SYS_STATX_ATTR_MOUNT_ROOT	0x2000

/* prctl(2), since 5.14. */
#define SYS_PR_SCHED_CORE		62
#define SYS_PR_SCHED_CORE_CREATE	1

/* What <sys/mount.h> would say; it cannot stand beside <linux/mount.h>. */
#define SYS_MNT_DETACH	2
#define SYS_MS_RDONLY	1
#define SYS_MS_NOSUID	2
#define SYS_MS_NODEV	4
#define SYS_MS_NOEXEC	8

static inline long
sys_clone3(struct clone_args *args)
{
	return syscall(SYS_clone3, args, sizeof *args);
}

static inline int
sys_openat2(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .resolve = resolve };

	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

#define SYS_RENAME_NOREPLACE	1
#define SYS_RENAME_EXCHANGE	2

static inline int
sys_renameat2(int from_fd, const char *from, int to_fd, const char *to,
    unsigned int flags)
{
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

static inline int
sys_close_range(unsigned int first, unsigned int last, unsigned int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

static inline int
sys_open_tree(int dirfd, const char *path, unsigned int flags)
{
	return (int)syscall(SYS_open_tree, dirfd, path, flags);
}

static inline int
sys_move_mount(int from_fd, const char *from, int to_fd, const char *to,
    unsigned int flags)
{
	return (int)syscall(SYS_move_mount, from_fd, from, to_fd, to, flags);
}

static inline int
sys_mount_setattr(int dirfd, const char *path, unsigned int flags,
    struct mount_attr *attr)
{
	return (int)syscall(SYS_mount_setattr, dirfd, path, flags, attr,
	    sizeof *attr);
}

static inline int
sys_statx(int dirfd, const char *path, int flags, unsigned int mask,
    struct sys_statx *st)
{
	return (int)syscall(SYS_statx, dirfd, path, flags, mask, st);
}

static inline int
sys_fsopen(const char *type)
{
	return (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
}

static inline int
sys_fsconfig(int fs, unsigned int command, const char *key, const void *value)
{
	return (int)syscall(SYS_fsconfig, fs, command, key, value, 0);
}

static inline int
sys_fsmount(int fs, unsigned int attr)
{
	return (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
}

static inline int
sys_pivot_root(const char *new_root, const char *put_old)
{
	return (int)syscall(SYS_pivot_root, new_root, put_old);
}

static inline int
sys_mount(const char *source, const char *target, const char *type,
    unsigned long flags, const void *data)
{
	return (int)syscall(SYS_mount, source, target, type, flags, data);
}

static inline int
sys_umount2(const char *target, int flags)
{
	return (int)syscall(SYS_umount2, target, flags);
}

/* Each C library keeps some signals to itself; a caller's mask has them all. */
static inline int
sys_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, 8);
}

struct sys_dirent {
	uint64_t	ino;
	int64_t		off;
	uint16_t	reclen;
	unsigned char	type;
	char		name[];
};

static inline int
sys_getdents(int fd, void *buf, unsigned int size)
{
	return (int)syscall(SYS_getdents64, fd, buf, size);
}

static inline int
sys_execveat(int fd, char *const argv[], char *const env[])
{
	return (int)syscall(SYS_execveat, fd, "", argv, env,
	    0x1000 /* AT_EMPTY_PATH */);
}

/* seccomp(2): a program, and every call that it refuses is logged. */
static inline int
sys_seccomp_log(const void *program)
{
	return (int)syscall(SYS_seccomp, 1 /* SET_MODE_FILTER */,
	    2 /* FLAG_LOG */, program);
}

static inline int
sys_pidfd_open(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* With SYS_PIDFD_THREAD of any thread; Linux 6.9, before that EINVAL. */
#define SYS_PIDFD_THREAD	O_EXCL
static inline int
sys_pidfd_open_as(pid_t tid, unsigned int flags)
{
	return (int)syscall(SYS_pidfd_open, tid, flags);
}

static inline int
sys_pidfd_getfd(int pidfd, int fd)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

static inline int
sys_pidfd_send_signal(int pidfd, int signal)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

#endif
