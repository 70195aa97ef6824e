/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

enum { BUF_SIZE = 4096, SEEN_SIZE = 4096, MAX_COPIED = 4096,
	WANTED = SYS_STATX_TYPE | SYS_STATX_NLINK | SYS_STATX_INO |
	    SYS_STATX_BLOCKS };

/* One open directory of the path that is being walked. */
struct level {
	int	fd;
	int	at, end;	/* entries not looked at, in buf */
	_Alignas(struct sys_dirent) char buf[BUF_SIZE];
};

/* Room for all levels; pages are taken as they are used. */
static struct level *
make_levels(void)
{
	struct level *v = mmap(NULL, NSRUN_USAGE_DEPTH * sizeof *v,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);

	return v == MAP_FAILED ? NULL : v;
}

static void
count(struct nsrun_usage *usage, const struct sys_statx *st)
{
	usage->bytes += st->blocks * 512 / (st->nlink > 1 &&
	    !S_ISDIR(st->mode) ? st->nlink : 1);
	usage->inodes++;
}

static bool
is_root(const struct nsrun_usage_roots *roots, const struct sys_statx *st)
{
	for (unsigned int i = 0; i < roots->n; i++)
		if (roots->v[i].ino == st->ino &&
		    roots->v[i].dev_major == st->dev_major &&
		    roots->v[i].dev_minor == st->dev_minor)
			return true;
	return false;
}

/* What is gone by now is no error. */
static bool
is_gone(void)
{
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
}

/*
 * One entry of the level; 1: it is a directory, opened as the next, 0: it is
 * none, -1: it cannot be looked at.
 */
static int
look(const struct nsrun_usage_roots *roots, const struct level *level,
    const char *name, int *next, struct nsrun_usage *usage)
{
	struct sys_statx st;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (sys_statx(level->fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
	    WANTED, &st) < 0)
		return is_gone() ? 0 : -1;
	if (st.attributes & SYS_STATX_ATTR_MOUNT_ROOT || is_root(roots, &st))
		return 0;
	count(usage, &st);
	if (!S_ISDIR(st.mode))
		return 0;
	*next = openat(level->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	return *next >= 0 ? 1 : is_gone() ? 0 : -1;
}

/* The next entry of this directory; NULL: there is none, or errno is not 0. */
static const char *
next_name(struct level *level)
{
	const struct sys_dirent *entry;

	errno = 0;
	if (level->at == level->end) {
		level->at = 0;
		level->end = sys_getdents(level->fd, level->buf, BUF_SIZE);
		if (level->end <= 0) {
			level->end = 0;
			errno = errno == ENOENT ? 0 : errno;
			return NULL;
		}
	}
	entry = (const void *)(level->buf + level->at);
	level->at += entry->reclen;
	return entry->name;
}

/* The path of what cannot be looked at; name NULL: the directory itself. */
static void
note(char where[NSRUN_USAGE_WHERE], int dir_fd, const char *name)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";
	int errnum = errno;
	ssize_t n;

	nsrun_fd_path(path + sizeof "/proc/" - 1, dir_fd);
	n = readlink(path, where, NSRUN_USAGE_WHERE - 1);
	n = n < 0 ? 0 : n;
	where[n] = '\0';
	if (name)
		snprintf(where + n, (size_t)(NSRUN_USAGE_WHERE - n), "/%s",
		    name);
	errno = errnum;
}

/* levels[0].fd is open; all are closed in the end. */
static int
walk(const struct nsrun_usage_roots *roots, struct level *levels,
    struct nsrun_usage *usage, char where[NSRUN_USAGE_WHERE])
{
	int depth = 0, failed = 0;

	levels[0].at = levels[0].end = 0;
	while (depth >= 0) {
		const char *name = failed ? NULL : next_name(&levels[depth]);
		int next = -1, rc;

		if (!name) {
			if (!failed && errno)
				note(where, levels[depth].fd, NULL);
			failed = failed ? failed : errno;
			nsrun_fd_close(&levels[depth--].fd);
			continue;
		}
		rc = look(roots, &levels[depth], name, &next, usage);
		if (rc > 0 && depth + 1 == NSRUN_USAGE_DEPTH) {
			nsrun_fd_close(&next);
			errno = ENAMETOOLONG;
			rc = -1;
		}
		if (rc < 0) {
			note(where, levels[depth].fd, name);
			failed = errno;
		}
		if (rc > 0) {
			depth++;
			levels[depth].fd = next;
			levels[depth].at = levels[depth].end = 0;
		}
	}
	errno = failed;
	return failed ? -1 : 0;
}

int
nsrun_usage_measure(const struct nsrun_usage_roots *roots,
    struct nsrun_usage *usage, char where[NSRUN_USAGE_WHERE])
{
	struct level *levels = make_levels();
	int rc = levels ? 0 : -1, errnum;

	*usage = (struct nsrun_usage){ 0 };
	*where = '\0';
	for (unsigned int i = 0; rc == 0 && i < roots->n; i++) {
		levels[0].fd = openat(roots->v[i].fd, ".", O_RDONLY |
		    O_DIRECTORY | O_CLOEXEC);
		/* The root may be removed; what was in it is gone then. */
		if (levels[0].fd >= 0)
			rc = walk(roots, levels, usage, where);
		else if (!is_gone()) {
			note(where, roots->v[i].fd, NULL);
			rc = -1;
		}
	}
	errnum = errno;
	if (levels)
		munmap(levels, NSRUN_USAGE_DEPTH * sizeof *levels);
	errno = errnum;
	return rc;
}

