/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/absent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/stub.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/become.h"

enum { MAX_ROUNDS = 100, MAX_ASIDE = 100 };

static const char *
name_of(const struct nsrun_absents *a, const struct nsrun_absent *one)
{
	return strrchr(a->plan->mounts.v[one->mount].target, '/') + 1;
}

int
nsrun_absents_init(struct nsrun_absents *a, const struct nsrun_plan *plan)
{
	struct rlimit files;

	a->plan = a->locks.plan = plan;
	a->socket_fd = -1;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (geteuid() == 0 && plan->identity.leaves_root &&
	    syscall(SYS_setgroups, 0, NULL) < 0)
		return errno;
	nsrun_become_command(plan);
	return 0;
}

/*
 * The next stubs are links to this one: a file system is slower to give out
 * inodes, above all those that it has just been given back.
 */
static void
keep_socket(struct nsrun_absents *a, const struct nsrun_absent *one,
    const char *name)
{
	nsrun_autoclose int fd = openat(one->dir_fd, name, O_PATH | O_NOFOLLOW |
	    O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !nsrun_stub_is_one(&st) ||
	    S_ISDIR(st.st_mode))
		return;
	nsrun_fd_close(&a->socket_fd);
	a->socket_fd = nsrun_fd_take(&fd);
}

static bool
link_socket(const struct nsrun_absents *a, const struct nsrun_absent *one,
    const char *name)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";

	if (a->socket_fd < 0)
		return false;
	nsrun_fd_path(path + sizeof "/proc/" - 1, a->socket_fd);
	return linkat(AT_FDCWD, path, one->dir_fd, name,
	    AT_SYMLINK_FOLLOW) == 0;
}

