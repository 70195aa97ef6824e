/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/err_print.h"
#include "base/fd.h"
#include "base/sys.h"
#include "overlay/baseline.h"

enum { MAX_NAMES = 65536 };

int
nsrun_place_failed(struct nsrun_apply *a, const char *call, const char *path)
{
	return nsrun_err_sys(a->err, NSRUN_STEP_STATE, call, path, NULL);
}

static int
refuse(struct nsrun_apply *a, const char *why)
{
	a->why = why;
	return 1;
}

/* The host's: what is wrong with all names stops us, with one, keeps that. */
static int
cannot(struct nsrun_apply *a, const char *call, const char *path)
{
	switch (errno) {
	case ENOSPC:
	case EDQUOT:
	case EIO:
	case ENOMEM:
	case EMFILE:
	case ENFILE:
		return nsrun_place_failed(a, call, path);
	}
	snprintf(a->why_text, sizeof a->why_text, "%s: %s", call,
	    nsrun_errno_text(errno));
	return refuse(a, a->why_text);
}

/* Whose it will be: the old one's, or the project's; else ours. */
static int
give(const struct nsrun_apply *a, const struct nsrun_change *change, int fd)
{
	const struct stat *was = change->was;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (was && S_ISREG(was->st_mode) && (was->st_uid != st.st_uid ||
	    was->st_gid != st.st_gid))
		return fchown(fd, was->st_uid, was->st_gid);
	return !was && a->gives ? fchown(fd, a->uid, a->gid) : 0;
}

static bool
is_carried(const char *key)
{
	return (!strncmp(key, "user.", 5) && strncmp(key, "user.overlay.",
	    13)) || !strcmp(key, "system.posix_acl_access");
}

/* Attributes and access lists, which were copied up with the file. */
static int
copy_attributes(int from, int to)
{
	char *names = malloc(MAX_NAMES), *value = malloc(MAX_NAMES);
	ssize_t n = names && value ? flistxattr(from, names, MAX_NAMES) : -1;
	int rc = n < 0 && errno != ENOTSUP ? -1 : 0;

	for (ssize_t at = 0; rc == 0 && at < n;
	    at += (ssize_t)strlen(names + at) + 1) {
		const char *key = names + at;
		ssize_t size;

		if (!is_carried(key))
			continue;
		size = fgetxattr(from, key, value, MAX_NAMES);
		if (size < 0 || fsetxattr(to, key, value, (size_t)size, 0) < 0)
			rc = -1;
	}
	free(names);
	free(value);
	return rc;
}

/* From one offset to another; the holes between are not copied. */
static int
copy_part(int from, int to, off_t at, off_t end)
{
	off_t in = at;

	if (lseek(to, at, SEEK_SET) < 0)
		return -1;
	while (in < end) {
		ssize_t n = sendfile(to, from, &in,
		    end - in > 1 << 30 ? 1 << 30 : (size_t)(end - in));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -1 : 0;
	}
	return 0;
}

static int
copy_bytes(int from, int to, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t data = lseek(from, at, SEEK_DATA), end;

		if (data < 0 && errno == ENXIO)
			break;	/* a hole to its end */
		if (data < 0)
			return -1;
		end = lseek(from, data, SEEK_HOLE);
		if (end < 0 || copy_part(from, to, data, end) < 0)
			return -1;
		at = end;
	}
	return ftruncate(to, size);
}

