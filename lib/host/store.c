/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/tree.h"
#include "host/grants.h"

static int
fail(struct nsrun_err *err, const char *call, const char *subject)
{
	return nsrun_err_sys(err, NSRUN_STEP_STATE, call, subject, NULL);
}

static int
refuse(struct nsrun_err *err, const char *rule, const char *subject)
{
	return nsrun_err_rule(err, NSRUN_STEP_STATE, rule, subject, NULL);
}

static int
open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

/* Is it a directory of ours that nobody else may enter? */
static int
check_ours(int fd, const char *path, struct nsrun_err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return fail(err, "fstat", path);
	if (st.st_uid != geteuid())
		return refuse(err, "belongs to somebody else", path);
	if (st.st_mode & 077)
		return refuse(err, "is open to others: chmod 700 it", path);
	return 0;
}

/* mkdir(2) of ours, whatever the umask says. 1: it was there. */
static int
make_dir(int at, const char *name)
{
	if (mkdirat(at, name, 0700) < 0)
		return errno == EEXIST ? 1 : -1;
	return fchmodat(at, name, 0700, 0);
}

/* Does the name still mean the directory that is open? */
static bool
is_still(int at, const char *name, int fd)
{
	struct stat now, was;

	return fstat(fd, &was) == 0 &&
	    fstatat(at, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_dev == was.st_dev && now.st_ino == was.st_ino;
}

int
nsrun_store_where(char path[NSRUN_STORE_PATH], const char *dir,
    struct nsrun_err *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	const char *below = "";
	const struct passwd *account;
	size_t n;

	if (!dir && geteuid() == 0) {
		dir = "/var/lib/oc-nsrun";
	} else if (!dir && state && *state == '/') {
		dir = state;
		below = "/oc-nsrun";
	} else if (!dir) {
		if (!home || *home != '/') {
			account = getpwuid(geteuid());
			home = account ? account->pw_dir : NULL;
		}
		if (!home || *home != '/')
			return refuse(err, "there is no home to keep state in:"
			    " name a directory with --state-dir", NULL);
		dir = home;
		below = "/.local/state/oc-nsrun";
	}
	if (*dir != '/')
		return refuse(err, "is no absolute path", dir);
	n = strlen(dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (snprintf(path, NSRUN_STORE_PATH, "%.*s%s", (int)n, dir, below) >=
	    NSRUN_STORE_PATH)
		return refuse(err, "is too long a path", dir);
	return 0;
}

/* Each directory of path, from the top, that is not there yet. */
static int
make_dirs(char *path, struct nsrun_err *err)
{
	for (char *s = path + 1; ; s++) {
		char end = *s;

		if (end && end != '/')
			continue;
		*s = '\0';
		if (make_dir(AT_FDCWD, path) < 0)
			return fail(err, "mkdir", path);
		*s = end;
		if (!end)
			return 0;
	}
}

int
nsrun_store_open(struct nsrun_store *store, const char *given,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;
	char dir[NSRUN_STORE_PATH], *real;
	int n;

	*store = (struct nsrun_store)NSRUN_STORE_INIT;
	if (nsrun_store_where(dir, given, err) < 0 || make_dirs(dir, err) < 0)
		return -1;
	/* A link on the way is the caller's wish; one in its place is not. */
	fd = open_dir(AT_FDCWD, dir);
	if (fd < 0)
		return fail(err, "open", dir);
	if (check_ours(fd, dir, err) < 0)
		return -1;
	real = realpath(dir, NULL);
	if (!real)
		return fail(err, "realpath", dir);
	n = snprintf(store->path, sizeof store->path, "%s", real);
	free(real);
	if (n >= (int)sizeof store->path)
		return refuse(err, "is too long a path", dir);
	if (!is_still(AT_FDCWD, store->path, fd))
		return refuse(err, "was replaced while it was opened", dir);
	store->fd = nsrun_fd_take(&fd);
	return 0;
}

void
nsrun_store_close(struct nsrun_store *store)
{
	nsrun_fd_close(&store->fd);
}

int
nsrun_store_check_name(const char *name, struct nsrun_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strspn(name, letters);

	if (n > 0 && n <= NSRUN_STORE_NAME && !name[n] && *name != '.' &&
	    *name != '-')
		return 0;
	return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is no name: 1 to 64"
	    " letters, digits, '.', '_' and '-', the first a letter, digit or"
	    " '_'", name, NULL);
}

/* Empty what is locked and ours, and take its name away. */
static int
remove_held(int kind_fd, const char *name, int fd)
{
	if (nsrun_tree_empty(fd) < 0)
		return -1;
	if (!is_still(kind_fd, name, fd)) {
		errno = ESTALE;
		return -1;
	}
	return unlinkat(kind_fd, name, AT_REMOVEDIR);
}

/* What a launch that was killed left, if it is that: locked, or -1. */
static int
claim(int kind_fd, const char *name)
{
	struct nsrun_err ignored = NSRUN_ERR_INIT;
	nsrun_autoclose int fd = open_dir(kind_fd, name);

	return fd >= 0 && check_ours(fd, name, &ignored) == 0 &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 ? nsrun_fd_take(&fd) : -1;
}

/*
 * Whoever makes an item without a name locks the kind's directory until that
 * is locked itself; so nothing is swept that is only just being made, and
 * nobody waits for what is being removed.
 */
static void
sweep(int kind_fd)
{
	int fd = openat(kind_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir) {
		nsrun_fd_close(&fd);
		return;
	}
	while ((entry = readdir(dir))) {
		nsrun_autoclose int item = -1;

		if (*entry->d_name != '.' || strlen(entry->d_name) != 17)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0)
			break;
		item = claim(kind_fd, entry->d_name);
		flock(fd, LOCK_UN);
		if (item >= 0)
			(void)remove_held(kind_fd, entry->d_name, item);
	}
	closedir(dir);
}