/* A socket, or where that cannot be, a directory. 0 or errno. */
static int
create(struct nsrun_absents *a, struct nsrun_absent *one, const char *name)
{
	struct stat st;

	if (link_socket(a, one, name))
		return 0;
	if (mknodat(one->dir_fd, name, NSRUN_STUB_SOCKET, 0) == 0) {
		keep_socket(a, one, name);
		return 0;
	}
	if (errno != EPERM && errno != EOPNOTSUPP && errno != EINVAL &&
	    errno != ENOSYS)
		return errno;
	if (mkdirat(one->dir_fd, name, NSRUN_STUB_DIR & 07777) < 0)
		return errno;
	/* Its mode may not be kept there. */
	if (fstatat(one->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		one->made = st.st_ino;
	return 0;
}

/* With the lock: is there one, or can there be? 0 or errno. */
static int
have(struct nsrun_absents *a, struct nsrun_absent *one, const struct stat *dir)
{
	const char *name = name_of(a, one);
	int errnum = EAGAIN;

	for (int i = 0; i < MAX_ROUNDS; i++) {
		struct stat st;

		if (fstatat(one->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return nsrun_stub_is_one(&st) ? 0 : EEXIST;
		if (errno != ENOENT)
			return errno;
		errnum = create(a, one, name);
		if (errnum != EEXIST)
			break;
	}
	/* Whom it does not belong to cannot give himself the right. */
	return errnum == EACCES && dir->st_uid != a->plan->identity.host_uid ?
	    EROFS : errnum;
}

/*
 * What we were given is of the sandbox's mounts, and through it what is mounted
 * there is seen. The same directory on the host shows what is below.
 */
static int
open_look(const struct nsrun_absents *a, const struct nsrun_absent *one,
    const struct stat *dir)
{
	const char *target = a->plan->mounts.v[one->mount].target;
	size_t n = (size_t)(strrchr(target, '/') - target);
	nsrun_autoclose int fd = -1;
	char path[PATH_MAX];
	struct stat st;

	if (n > 0 && n < sizeof path) {
		memcpy(path, target, n);
		path[n] = '\0';
		nsrun_become_caller(a->plan);
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		nsrun_become_command(a->plan);
	}
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dir->st_dev &&
	    st.st_ino == dir->st_ino ? nsrun_fd_take(&fd) : one->dir_fd;
}

/* One name in place's directory, which st describes. 0 or errno. */
static int
make(struct nsrun_absents *a, size_t i, const struct nsrun_absent *place,
    const struct stat *st)
{
	struct nsrun_absent *one = &a->v[a->n];
	int errnum;

	if (a->n == NSRUN_ABSENT_MAX)
		return E2BIG;
	*one = *place;
	one->mount = i;
	if (!nsrun_locks_find(&a->locks, a->plan->mounts.v[i].pin.uid, st,
	    name_of(a, one), &one->lock))
		return ENOLCK;
	if (!nsrun_locks_share(&a->locks, &one->lock))
		return errno;
	errnum = have(a, one, st);
	if (errnum)
		nsrun_locks_set(&a->locks, &one->lock, F_UNLCK);
	else
		a->n++;
	return errnum;
}

static bool
is_dir(int fd, const struct stat *st)
{
	struct stat other;

	return fstat(fd, &other) == 0 && other.st_dev == st->st_dev &&
	    other.st_ino == st->st_ino;
}

int
nsrun_absents_make(struct nsrun_absents *a, size_t *i, size_t end, int *dir)
{
	struct nsrun_absent place = { .mount = *i, .dir_fd = *dir };
	const struct nsrun_absent *last = a->n ? &a->v[a->n - 1] : NULL;
	int rc = 0;
	struct stat st;

	if (fstat(*dir, &st) < 0)
		return errno;
	/* Descriptors are few. */
	if (last && is_dir(last->dir_fd, &st)) {
		place.dir_fd = last->dir_fd;
		place.look_fd = last->look_fd;
	} else {
		place.look_fd = open_look(a, &place, &st);
		nsrun_fd_take(dir);
	}
	for (; *i < end; ++*i) {
		int errnum = make(a, *i, &place, &st);

		if (errnum == EROFS)
			rc = EROFS;
		else if (errnum && errnum != EEXIST)
			return errnum;
	}
	return rc;
}

/* Those whose directory is gone make room for others. */
static void
forget_removed(struct nsrun_absents *a)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->n; i++) {
		struct nsrun_absent *one = &a->v[i];
		struct stat st;

		if (one->is_alone && fstat(one->dir_fd, &st) == 0 &&
		    st.st_nlink == 0) {
			nsrun_locks_set(&a->locks, &one->lock, F_UNLCK);
			if (one->look_fd != one->dir_fd)
				nsrun_fd_close(&one->look_fd);
			nsrun_fd_close(&one->dir_fd);
			continue;
		}
		a->v[n++] = *one;
	}
	a->n = n;
}

static struct nsrun_absent *
find(struct nsrun_absents *a, size_t i, const struct stat *dir)
{
	for (unsigned int k = 0; k < a->n; k++)
		if (a->v[k].mount == i && is_dir(a->v[k].dir_fd, dir))
			return &a->v[k];
	return NULL;
}

/* The directory of mount i's name, in the tree; -1: there is none. */
static int
open_in_tree(const struct nsrun_absents *a, size_t i, int tree, size_t n)
{
	const char *target = a->plan->mounts.v[i].target + n + 1;
	const char *slash = strrchr(target, '/');
	size_t length = slash ? (size_t)(slash - target) : 0;
	char path[PATH_MAX] = ".";

	if (length >= sizeof path)
		return -1;
	if (length > 0) {
		memcpy(path, target, length);
		path[length] = '\0';
	}
	return sys_openat2(tree, path, O_PATH | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

void
nsrun_absents_follow(struct nsrun_absents *a, size_t i, int tree, size_t n)
{
	nsrun_autoclose int dir = open_in_tree(a, i, tree, n);
	struct nsrun_absent *one;
	struct stat st;

	if (dir < 0 || fstat(dir, &st) < 0)
		return;
	one = find(a, i, &st);
	if (one) {
		have(a, one, &st);
		return;
	}
	if (a->n == NSRUN_ABSENT_MAX)
		forget_removed(a);
	if (a->n == NSRUN_ABSENT_MAX)
		return;
	one = &a->v[a->n];
	*one = (struct nsrun_absent){
		.mount = i, .dir_fd = dir, .is_alone = true,
	};
	if (!nsrun_locks_find(&a->locks, a->plan->mounts.v[i].pin.uid, &st,
	    name_of(a, one), &one->lock) ||
	    !nsrun_locks_share(&a->locks, &one->lock))
		return;
	one->look_fd = open_look(a, one, &st);
	nsrun_fd_take(&dir);
	a->n++;
	have(a, one, &st);
}

/* Out of the way, under a name that is free; never over anything. */
static void
set_aside(const struct nsrun_absent *one, const char *name, char moved[256])
{
	for (int i = 1; i <= MAX_ASIDE; i++) {
		snprintf(moved, 256, "%.230s.oc-nsrun-%d", name, i);
		if (syscall(SYS_renameat2, one->dir_fd, name, one->dir_fd,
		    moved, 1 /* RENAME_NOREPLACE */) == 0)
			return;
		if (errno != EEXIST)
			break;
	}
	*moved = '\0';
}

static bool
is_stub(const struct nsrun_absent *one, const struct stat *st)
{
	return nsrun_stub_is_one(st) ||
	    (S_ISDIR(st->st_mode) && st->st_ino == one->made);
}

/* False: somebody has filled it. */
static bool
remove_stub(const struct nsrun_absent *one, const char *name,
    const struct stat *st)
{
	int flags = S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0;

	return unlinkat(one->dir_fd, name, flags) == 0 ||
	    (errno != ENOTEMPTY && errno != EEXIST);
}

static void
set_mode(int fd, mode_t mode)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";

	nsrun_fd_path(path + sizeof "/proc/" - 1, fd);
	fchmodat(AT_FDCWD, path, mode, 0);
}

/*
 * The command may have closed a directory of its own, with a stub in it. Open
 * it, if it is; the mode that it had, or 0.
 */
static mode_t
open_up(const struct nsrun_absents *a, const struct nsrun_absent *one)
{
	struct stat st;

	if (fstat(one->dir_fd, &st) < 0 || (st.st_mode & 0300) == 0300 ||
	    st.st_uid != a->plan->identity.host_uid)
		return 0;
	set_mode(one->dir_fd, (st.st_mode & 07777) | 0300);
	return st.st_mode;
}

/*
 * What is there? By the mount of the host's, in which a closed directory of an
 * idmapped root is not the command's.
 */
static bool
look(const struct nsrun_absents *a, const struct nsrun_absent *one,
    bool closed, struct stat *st)
{
	int rc;

	if (closed)
		nsrun_become_caller(a->plan);
	rc = fstatat(one->look_fd, name_of(a, one), st, AT_SYMLINK_NOFOLLOW);
	if (closed)
		nsrun_become_command(a->plan);
	return rc == 0;
}

static void
clear(struct nsrun_absents *a, const struct nsrun_absent *one, int report_fd)
{
	struct nsrun_violation v = {
		.mount = one->mount, .what = NSRUN_VIOLATION_APPEARED,
	};
	const char *name = name_of(a, one);
	mode_t closed = open_up(a, one);
	bool alone;
	struct stat st;

	/* Ours goes first: of two who leave at once, one finds itself alone. */
	nsrun_locks_set(&a->locks, &one->lock, F_UNLCK);
	alone = nsrun_locks_set(&a->locks, &one->lock, F_WRLCK);
	if (look(a, one, closed, &st) &&
	    !(is_stub(one, &st) && (!alone || remove_stub(one, name, &st)))) {
		set_aside(one, name, v.moved);
		while (write(report_fd, &v, sizeof v) < 0 && errno == EINTR)
			continue;
	}
	nsrun_locks_set(&a->locks, &one->lock, F_UNLCK);
	if (closed)
		set_mode(one->dir_fd, closed & 07777);
}

void
nsrun_absents_clear(struct nsrun_absents *a, int report_fd)
{
	/* A place of locks may have come since we took ours. */
	nsrun_locks_renew(&a->locks);
	for (unsigned int i = a->n; i-- > 0; )
		clear(a, &a->v[i], report_fd);
}