/* Is the object there still what was looked at? */
static bool
is_still(const struct nsrun_change *change)
{
	const struct stat *was = change->was;
	struct stat now;

	return fstatat(change->host_fd, change->name, &now,
	    AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == was->st_ino &&
	    now.st_mode == was->st_mode && now.st_size == was->st_size &&
	    now.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	    now.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

/* Never over anything, also where there is no such rename. */
static int
put_new(struct nsrun_apply *a, const struct nsrun_change *change)
{
	int fd = change->host_fd;

	if (sys_renameat2(fd, a->temp, fd, change->name,
	    SYS_RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EINVAL && linkat(fd, a->temp, fd, change->name, 0) == 0)
		return unlinkat(fd, a->temp, 0);
	return errno == EEXIST ? refuse(a, nsrun_place_changed) : -1;
}

/* What had the name has ours afterwards, and goes. */
static int
swap(struct nsrun_apply *a, const struct nsrun_change *change)
{
	bool was_dir = S_ISDIR(change->was->st_mode);
	int fd = change->host_fd, rc;

	rc = was_dir ? nsrun_place_may_delete(a, fd, change->name,
	    change->path) : 0;
	if (rc != 0)
		return rc;
	if (sys_renameat2(fd, a->temp, fd, change->name,
	    SYS_RENAME_EXCHANGE) < 0)
		return errno == EINVAL ? refuse(a, "is to become something"
		    " else, and this file system cannot exchange names") : -1;
	if (!was_dir)
		return unlinkat(fd, a->temp, 0);
	rc = nsrun_place_delete(a, fd, a->temp, change->path);
	/* Changed in this moment: it stays what it was. */
	return rc > 0 && sys_renameat2(fd, a->temp, fd, change->name,
	    SYS_RENAME_EXCHANGE) < 0 ? -1 : rc;
}

/* What stands at a->temp takes its place; whatever is refused leaves none. */
static int
put(struct nsrun_apply *a, const struct nsrun_change *change, bool is_dir)
{
	int fd = change->host_fd, rc;

	if (!change->was)
		rc = put_new(a, change);
	else if (!is_still(change))
		rc = refuse(a, nsrun_place_changed);
	else if (is_dir || S_ISDIR(change->was->st_mode))
		rc = swap(a, change);
	else
		rc = renameat(fd, a->temp, fd, change->name);
	if (rc < 0 && a->err->step == NSRUN_STEP_NONE)
		rc = cannot(a, "rename", change->path);
	if (rc != 0)
		unlinkat(fd, a->temp, is_dir ? AT_REMOVEDIR : 0);
	return rc;
}

static int
fill(struct nsrun_apply *a, const struct nsrun_change *change, int from,
    int to)
{
	const struct stat *st = &change->entry->st;
	const struct timespec times[2] = { st->st_mtim, st->st_mtim };
	const char *call = "copy";

	if (copy_bytes(from, to, st->st_size) == 0 &&
	    (call = "chown", give(a, change, to)) == 0 &&
	    (call = "setxattr", copy_attributes(from, to)) == 0 &&
	    (call = "chmod", fchmod(to, st->st_mode & 0777)) == 0 &&
	    (call = "utimes", futimens(to, times)) == 0)
		return 0;
	return cannot(a, call, change->path);
}

int
nsrun_place_file(struct nsrun_apply *a, const struct nsrun_change *change)
{
	nsrun_autoclose int from = nsrun_layer_open(change->layer_fd,
	    change->name, change->entry, change->place);
	nsrun_autoclose int to = -1;
	int rc;

	if (from < 0)
		return nsrun_place_failed(a, "open", change->path);
	to = openat(change->host_fd, a->temp, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return cannot(a, "create", change->path);
	rc = fill(a, change, from, to);
	if (rc != 0) {
		unlinkat(change->host_fd, a->temp, 0);
		return rc;
	}
	return put(a, change, false);
}

int
nsrun_place_link(struct nsrun_apply *a, const struct nsrun_change *change)
{
	static char text[PATH_MAX];
	ssize_t n = readlinkat(change->layer_fd, change->name, text,
	    sizeof text - 1);

	if (n < 0)
		return nsrun_place_failed(a, "readlink", change->path);
	text[n] = '\0';
	if (symlinkat(text, change->host_fd, a->temp) < 0)
		return cannot(a, "symlink", change->path);
	if (a->gives && fchownat(change->host_fd, a->temp, a->uid, a->gid,
	    AT_SYMLINK_NOFOLLOW) < 0) {
		int rc = cannot(a, "chown", change->path);

		unlinkat(change->host_fd, a->temp, 0);
		return rc;
	}
	return put(a, change, false);
}

/* Its mode, but for the bits that are not the command's to give. */
static int
set_dir_mode(struct nsrun_apply *a, const struct nsrun_change *change)
{
	nsrun_autoclose int fd = openat(change->host_fd, change->name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return cannot(a, "open", change->path);
	if (st.st_ino != change->was->st_ino)
		return refuse(a, nsrun_place_changed);
	return fchmod(fd, (st.st_mode & 06000) | 0700 |
	    (change->entry->st.st_mode & 01777)) < 0 ?
	    cannot(a, "chmod", change->path) : 0;
}

/* Its owner is to fill it first, and to close it when that is done. */
static int
keep_open(struct nsrun_apply *a, const char *path, mode_t mode)
{
	struct nsrun_late_mode *v;

	if ((mode & 0700) == 0700)
		return 0;
	v = realloc(a->late, (a->n_late + 1) * sizeof *v);
	if (!v)
		return nsrun_err_nomem(a->err, path);
	a->late = v;
	v[a->n_late].path = strdup(path);
	v[a->n_late].mode = mode;
	if (!v[a->n_late].path)
		return nsrun_err_nomem(a->err, path);
	a->n_late++;
	return 0;
}

int
nsrun_place_dir(struct nsrun_apply *a, const struct nsrun_change *change)
{
	mode_t mode = change->entry->st.st_mode & 01777;
	nsrun_autoclose int fd = -1;
	struct stat st;
	int rc;

	if (change->was && S_ISDIR(change->was->st_mode)) {
		rc = set_dir_mode(a, change);
		return rc ? rc : keep_open(a, change->path, mode);
	}
	if (mkdirat(change->host_fd, a->temp, 0700) < 0)
		return cannot(a, "mkdir", change->path);
	fd = openat(change->host_fd, a->temp, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    (a->gives && fchown(fd, a->uid, a->gid) < 0) ||
	    fchmod(fd, (st.st_mode & 02000) | mode | 0700) < 0)
		return nsrun_place_failed(a, "mkdir", change->path);
	rc = put(a, change, true);
	return rc ? rc : keep_open(a, change->path, mode);
}
