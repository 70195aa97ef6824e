/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/number.h"
#include "host/lines.h"
#include "host/subid.h"

static const char root_dir[] = "/var/lib/oc-nsrun";
static const char file_name[] = "keys", new_name[] = "keys.new";
static const char lock_name[] = "keys.lock";

enum { MAX_FILE = 4 << 20, MAX_NAME = 64 };

/* The registry, while it is read and perhaps added to. */
struct registry {
	char			dir[PATH_MAX];
	char			path[PATH_MAX + 8];	/* for messages */
	int			dir_fd, lock_fd;
	char			*text;		/* NULL: there is none yet */
	size_t			size;
	struct nsrun_subids	uids, gids;
	struct nsrun_err	*err;
};

int
nsrun_key_check(const char *name, struct nsrun_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

	if (strlen(name) > MAX_NAME || !*name || !strchr(letters, *name) ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-")])
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is no name of a"
		    " key: a-z, 0-9, ., _ and -, at most 64", name, NULL);
	return 0;
}

static int
failed(const struct registry *r, const char *call, const char *path)
{
	return nsrun_err_sys(r->err, NSRUN_STEP_IDENTITY, call, path, NULL);
}

/* Root's stands where no environment leads elsewhere. */
static int
find_dir(struct registry *r)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (geteuid() == 0)
		n = snprintf(r->dir, sizeof r->dir, "%s", root_dir);
	else if (state && *state == '/')
		n = snprintf(r->dir, sizeof r->dir, "%s/oc-nsrun", state);
	else if (home && *home == '/')
		n = snprintf(r->dir, sizeof r->dir,
		    "%s/.local/state/oc-nsrun", home);
	else
		return nsrun_err_rule(r->err, NSRUN_STEP_IDENTITY, "is needed"
		    " for the registry of keys", "HOME", NULL);
	if (n >= (int)sizeof r->dir) {
		errno = ENAMETOOLONG;
		return failed(r, "open", "HOME");
	}
	snprintf(r->path, sizeof r->path, "%s/%s", r->dir, file_name);
	return 0;
}

static void
make_dirs(char *path)
{
	for (char *s = path + 1; *s; s++)
		if (*s == '/') {
			*s = '\0';
			(void)mkdir(path, 0700);
			*s = '/';
		}
	(void)mkdir(path, 0700);
}

/* Nobody else may say which ids are whose. */
static int
check_ours(const struct registry *r, int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return failed(r, "fstat", path);
	if (st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH))
		return nsrun_err_rule(r->err, NSRUN_STEP_IDENTITY,
		    "can be written by others than its user", path, NULL);
	return 0;
}

