/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/temp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/tree.h"

static const char prefix[] = "oc-nsrun-";

static int
fail(struct nsrun_err *err, const char *call, const char *subject)
{
	return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, call, subject, NULL);
}

/* Is it a directory of ours that nobody else may enter? */
static bool
is_ours(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == geteuid() && (st.st_mode & 07777) == 0700;
}

static int
open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

/* Take the outer directory away, if the name still means it. */
static int
remove_outer(int base_fd, int outer_fd, const char *name)
{
	struct stat now, was;

	if (fstat(outer_fd, &was) < 0 ||
	    fstatat(base_fd, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (now.st_dev != was.st_dev || now.st_ino != was.st_ino) {
		errno = ESTALE;
		return -1;
	}
	return unlinkat(base_fd, name, AT_REMOVEDIR);
}

/* What a session that was killed left; anything odd is not ours to touch. */
static void
sweep_one(int base_fd, const char *name)
{
	nsrun_autoclose int fd = open_dir(base_fd, name);
	struct stat st;

	if (fd < 0 || !is_ours(fd) || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (fstatat(fd, "tmp", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!S_ISDIR(st.st_mode) || nsrun_tree_remove(fd, "tmp") < 0))
		return;
	remove_outer(base_fd, fd, name);
}

static void
sweep(int base_fd)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		nsrun_fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, sizeof prefix - 1) &&
		    strlen(entry->d_name) == sizeof prefix - 1 + 16)
			sweep_one(base_fd, entry->d_name);
	closedir(dir);
}

/* XDG_RUNTIME_DIR where it is what it should be, else /tmp. */
static const char *
open_base(struct nsrun_temp *t)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char *real = dir && *dir == '/' ? realpath(dir, NULL) : NULL;

	if (real && !strcmp(real, dir) && strlen(dir) < 128) {
		t->base_fd = open_dir(AT_FDCWD, dir);
		if (t->base_fd >= 0 && !is_ours(t->base_fd))
			nsrun_fd_close(&t->base_fd);
	}
	free(real);
	if (t->base_fd >= 0)
		return dir;
	t->base_fd = open_dir(AT_FDCWD, "/tmp");
	return "/tmp";
}

static int
make_outer(struct nsrun_temp *t, const char *base, struct nsrun_err *err)
{
	for (int tries = 0; tries < 16; tries++) {
		uint64_t number;

		if (getrandom(&number, sizeof number, 0) != sizeof number)
			return fail(err, "getrandom", NULL);
		snprintf(t->name, sizeof t->name, "%s%016llx", prefix,
		    (unsigned long long)number);
		if (mkdirat(t->base_fd, t->name, 0700) == 0) {
			t->outer_fd = open_dir(t->base_fd, t->name);
			break;
		}
		if (errno != EEXIST)
			return fail(err, "mkdir", base);
	}
	/* A umask that takes our own rights, or another's directory. */
	if (t->outer_fd < 0 || fchmod(t->outer_fd, 0700) < 0 ||
	    !is_ours(t->outer_fd) || flock(t->outer_fd, LOCK_EX | LOCK_NB) < 0)
		return fail(err, "open", t->name);
	return 0;
}

int
nsrun_temp_make(struct nsrun_temp *t, uid_t uid, gid_t gid,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;
	const char *base;
	struct stat st;

	*t = (struct nsrun_temp)NSRUN_TEMP_INIT;
	base = open_base(t);
	if (t->base_fd < 0)
		return fail(err, "open", base);
	sweep(t->base_fd);
	if (make_outer(t, base, err) < 0)
		return -1;
	if (mkdirat(t->outer_fd, "tmp", 0700) < 0 ||
	    (fd = open_dir(t->outer_fd, "tmp")) < 0 || fchmod(fd, 0700) < 0 ||
	    (uid != geteuid() && fchown(fd, uid, gid) < 0) ||
	    fstat(fd, &st) < 0) {
		fail(err, "mkdir", t->name);
		nsrun_temp_release(t, &(struct nsrun_err)NSRUN_ERR_INIT);
		return -1;
	}
	t->dev = st.st_dev;
	t->ino = st.st_ino;
	snprintf(t->path, sizeof t->path, "%s/%s/tmp", base, t->name);
	return 0;
}

int
nsrun_temp_give(const struct nsrun_temp *t, uid_t uid, gid_t gid,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = open_dir(t->outer_fd, "tmp");
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(err, "open", t->path);
	if (st.st_uid == uid || fchown(fd, uid, gid) == 0)
		return 0;
	return fail(err, "fchown", t->path);
}

int
nsrun_temp_release(struct nsrun_temp *t, struct nsrun_err *err)
{
	struct stat st;
	int rc = 0;

	if (t->outer_fd < 0)
		rc = 0;
	else if (fstatat(t->outer_fd, "tmp", &st, AT_SYMLINK_NOFOLLOW) < 0)
		rc = fail(err, "fstatat", t->path);
	else if (!S_ISDIR(st.st_mode) || (*t->path && (st.st_dev != t->dev ||
	    st.st_ino != t->ino)))
		rc = nsrun_err_rule(err, NSRUN_STEP_SUPERVISE, "was replaced"
		    " since it was made, and is left alone", t->path, NULL);
	else if (nsrun_tree_remove(t->outer_fd, "tmp") < 0 ||
	    remove_outer(t->base_fd, t->outer_fd, t->name) < 0)
		rc = fail(err, "remove", t->path);
	nsrun_fd_close(&t->outer_fd);
	nsrun_fd_close(&t->base_fd);
	*t->path = '\0';
	return rc;
}
