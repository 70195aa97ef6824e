/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/absent.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/stub.h"
#include "plan/plan.h"

enum { MAX_ROUNDS = 100, MAX_WAIT_MS = 5000, MAX_ASIDE = 100 };

static const char *
name_of(const struct nsrun_absents *a, const struct nsrun_absent *one)
{
	return strrchr(a->plan->mounts.v[one->mount].target, '/') + 1;
}

/* By system call: this is nobody's thread, and the process of no host. */
static void
become(const struct nsrun_absents *a, uid_t uid)
{
	if (geteuid() != 0)
		return;
	setfsuid(0);
	setfsgid(a->plan->identity.host_gid);
	setfsuid(uid);
}

void
nsrun_absents_as_caller(const struct nsrun_absents *a)
{
	become(a, geteuid());
}

void
nsrun_absents_as_command(const struct nsrun_absents *a)
{
	become(a, a->plan->identity.host_uid);
}

int
nsrun_absents_init(struct nsrun_absents *a, const struct nsrun_plan *plan)
{
	struct rlimit files;

	a->plan = plan;
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (geteuid() == 0 && plan->identity.leaves_root &&
	    syscall(SYS_setgroups, 0, NULL) < 0)
		return errno;
	become(a, plan->identity.host_uid);
	return 0;
}

/*
 * The lock file in the directory `name` of `base`, which must be uid's and
 * nobody else's; made, where `make` says so.
 */
static int
open_lock(int base, const char *name, uid_t uid, bool make)
{
	nsrun_autoclose int dir = -1, fd = -1;
	struct stat st;

	if (make && mkdirat(base, name, 0700) < 0)
		return -1;
	errno = 0;	/* from here on: it is there, and may be of no use */
	dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != uid ||
	    st.st_mode & 077)
		return -1;
	fd = openat(dir, "masks", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != uid ||
	    !S_ISREG(st.st_mode))
		return -1;
	return nsrun_fd_take(&fd);
}

/*
 * In a session's own directory. A foreign one of that name, as in a user
 * namespace where uid 0 is not the host's, counts for nothing.
 */
static void
open_session_lock(struct nsrun_lock_files *files)
{
	char path[64];
	nsrun_autoclose int dir = -1;
	struct stat st;

	snprintf(path, sizeof path, "/run/user/%u", (unsigned int)files->uid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != files->uid)
		return;
	for (int make = 0; make < 2 && files->fds[0] < 0; make++)
		files->fds[0] = open_lock(dir, "oc-nsrun", files->uid, make);
}

/*
 * In /tmp, which is everybody's: what another has put at a name makes it the
 * next one. All that are ours are used, so that two who began with different
 * ones still meet.
 */
static void
open_shared_locks(struct nsrun_lock_files *files)
{
	nsrun_autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	bool any = false;
	char name[64];

	for (int make = 0; make < 2 && !any; make++)
		for (int i = 1; i < NSRUN_LOCK_FILES && !(make && any); i++) {
			snprintf(name, sizeof name, ".oc-nsrun-%u.%d",
			    (unsigned int)files->uid, i);
			if (files->fds[i] < 0)
				files->fds[i] = open_lock(tmp, name,
				    files->uid, make);
			any |= files->fds[i] >= 0;
			/* Made, and not ours: the next would not be either. */
			if (make && !any && errno != EEXIST)
				return;
		}
}

/*
 * Both places, where both are there: a session's may come and go, and /tmp may
 * be another one for a service. Who meets us in either does not miss us. What
 * is open stays: closing it would drop its locks.
 */
static bool
open_locks(const struct nsrun_absents *a, struct nsrun_lock_files *files)
{
	become(a, files->uid);
	if (files->fds[0] < 0)
		open_session_lock(files);
	open_shared_locks(files);
	become(a, a->plan->identity.host_uid);
	for (int i = 0; i < NSRUN_LOCK_FILES; i++)
		if (files->fds[i] >= 0)
			return true;
	return false;
}

/*
 * Whose lock file: of the owner of the root, whom root can act for, so that a
 * user and root mean the same one. Anybody else has only his own. -1: none.
 */
static int
find_locks(struct nsrun_absents *a, uid_t owner)
{
	uid_t uid = geteuid() == 0 ? owner : geteuid();
	struct nsrun_lock_files *files;

	for (int i = 0; i < a->n_locks; i++)
		if (a->locks[i].uid == uid)
			return i;
	if (a->n_locks == NSRUN_LOCK_USERS)
		return -1;
	files = &a->locks[a->n_locks];
	files->uid = uid;
	for (int i = 0; i < NSRUN_LOCK_FILES; i++)
		files->fds[i] = -1;
	return open_locks(a, files) ? a->n_locks++ : -1;
}