/* 0: there is no registry, and none is to be made. */
static int
open_dir(struct registry *r, bool make)
{
	if (find_dir(r) < 0)
		return -1;
	if (make)
		make_dirs(r->dir);
	r->dir_fd = open(r->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (r->dir_fd < 0)
		return errno == ENOENT && !make ? 0 : failed(r, "open", r->dir);
	if (check_ours(r, r->dir_fd, r->dir) < 0)
		return -1;
	if (!make)
		return 1;
	/* Until we are done: two keys that are new get different ids. */
	r->lock_fd = openat(r->dir_fd, lock_name, O_RDWR | O_CREAT |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (r->lock_fd < 0 || flock(r->lock_fd, LOCK_EX) < 0)
		return failed(r, "lock", r->path);
	return 1;
}

static int
read_text(struct registry *r)
{
	nsrun_autoclose int fd = openat(r->dir_fd, file_name, O_RDONLY |
	    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : failed(r, "open", r->path);
	if (check_ours(r, fd, r->path) < 0)
		return -1;
	r->text = nsrun_file_read_fd(fd, MAX_FILE, &r->size);
	return r->text ? 0 : failed(r, "read", r->path);
}

/* Of the upper half: containers of the same user take from the lower. */
static uint32_t
first_of(const struct nsrun_subids *ids)
{
	return ids->first + ids->count / 2;
}

static int
check_line(const struct nsrun_lines *l, uint64_t *uid, uint64_t *gid)
{
	struct nsrun_err ignored = NSRUN_ERR_INIT;

	if (l->n_words != 3 || nsrun_key_check(l->words[0], &ignored) < 0 ||
	    nsrun_number_parse(l->words[1], UINT32_MAX - 1, uid) < 0 ||
	    nsrun_number_parse(l->words[2], UINT32_MAX - 1, gid) < 0 ||
	    !*uid || !*gid)
		return nsrun_lines_bad(l, 0, "is not NAME UID GID");
	return 0;
}

static int
check_range(const struct registry *r, const char *name, uint64_t uid,
    uint64_t gid)
{
	if (nsrun_subids_have(&r->uids, uid) &&
	    nsrun_subids_have(&r->gids, gid))
		return 0;
	return nsrun_err_rule(r->err, NSRUN_STEP_IDENTITY, "has ids that "
	    NSRUN_SUBUID_FILE " or " NSRUN_SUBGID_FILE " no longer give",
	    "key", name);
}

/* 1: the name's ids; 0: the next that nobody has. */
static int
look_up(const struct registry *r, const char *name, uid_t *uid, gid_t *gid)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	uint64_t u, g, next_uid = first_of(&r->uids);
	uint64_t next_gid = first_of(&r->gids);
	struct nsrun_lines l;
	int rc, found = 0;

	nsrun_lines_init(&l, &arena, r->path, r->text ? r->text : "", r->err);
	while ((rc = nsrun_lines_next(&l)) > 0) {
		if (check_line(&l, &u, &g) < 0) {
			rc = -1;
			break;
		}
		if (!strcmp(l.words[0], name)) {
			rc = found ? nsrun_lines_bad(&l, 0, "is there twice") :
			    check_range(r, name, u, g);
			if (rc < 0)
				break;
			*uid = (uid_t)u;
			*gid = (gid_t)g;
			found = 1;
		}
		if (nsrun_subids_have(&r->uids, u) && u >= next_uid)
			next_uid = u + 1;
		if (nsrun_subids_have(&r->gids, g) && g >= next_gid)
			next_gid = g + 1;
	}
	nsrun_arena_deinit(&arena);
	if (rc < 0 || found)
		return rc < 0 ? -1 : 1;
	if (!nsrun_subids_have(&r->uids, next_uid) ||
	    !nsrun_subids_have(&r->gids, next_gid))
		return nsrun_err_rule(r->err, NSRUN_STEP_IDENTITY, "gets no"
		    " ids: those of " NSRUN_SUBUID_FILE " or " NSRUN_SUBGID_FILE
		    " are used up", "key", name);
	*uid = (uid_t)next_uid;
	*gid = (gid_t)next_gid;
	return 0;
}

/* By hand, perhaps: then it is two tenants, and none. */
static int
check_alone(const struct registry *r, const char *name, uid_t uid, gid_t gid)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_lines l;
	uint64_t u, g;
	int rc;

	nsrun_lines_init(&l, &arena, r->path, r->text, r->err);
	while ((rc = nsrun_lines_next(&l)) > 0)
		if (check_line(&l, &u, &g) < 0 || (strcmp(l.words[0], name) &&
		    (u == uid || g == gid))) {
			rc = r->err->step != NSRUN_STEP_NONE ? -1 :
			    nsrun_lines_bad(&l, 0, "has another key's ids");
			break;
		}
	nsrun_arena_deinit(&arena);
	return rc;
}

/* All of it anew, and then in its place at once. */
static int
add_line(const struct registry *r, const char *name, uid_t uid, gid_t gid)
{
	nsrun_autoclose int fd = openat(r->dir_fd, new_name, O_WRONLY |
	    O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t old = r->text ? r->size : 0;
	char line[MAX_NAME + 32];
	int n = snprintf(line, sizeof line, "%s %" PRIu32 " %" PRIu32 "\n",
	    name, uid, gid);

	if (fd < 0)
		return failed(r, "open", r->path);
	errno = EIO;
	/* Who wrote it by hand may have left the last line open. */
	if ((old && write(fd, r->text, old) != (ssize_t)old) ||
	    (old && r->text[old - 1] != '\n' && write(fd, "\n", 1) != 1) ||
	    write(fd, line, (size_t)n) != n || fsync(fd) < 0 ||
	    renameat(r->dir_fd, new_name, r->dir_fd, file_name) < 0 ||
	    fsync(r->dir_fd) < 0)
		return failed(r, "write", r->path);
	return 0;
}

int
nsrun_key_find(const char *name, bool record, uid_t *uid, gid_t *gid,
    struct nsrun_err *err)
{
	struct registry r = { .dir_fd = -1, .lock_fd = -1, .err = err };
	int rc = -1;

	if (nsrun_subids_read(&r.uids, NSRUN_SUBUID_FILE, err) == 0 &&
	    nsrun_subids_read(&r.gids, NSRUN_SUBGID_FILE, err) == 0)
		rc = open_dir(&r, record);
	if (rc > 0)
		rc = read_text(&r);
	if (rc >= 0)
		rc = look_up(&r, name, uid, gid);
	if (rc > 0 && check_alone(&r, name, *uid, *gid) < 0)
		rc = -1;
	if (rc == 0 && record && add_line(&r, name, *uid, *gid) < 0)
		rc = -1;
	free(r.text);
	nsrun_fd_close(&r.lock_fd);
	nsrun_fd_close(&r.dir_fd);
	return rc;
}
