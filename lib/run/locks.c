/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/locks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/become.h"

enum { MAX_WAIT_MS = 5000, UNUSABLE = -2 };

/*
 * The directory `name` of `base`, which must be uid's and nobody else's; made,
 * where `make` says so. errno is 0 when it is there and of no use.
 */
static int
open_place(int base, const char *name, uid_t uid, bool make)
{
	nsrun_autoclose int dir = -1;
	struct stat st;

	if (make && mkdirat(base, name, 0700) < 0)
		return -1;
	errno = 0;
	dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != uid ||
	    st.st_mode & 077)
		return -1;
	return nsrun_fd_take(&dir);
}

/*
 * In a session's own directory. A foreign one of that name, as in a user
 * namespace where uid 0 is not the host's, counts for nothing.
 */
static void
open_session_place(struct nsrun_lock_user *user)
{
	char path[64];
	nsrun_autoclose int dir = -1;
	struct stat st;

	snprintf(path, sizeof path, "/run/user/%u", (unsigned int)user->uid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st) < 0 || st.st_uid != user->uid)
		return;
	for (int make = 0; make < 2 && user->dirs[0] < 0; make++)
		user->dirs[0] = open_place(dir, "oc-nsrun", user->uid, make);
}

/*
 * In /tmp, which is everybody's: what another has put at a name makes it the
 * next one. All that are ours are used, so that two who began with different
 * ones still meet.
 */
static void
open_shared_places(struct nsrun_lock_user *user)
{
	nsrun_autoclose int tmp = open("/tmp", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);
	bool any = false;
	char name[64];

	for (int make = 0; make < 2 && !any; make++)
		for (int i = 1; i < NSRUN_LOCK_PLACES && !(make && any); i++) {
			snprintf(name, sizeof name, ".oc-nsrun-%u.%d",
			    (unsigned int)user->uid, i);
			if (user->dirs[i] < 0)
				user->dirs[i] = open_place(tmp, name,
				    user->uid, make);
			any |= user->dirs[i] >= 0;
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
open_places(struct nsrun_locks *locks, struct nsrun_lock_user *user)
{
	nsrun_become(locks->plan, user->uid);
	if (user->dirs[0] < 0)
		open_session_place(user);
	open_shared_places(user);
	nsrun_become_command(locks->plan);
	for (int i = 0; i < NSRUN_LOCK_PLACES; i++)
		if (user->dirs[i] >= 0)
			return true;
	return false;
}

void
nsrun_locks_renew(struct nsrun_locks *locks)
{
	for (int i = 0; i < locks->n; i++)
		open_places(locks, &locks->users[i]);
}

/* One of a place's files; made when it is first wanted. */
static int
open_file(const struct nsrun_locks *locks, const struct nsrun_lock_user *user,
    int place, unsigned int i)
{
	nsrun_autoclose int fd = -1;
	struct stat st;
	char name[32];

	snprintf(name, sizeof name, "masks.%u", i);
	nsrun_become(locks->plan, user->uid);
	fd = openat(user->dirs[place], name, O_RDWR | O_CREAT | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	nsrun_become_command(locks->plan);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != user->uid ||
	    !S_ISREG(st.st_mode))
		return UNUSABLE;
	return nsrun_fd_take(&fd);
}

/*
 * Whose files: of the owner of the root, whom root can act for, so that a user
 * and root mean the same ones. Anybody else has only his own. -1: none.
 */
static int
find_user(struct nsrun_locks *locks, uid_t owner)
{
	uid_t uid = geteuid() == 0 ? owner : geteuid();
	struct nsrun_lock_user *user;

	for (int i = 0; i < locks->n; i++)
		if (locks->users[i].uid == uid)
			return i;
	if (locks->n == NSRUN_LOCK_USERS)
		return -1;
	user = &locks->users[locks->n];
	user->uid = uid;
	for (int i = 0; i < NSRUN_LOCK_PLACES; i++) {
		user->dirs[i] = -1;
		for (int k = 0; k < NSRUN_LOCK_FILES; k++)
			user->files[i][k] = -1;
	}
	return open_places(locks, user) ? locks->n++ : -1;
}

/* FNV-1a. One byte for two names does no harm. */
static uint64_t
key_of(const struct stat *dir, const char *name)
{
	const uint64_t numbers[2] = { dir->st_dev, dir->st_ino };
	const unsigned char *s = (const unsigned char *)numbers;
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < sizeof numbers; i++)
		hash = (hash ^ s[i]) * 0x100000001b3;
	for (s = (const unsigned char *)name; *s; s++)
		hash = (hash ^ *s) * 0x100000001b3;
	return hash;
}

bool
nsrun_locks_find(struct nsrun_locks *locks, uid_t owner,
    const struct stat *dir, const char *name, struct nsrun_lock *lock)
{
	lock->user = find_user(locks, owner);
	lock->key = key_of(dir, name);
	return lock->user >= 0;
}

bool
nsrun_locks_set(struct nsrun_locks *locks, const struct nsrun_lock *lock,
    short type)
{
	struct nsrun_lock_user *user = &locks->users[lock->user];
	unsigned int k = (unsigned int)(lock->key >> 58);
	bool any = false;

	for (int i = 0; i < NSRUN_LOCK_PLACES; i++) {
		int *fd = &user->files[i][k];
		struct flock range = {
			.l_type = type, .l_whence = SEEK_SET, .l_len = 1,
			.l_start = (off_t)(lock->key & (INT64_MAX >> 1)),
		};

		if (user->dirs[i] < 0)
			continue;
		if (*fd == -1)
			*fd = open_file(locks, user, i, k);
		if (*fd < 0)
			continue;
		if (fcntl(*fd, F_OFD_SETLK, &range) < 0)
			return false;
		any = true;
	}
	if (!any)
		errno = ENOLCK;
	return any;
}

bool
nsrun_locks_share(struct nsrun_locks *locks, const struct nsrun_lock *lock)
{
	for (int ms = 0; ms < MAX_WAIT_MS; ms++) {
		if (nsrun_locks_set(locks, lock, F_RDLCK))
			return true;
		if (errno != EAGAIN && errno != EACCES)
			return false;
		nsrun_locks_set(locks, lock, F_UNLCK);
		poll(NULL, 0, 1);
	}
	errno = EBUSY;
	return false;
}