static bool
set_lock(const struct nsrun_absents *a, const struct nsrun_absent *one,
    short type)
{
	const struct nsrun_lock_files *files = &a->locks[one->users];

	for (int i = 0; i < NSRUN_LOCK_FILES; i++) {
		struct flock lock = {
			.l_type = type, .l_whence = SEEK_SET,
			.l_start = one->key, .l_len = 1,
		};

		if (files->fds[i] >= 0 &&
		    fcntl(files->fds[i], F_OFD_SETLK, &lock) < 0)
			return false;
	}
	return true;
}

/* Share it; one that is being removed is held exclusively, for a moment. */
static bool
share(const struct nsrun_absents *a, const struct nsrun_absent *one)
{
	for (int ms = 0; ms < MAX_WAIT_MS; ms++) {
		if (set_lock(a, one, F_RDLCK))
			return true;
		set_lock(a, one, F_UNLCK);
		if (errno != EAGAIN && errno != EACCES)
			return false;
		poll(NULL, 0, 1);
	}
	return false;
}

/* The byte that stands for a name: FNV-1a. One for two names does no harm. */
static off_t
key_of(const struct stat *dir, const char *name)
{
	const uint64_t numbers[2] = { dir->st_dev, dir->st_ino };
	const unsigned char *s = (const unsigned char *)numbers;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < sizeof numbers; i++)
		hash = (hash ^ s[i]) * 0x100000001b3;
	for (s = (const unsigned char *)name; *s; s++)
		hash = (hash ^ *s) * 0x100000001b3;
	return (off_t)(hash >> 2);
}

/* A socket, or where that cannot be, a directory. 0 or errno. */
static int
create(struct nsrun_absent *one, const char *name)
{
	struct stat st;

	if (mknodat(one->dir_fd, name, NSRUN_STUB_SOCKET, 0) == 0)
		return 0;
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
have(const struct nsrun_absents *a, struct nsrun_absent *one,
    const struct stat *dir)
{
	const char *name = name_of(a, one);
	int errnum = EAGAIN;

	for (int i = 0; i < MAX_ROUNDS; i++) {
		struct stat st;

		if (fstatat(one->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			return nsrun_stub_is_one(&st) ? 0 : EEXIST;
		if (errno != ENOENT)
			return errno;
		errnum = create(one, name);
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
		nsrun_absents_as_caller(a);
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		nsrun_absents_as_command(a);
	}
	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dir->st_dev &&
	    st.st_ino == dir->st_ino ? nsrun_fd_take(&fd) : one->dir_fd;
}

int
nsrun_absents_make(struct nsrun_absents *a, size_t i, int *dir)
{
	struct nsrun_absent *one = &a->v[a->n], *last = one - 1;
	struct stat st, other;
	int errnum;

	if (a->n == NSRUN_ABSENT_MAX)
		return E2BIG;
	if (fstat(*dir, &st) < 0)
		return errno;
	*one = (struct nsrun_absent){ .mount = i, .dir_fd = *dir };
	one->key = key_of(&st, name_of(a, one));
	one->users = find_locks(a, a->plan->mounts.v[i].pin.uid);
	if (one->users < 0)
		return ENOLCK;
	if (!share(a, one))
		return EBUSY;
	errnum = have(a, one, &st);
	if (errnum) {
		set_lock(a, one, F_UNLCK);
		return errnum;
	}
	/* Many are in one directory, and descriptors are few. */
	if (a->n && fstat(last->dir_fd, &other) == 0 &&
	    other.st_dev == st.st_dev && other.st_ino == st.st_ino) {
		one->dir_fd = last->dir_fd;
		one->look_fd = last->look_fd;
	} else {
		nsrun_fd_take(dir);
		one->look_fd = open_look(a, one, &st);
	}
	a->n++;
	return 0;
}

void
nsrun_absents_remake(struct nsrun_absents *a)
{
	struct stat dir;

	for (unsigned int i = 0; i < a->n; i++)
		if (fstat(a->v[i].dir_fd, &dir) == 0)
			have(a, &a->v[i], &dir);
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
clear(struct nsrun_absents *a, const struct nsrun_absent *one, int report_fd)
{
	struct nsrun_violation v = { .mount = one->mount };
	const char *name = name_of(a, one);
	bool alone;
	struct stat st;

	/* Ours goes first: of two who leave at once, one finds itself alone. */
	set_lock(a, one, F_UNLCK);
	alone = set_lock(a, one, F_WRLCK);
	if (fstatat(one->look_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !(is_stub(one, &st) && (!alone || remove_stub(one, name, &st)))) {
		set_aside(one, name, v.moved);
		while (write(report_fd, &v, sizeof v) < 0 && errno == EINTR)
			continue;
	}
	set_lock(a, one, F_UNLCK);
}

void
nsrun_absents_clear(struct nsrun_absents *a, int report_fd)
{
	/* A place of locks may have come since we took ours. */
	for (int i = 0; i < a->n_locks; i++)
		open_locks(a, &a->locks[i]);
	for (unsigned int i = a->n; i-- > 0; )
		clear(a, &a->v[i], report_fd);
}
