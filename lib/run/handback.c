/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/handback.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"

enum { MAX_WAITS = 50 };	/* of a tenth of a second, for another's */

static int
fail(const struct nsrun_return *back, const char *call, struct nsrun_err *err)
{
	return nsrun_err_sys(err, NSRUN_STEP_CREDENTIAL, call, back->host,
	    NULL);
}

static int
refuse(const struct nsrun_return *back, const char *rule,
    struct nsrun_err *err)
{
	return nsrun_err_rule(err, NSRUN_STEP_CREDENTIAL, rule, back->host,
	    NULL);
}

int
nsrun_handback_open(struct nsrun_run *run, struct nsrun_err *err)
{
	for (size_t i = 0; i < run->plan->n_returns; i++) {
		run->return_fds[i] = memfd_create("oc-nsrun", MFD_CLOEXEC);
		if (run->return_fds[i] < 0 ||
		    nsrun_fd_raise(&run->return_fds[i]) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_CREDENTIAL,
			    "memfd_create", NULL, NULL);
	}
	return 0;
}

/* What pid 1 found: malloc'ed, *n bytes; NULL and err. */
static char *
take(const struct nsrun_run *run, size_t i, size_t *n, struct nsrun_err *err)
{
	const struct nsrun_return *back = &run->plan->returns[i];
	struct nsrun_returned head = { 0 };
	int fd = run->return_fds[i];
	char *text;

	if (pread(fd, &head, sizeof head, 0) != sizeof head || !head.told) {
		refuse(back, "the sandbox was ended by force: not handed back",
		    err);
		return NULL;
	}
	errno = head.errnum;
	if (errno) {
		nsrun_err_sys(err, NSRUN_STEP_CREDENTIAL, "not handed back",
		    back->path, NULL);
		return NULL;
	}
	*n = head.size;
	text = *n > back->max_bytes ? NULL : malloc(*n + 1);
	if (!text || pread(fd, text, *n, sizeof head) != (ssize_t)*n) {
		free(text);
		fail(back, "read", err);
		return NULL;
	}
	return text;
}

static bool
is_same(const char *a, size_t n, const char *b, size_t m)
{
	return n == m && !memcmp(a, b, n);
}

/* Not for a NUL, which strchr(3) would find. */
static bool
is_blank(char c)
{
	return memchr(" \t\r\n", c, 4);
}

/* Without what is blank at either end: its first and its last byte. */
static void
find_ends(const char *text, size_t n, char ends[2])
{
	while (n > 0 && is_blank(text[n - 1]))
		n--;
	while (n > 0 && is_blank(*text)) {
		text++;
		n--;
	}
	ends[0] = n ? *text : '\0';
	ends[1] = n ? text[n - 1] : '\0';
}

/* Is it whole? A client that was killed may have written half of it. */
static int
check_whole(const struct nsrun_return *back, const char *text, size_t n,
    struct nsrun_err *err)
{
	char was[2], is[2];

	find_ends(back->data, back->n_data, was);
	find_ends(text, n, is);
	if (!is[0])
		return refuse(back, "the copy is empty now: not handed back",
		    err);
	if ((was[0] == '{' && was[1] == '}' && (is[0] != '{' ||
	    is[1] != '}')) || (was[0] == '[' && was[1] == ']' &&
	    (is[0] != '[' || is[1] != ']')))
		return refuse(back, "the copy is no longer the JSON that it"
		    " was: not handed back", err);
	return 0;
}

/* The directory of the host's file, locked against another of us. */
static int
open_dir(const struct nsrun_return *back, struct nsrun_err *err)
{
	static const struct timespec tenth = { 0, 100000000 };
	const char *slash = strrchr(back->host, '/');
	char *path = strdup(back->host);
	nsrun_autoclose int fd = -1;
	int tries = 0;

	if (!path)
		return nsrun_err_nomem(err, back->host);
	path[slash == back->host ? 1 : slash - back->host] = '\0';
	fd = sys_openat2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	free(path);
	if (fd < 0)
		return fail(back, "open", err);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0)
		if (errno != EWOULDBLOCK || ++tries > MAX_WAITS)
			return fail(back, "flock", err);
		else
			nanosleep(&tenth, NULL);
	return nsrun_fd_take(&fd);
}