uint64_t
nsrun_usage_fingerprint(const struct nsrun_usage_roots *roots)
{
	uint64_t sum = 0;
	struct statfs fs;

	for (unsigned int i = 0; i < roots->n; i++)
		if (fstatfs(roots->v[i].fd, &fs) == 0)
			sum = sum * 1099511628211u + (uint64_t)fs.f_bfree * 31 +
			    (uint64_t)fs.f_ffree;
	return sum;
}

/* Files without a name that were counted: processes share them. */
struct seen {
	unsigned int	n;
	struct { uint64_t ino; uint32_t major, minor; } v[SEEN_SIZE];
};

/* When there is no room left, one may be counted twice. */
static bool
is_new(struct seen *seen, const struct sys_statx *st)
{
	unsigned int at = (unsigned int)(st->ino * 2654435761u) % SEEN_SIZE;

	for (; seen->v[at].ino; at = (at + 1) % SEEN_SIZE)
		if (seen->v[at].ino == st->ino &&
		    seen->v[at].major == st->dev_major &&
		    seen->v[at].minor == st->dev_minor)
			return false;
	if (seen->n < SEEN_SIZE / 2) {
		seen->n++;
		seen->v[at].ino = st->ino;
		seen->v[at].major = st->dev_major;
		seen->v[at].minor = st->dev_minor;
	}
	return true;
}

static bool
is_on_root(const struct nsrun_usage_roots *roots, const struct sys_statx *st)
{
	for (unsigned int i = 0; i < roots->n; i++)
		if (roots->v[i].dev_major == st->dev_major &&
		    roots->v[i].dev_minor == st->dev_minor)
			return true;
	return false;
}

static bool
is_memory_file(int dir_fd, const char *name)
{
	static const char prefix[] = "/memfd:";
	char text[sizeof prefix];

	return readlinkat(dir_fd, name, text, sizeof text) >=
	    (ssize_t)(sizeof prefix - 1) &&
	    !memcmp(text, prefix, sizeof prefix - 1);
}

/* An open file, if it has no name any more. */
static void
count_file(const struct nsrun_usage_roots *roots, int dir_fd, const char *name,
    struct seen *seen, struct nsrun_usage *usage)
{
	struct sys_statx st;

	if (sys_statx(dir_fd, name, AT_NO_AUTOMOUNT, WANTED, &st) < 0)
		return;
	if (S_ISREG(st.mode) && st.nlink == 0 && is_new(seen, &st) &&
	    (is_on_root(roots, &st) || is_memory_file(dir_fd, name)))
		count(usage, &st);
}

/*
 * A process that is not dumpable shows its descriptors to nobody but root, and
 * gives copies of them to whom may trace it.
 */
static void
count_copies(const struct nsrun_usage_roots *roots, pid_t tid,
    struct seen *seen, struct nsrun_usage *usage)
{
	nsrun_autoclose int ours = open("/proc/self/fd", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	nsrun_autoclose int task = sys_pidfd_open_as(tid, SYS_PIDFD_THREAD);

	if (task < 0)
		task = sys_pidfd_open(tid);
	for (int i = 0; ours >= 0 && task >= 0 && i < MAX_COPIED; i++) {
		nsrun_autoclose int fd = sys_pidfd_getfd(task, i);
		char name[16];

		if (fd < 0 && errno != EBADF)
			return;
		snprintf(name, sizeof name, "%d", fd);
		if (fd >= 0)
			count_file(roots, ours, name, seen, usage);
	}
}

static void
count_descriptors(const struct nsrun_usage_roots *roots, int dir_fd,
    struct seen *seen, struct nsrun_usage *usage)
{
	struct level level = { .fd = dir_fd };
	const char *name;

	while ((name = next_name(&level)))
		if (*name != '.')
			count_file(roots, dir_fd, name, seen, usage);
}

/* Each thread may have descriptors of its own. */
static void
count_threads(const struct nsrun_usage_roots *roots, int proc_fd,
    const char *pid, struct seen *seen, struct nsrun_usage *usage)
{
	nsrun_autoclose int tasks = -1;
	char path[48];
	struct level level;
	const char *name;

	snprintf(path, sizeof path, "%.20s/task", pid);
	tasks = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	level = (struct level){ .fd = tasks };
	while (tasks >= 0 && (name = next_name(&level))) {
		nsrun_autoclose int fd = -1;

		if (*name == '.')
			continue;
		snprintf(path, sizeof path, "%.20s/fd", name);
		fd = openat(tasks, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			count_descriptors(roots, fd, seen, usage);
		else if (errno == EACCES)
			count_copies(roots, (pid_t)strtol(name, NULL, 10),
			    seen, usage);
	}
}

/* Is the process in that pid namespace, or in one below it? */
static bool
is_inside(int proc_fd, const char *pid, uint64_t pid_namespace)
{
	enum { MAX_NESTED = 32 };	/* as in the kernel */
	char path[48];
	int fd;
	bool inside = false;

	snprintf(path, sizeof path, "%.20s/ns/pid", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i <= MAX_NESTED && fd >= 0 && !inside; i++) {
		struct stat st;
		int up = -1;

		inside = fstat(fd, &st) == 0 && st.st_ino == pid_namespace;
		if (!inside)
			up = ioctl(fd, NS_GET_PARENT);
		nsrun_fd_close(&fd);
		fd = up;
	}
	nsrun_fd_close(&fd);
	return inside;
}

void
nsrun_usage_add_nameless(const struct nsrun_usage_roots *roots,
    uint64_t pid_namespace, struct nsrun_usage *usage)
{
	static struct seen seen;
	struct level level = {
		.fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	const char *name;

	memset(&seen, 0, sizeof seen);
	while (level.fd >= 0 && (name = next_name(&level)))
		if (*name >= '0' && *name <= '9' &&
		    is_inside(level.fd, name, pid_namespace))
			count_threads(roots, level.fd, name, &seen, usage);
	nsrun_fd_close(&level.fd);
}
