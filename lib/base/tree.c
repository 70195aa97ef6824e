/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static int
open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

/* A directory that its owner closed: as open_dir(), by the entry itself. */
static int
open_closed(int at, const char *name)
{
	nsrun_autoclose int fd = openat(at, name, O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	char path[48];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd < 0 || chmod(path, 0700) < 0)
		return -1;
	return open_dir(at, name);
}

static bool
is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Directory `name` of fd becomes top's, under a name that is free there. */
static int
move_up(int fd, const char *name, int top, uint64_t *moved)
{
	/* Its ".." changes, so it must be writable. */
	nsrun_autoclose int sub = open_closed(fd, name);
	char to[32];

	while (sub >= 0) {
		snprintf(to, sizeof to, ".%llu", (unsigned long long)++*moved);
		if (renameat(fd, name, top, to) == 0)
			return 0;
		/* Left by a try that failed half-way. */
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return -1;
	}
	return -1;
}

/*
 * Empty directory `name` of top: its files go, its directories move up into
 * top, under names of ours. So no tree is too deep, for the stack or for the
 * descriptors.
 */
static int
flatten(int top, const char *name, uint64_t *moved)
{
	int fd = open_closed(top, name);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		nsrun_fd_close(&fd);
		return -1;
	}
	while (rc == 0 && (entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		if (unlinkat(fd, entry->d_name, 0) == 0)
			continue;
		if (errno != EISDIR) {
			rc = -1;
			break;
		}
		rc = move_up(fd, entry->d_name, top, moved);
	}
	closedir(dir);
	return rc == 0 ? unlinkat(top, name, AT_REMOVEDIR) : -1;
}

/* One pass over top. *more: something was there, so look again. */
static int
empty_once(int top, uint64_t *moved, bool *more)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		nsrun_fd_close(&fd);
		return -1;
	}
	*more = false;
	while (rc == 0 && (entry = readdir(dir))) {
		if (is_dots(entry->d_name))
			continue;
		*more = true;
		if (unlinkat(top, entry->d_name, 0) == 0)
			continue;
		rc = errno == EISDIR ? flatten(top, entry->d_name, moved) : -1;
	}
	closedir(dir);
	return rc;
}

static int
empty(int top, uint64_t *moved)
{
	bool more = true;

	/* What moved up while it was read may not have been seen. */
	while (more)
		if (empty_once(top, moved, &more) < 0)
			return -1;
	return 0;
}

int
nsrun_tree_empty(int top)
{
	uint64_t moved = 0;

	return empty(top, &moved);
}

int
nsrun_tree_remove(int top, const char *name)
{
	uint64_t moved = 0;

	return flatten(top, name, &moved) < 0 ? -1 : empty(top, &moved);
}