/*
 * The host's file as it is now: malloc'ed, and what it is. NULL: not there, or
 * something else.
 */
static char *
read_host(const struct nsrun_return *back, int dir, const char *name,
    struct stat *st, size_t *n)
{
	nsrun_autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
		return NULL;
	return nsrun_file_read_fd(fd, back->max_bytes, n);
}

static bool
is_unchanged(int dir, const char *name, const struct stat *was)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == was->st_dev && st.st_ino == was->st_ino &&
	    st.st_size == was->st_size && st.st_nlink == was->st_nlink &&
	    st.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	    st.st_ctim.tv_nsec == was->st_ctim.tv_nsec;
}

/* A file beside it, with its owner and mode, whole on the disk. */
static int
write_beside(int dir, const char *temp, const struct stat *st,
    const char *text, size_t n)
{
	nsrun_autoclose int fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	while (n > 0) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			return -1;
		text += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	if ((st->st_uid != geteuid() || st->st_gid != getegid()) &&
	    fchown(fd, st->st_uid, st->st_gid) < 0)
		return -1;
	return fchmod(fd, st->st_mode & 0777) < 0 ? -1 : fsync(fd);
}

static int
replace(const struct nsrun_return *back, int dir, const char *name,
    const struct stat *was, const char *text, size_t n, struct nsrun_err *err)
{
	char temp[NAME_MAX + 1];
	int rc = -1;

	/* Always the same, so that a try that was killed leaves none. */
	snprintf(temp, sizeof temp, ".oc-nsrun-%.200s", name);
	if (unlinkat(dir, temp, 0) < 0 && errno != ENOENT)
		return fail(back, "unlink", err);
	if (write_beside(dir, temp, was, text, n) < 0)
		fail(back, "write", err);
	else if (!is_unchanged(dir, name, was))
		refuse(back, "the host's file has changed meanwhile: not handed"
		    " back", err);
	else if (renameat(dir, temp, dir, name) < 0)
		fail(back, "rename", err);
	else
		rc = 0;
	if (rc < 0)
		unlinkat(dir, temp, 0);
	return rc;
}

/* text, which the command wrote, becomes the host's, if it may. */
static int
hand_back(const struct nsrun_return *back, const char *text, size_t n,
    struct nsrun_err *err)
{
	const char *name = strrchr(back->host, '/') + 1;
	nsrun_autoclose int dir = open_dir(back, err);
	struct stat st;
	size_t now_n;
	char *now;
	int rc;

	if (dir < 0)
		return -1;
	now = read_host(back, dir, name, &st, &now_n);
	if (now && is_same(now, now_n, text, n))
		rc = 0;		/* another launch in this home did it */
	else if (!now || !is_same(now, now_n, back->data, back->n_data) ||
	    st.st_nlink != 1)
		rc = refuse(back, "the host's file has changed meanwhile: not"
		    " handed back", err);
	else
		rc = replace(back, dir, name, &st, text, n, err) < 0 ? -1 : 1;
	free(now);
	return rc;
}

int
nsrun_handback(const struct nsrun_run *run, size_t i, struct nsrun_err *err)
{
	const struct nsrun_return *back = &run->plan->returns[i];
	size_t n;
	char *text = take(run, i, &n, err);
	int rc;

	if (!text)
		return -1;
	if (is_same(text, n, back->data, back->n_data))
		rc = 0;
	else if (check_whole(back, text, n, err) < 0)
		rc = -1;
	else
		rc = hand_back(back, text, n, err);
	free(text);
	return rc;
}
