/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/setid.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

enum { MAX_DEPTH = 256, MAX_ENTRIES = 4000000 };

struct walk {
	char		path[PATH_MAX];	/* of what is looked at, for people */
	dev_t		dev;
	unsigned long	n_entries;
	struct nsrun_err *err;
};

static int
refuse(struct walk *w, const char *rule)
{
	return nsrun_err_rule(w->err, NSRUN_STEP_PROJECT, rule, w->path, NULL);
}

/* By a path through procfs: there is no lgetxattrat(2) before Linux 6.13. */
static bool
has_capabilities(int dir_fd, const char *name)
{
	char path[NAME_MAX + 64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir_fd, name);
	return lgetxattr(path, "security.capability", NULL, 0) >= 0 ||
	    (errno != ENODATA && errno != EOPNOTSUPP && errno != ENOENT);
}

static int walk_dir(struct walk *w, int *dir_fd, int depth);

static int
walk_entry(struct walk *w, int dir_fd, const char *name, int depth)
{
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		/* Gone since it was listed: a build may be at work. */
		return errno == ENOENT ? 0 : nsrun_err_sys(w->err,
		    NSRUN_STEP_PROJECT, "fstatat", w->path, NULL);
	if (S_ISREG(st.st_mode) && st.st_mode & (S_ISUID | S_ISGID))
		return refuse(w, "has a set-ID bit, in a tree that a command of"
		    " root's may write: remove the bit");
	if (S_ISREG(st.st_mode) && has_capabilities(dir_fd, name))
		return refuse(w, "has capabilities, in a tree that a command of"
		    " root's may write: setcap -r");
	if (!S_ISDIR(st.st_mode))
		return 0;
	/* A subvolume is cloned along, though no mount table names it. */
	if (st.st_dev != w->dev)
		return refuse(w, "is another file system or subvolume");
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : nsrun_err_sys(w->err,
		    NSRUN_STEP_PROJECT, "open", w->path, NULL);
	return walk_dir(w, &fd, depth + 1);
}

/* Takes *dir_fd. */
static int
walk_dir(struct walk *w, int *dir_fd, int depth)
{
	size_t n = strlen(w->path);
	const struct dirent *entry;
	DIR *dir;
	int rc = 0;

	if (depth > MAX_DEPTH)
		return refuse(w, "is too deep to be looked through: remove it");
	dir = fdopendir(*dir_fd);
	if (!dir)
		return nsrun_err_sys(w->err, NSRUN_STEP_PROJECT, "fdopendir",
		    w->path, NULL);
	*dir_fd = -1;
	while (rc == 0 && (entry = readdir(dir))) {
		/* Neither a link nor a special file is followed or opened. */
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (++w->n_entries > MAX_ENTRIES)
			rc = refuse(w, "has too many files to be looked"
			    " through");
		else if (entry->d_type == DT_REG || entry->d_type == DT_DIR ||
		    entry->d_type == DT_UNKNOWN) {
			snprintf(w->path + n, sizeof w->path - n, "/%s",
			    entry->d_name);
			rc = walk_entry(w, dirfd(dir), entry->d_name, depth);
		}
	}
	closedir(dir);
	if (rc == 0)
		w->path[n] = '\0';
	return rc;
}

int
nsrun_setid_check(int root_fd, const char *path, struct nsrun_err *err)
{
	struct walk w = { .err = err };
	struct stat st;
	nsrun_autoclose int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY |
	    O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_PROJECT, "open", path,
		    NULL);
	w.dev = st.st_dev;
	snprintf(w.path, sizeof w.path, "%s", path);
	return walk_dir(&w, &fd, 0);
}