static int
open_kind(const struct nsrun_store *store, const char *kind,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;

	if (make_dir(store->fd, kind) < 0)
		return fail(err, "mkdir", kind);
	fd = open_dir(store->fd, kind);
	if (fd < 0)
		return fail(err, "open", kind);
	return check_ours(fd, kind, err) < 0 ? -1 : nsrun_fd_take(&fd);
}

/* An item without a name: new, and locked before anybody sweeps. */
static int
make_unnamed(struct nsrun_store_item *item, struct nsrun_err *err)
{
	nsrun_autoclose int guard = openat(item->kind_fd, ".", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	uint64_t number;

	if (guard < 0 || flock(guard, LOCK_SH) < 0)
		return fail(err, "flock", item->path);
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return fail(err, "getrandom", NULL);
	snprintf(item->name, sizeof item->name, ".%016llx",
	    (unsigned long long)number);
	if (mkdirat(item->kind_fd, item->name, 0700) < 0)
		return fail(err, "mkdir", item->name);
	item->fd = open_dir(item->kind_fd, item->name);
	if (item->fd < 0 || fchmod(item->fd, 0700) < 0 ||
	    flock(item->fd, LOCK_EX | LOCK_NB) < 0)
		return fail(err, "open", item->name);
	return 0;
}

/* The one of that name, or a new one: what is locked is what has the name. */
static int
hold_named(struct nsrun_store_item *item, unsigned int use,
    struct nsrun_err *err)
{
	int how = use & NSRUN_STORE_ALONE ? LOCK_EX : LOCK_SH;

	for (;;) {
		if (use & NSRUN_STORE_MAKE &&
		    make_dir(item->kind_fd, item->name) < 0 && errno != ENOENT)
			return fail(err, "mkdir", item->path);
		item->fd = open_dir(item->kind_fd, item->name);
		if (item->fd < 0 && errno == ENOENT && use & NSRUN_STORE_MAKE)
			continue;	/* removed between the two */
		if (item->fd < 0)
			return fail(err, "open", item->path);
		if (check_ours(item->fd, item->path, err) < 0)
			return -1;
		if (flock(item->fd, how | LOCK_NB) < 0)
			return fail(err, "lock", item->path);
		if (is_still(item->kind_fd, item->name, item->fd))
			return 0;
		nsrun_fd_close(&item->fd);
	}
}

int
nsrun_store_hold(struct nsrun_store_item *item,
    const struct nsrun_store *store, const char *kind, const char *name,
    unsigned int use, struct nsrun_err *err)
{
	int rc;

	*item = (struct nsrun_store_item)NSRUN_STORE_ITEM_INIT;
	if (name && nsrun_store_check_name(name, err) < 0)
		return -1;
	item->kind_fd = open_kind(store, kind, err);
	if (item->kind_fd < 0)
		return -1;
	if (name)
		snprintf(item->name, sizeof item->name, "%s", name);
	else
		sweep(item->kind_fd);
	snprintf(item->path, sizeof item->path, "%s/%s/%s", store->path, kind,
	    item->name);
	rc = name ? hold_named(item, use, err) : make_unnamed(item, err);
	snprintf(item->path, sizeof item->path, "%s/%s/%s", store->path, kind,
	    item->name);
	if (rc < 0) {
		nsrun_fd_close(&item->fd);
		nsrun_fd_close(&item->kind_fd);
	}
	return rc;
}

int
nsrun_store_make_part(const struct nsrun_store_item *item, const char *name,
    uid_t uid, gid_t gid, struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;
	struct stat st;
	int had = make_dir(item->fd, name);

	if (had < 0)
		return fail(err, "mkdir", item->path);
	fd = open_dir(item->fd, name);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(err, "open", item->path);
	if (st.st_uid == uid)
		return 0;
	/* Ours still: another launch is making it, or died doing so. */
	if (st.st_uid != geteuid() && had)
		return refuse(err, "is of launches as another user; the same"
		    " --as, or another name", item->path);
	return fchown(fd, uid, gid) < 0 ? fail(err, "fchown", item->path) : 0;
}

int
nsrun_store_release(struct nsrun_store_item *item, struct nsrun_err *err)
{
	if (item->fd >= 0 && *item->name == '.')
		return nsrun_store_remove(item, err);
	nsrun_fd_close(&item->fd);
	nsrun_fd_close(&item->kind_fd);
	return 0;
}

int
nsrun_store_remove(struct nsrun_store_item *item, struct nsrun_err *err)
{
	int rc = 0;

	if (item->fd >= 0 && remove_held(item->kind_fd, item->name,
	    item->fd) < 0)
		rc = errno == ESTALE ? refuse(err, "was replaced since it was"
		    " made, and what stands there is left alone", item->path) :
		    fail(err, "remove", item->path);
	nsrun_fd_close(&item->fd);
	nsrun_fd_close(&item->kind_fd);
	return rc;
}

static int
by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int
nsrun_store_list(const struct nsrun_store *store, const char *kind,
    struct nsrun_arena *arena, struct nsrun_words *names,
    struct nsrun_err *err)
{
	int fd = open_kind(store, kind, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		nsrun_fd_close(&fd);
		return err->step != NSRUN_STEP_NONE ? -1 :
		    fail(err, "opendir", kind);
	}
	while (rc == 0 && (entry = readdir(dir))) {
		const char *name = *entry->d_name == '.' ? NULL :
		    nsrun_arena_strdup(arena, entry->d_name);

		if (*entry->d_name != '.' && (!name ||
		    nsrun_words_add(names, arena, name) < 0))
			rc = nsrun_err_nomem(err, kind);
	}
	closedir(dir);
	if (rc == 0 && names->n)
		qsort(names->v, names->n, sizeof *names->v, by_bytes);
	return rc;
}
