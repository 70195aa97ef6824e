/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/stub.h"
#include "base/sys.h"
#include "overlay/dir.h"

static const char notes[] = "closed";

/* The value of an attribute, cut; its length, or -1. No link is followed. */
static ssize_t
attribute(int dir_fd, const char *name, const char *key, char value[2])
{
	char path[64 + NAME_MAX];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%s", dir_fd, name);
	value[0] = '\0';
	if (lgetxattr(path, key, value, 2) >= 0)
		return 1;
	return errno == ERANGE ? 2 : -1;
}

static bool
has(int dir_fd, const char *name, const char *key)
{
	char value[2];

	return attribute(dir_fd, name, key, value) >= 0;
}

/* A stub holds nothing; a command can give any directory the mode of one. */
static bool
is_stub(int dir_fd, const char *name, const struct stat *st)
{
	nsrun_autoclose int fd = -1;
	struct nsrun_names names;
	bool empty;

	if (!nsrun_stub_is_one(st) || !S_ISDIR(st->st_mode))
		return nsrun_stub_is_one(st);
	fd = nsrun_dir_open(dir_fd, name);
	if (fd < 0 || nsrun_names_read(&names, fd) < 0)
		return false;
	empty = names.n == 0;
	nsrun_names_free(&names);
	return empty;
}

static enum nsrun_layer_kind
kind_of(int dir_fd, const char *name, const struct stat *st)
{
	if (is_stub(dir_fd, name, st))
		return NSRUN_LAYER_STUB;
	if (S_ISDIR(st->st_mode))
		return NSRUN_LAYER_DIR;
	if (S_ISLNK(st->st_mode))
		return NSRUN_LAYER_LINK;
	if (S_ISCHR(st->st_mode) && st->st_rdev == 0)
		return NSRUN_LAYER_WHITEOUT;
	if (!S_ISREG(st->st_mode))
		return NSRUN_LAYER_SPECIAL;
	return st->st_size == 0 && has(dir_fd, name, "user.overlay.whiteout") ?
	    NSRUN_LAYER_WHITEOUT : NSRUN_LAYER_FILE;
}

int
nsrun_layer_look(int dir_fd, const char *name, struct nsrun_layer_entry *e)
{
	char value[2];

	*e = (struct nsrun_layer_entry){ 0 };
	if (fstatat(dir_fd, name, &e->st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	e->kind = kind_of(dir_fd, name, &e->st);
	/* "x" says that it may hold whiteouts of the other form, no more. */
	if (e->kind == NSRUN_LAYER_DIR) {
		e->opaque = attribute(dir_fd, name, "user.overlay.opaque",
		    value) >= 0 && value[0] == 'y';
		e->elsewhere = has(dir_fd, name, "user.overlay.redirect");
	}
	if (e->kind == NSRUN_LAYER_FILE)
		e->elsewhere = has(dir_fd, name, "user.overlay.metacopy") ||
		    has(dir_fd, name, "user.overlay.redirect");
	return 0;
}

static int
take_note(struct nsrun_layer_place place, mode_t mode)
{
	nsrun_autoclose int fd = openat(place.notes_fd, notes, O_WRONLY |
	    O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[16 + PATH_MAX];
	int n = snprintf(text, sizeof text, "%o %s", (unsigned int)mode & 07777,
	    place.path) + 1;

	return fd < 0 || n > (int)sizeof text || write(fd, text, (size_t)n) !=
	    n ? -1 : 0;
}

/* As its owner closed it: by the entry itself. */
static int
open_closed(int dir_fd, const char *name, mode_t mode, int flags)
{
	nsrun_autoclose int entry = openat(dir_fd, name, O_PATH | O_NOFOLLOW |
	    O_CLOEXEC);
	char path[64];
	struct stat st;
	int fd, saved;

	if (entry < 0 || fstat(entry, &st) < 0)
		return -1;
	if (st.st_mode != mode) {
		errno = ESTALE;
		return -1;
	}
	snprintf(path, sizeof path, "/proc/self/fd/%d", entry);
	if (chmod(path, (mode & 07777) | (S_ISDIR(mode) ? 0700 : 0400)) < 0)
		return -1;
	fd = open(path, flags & ~O_NOFOLLOW);
	if (S_ISDIR(mode))
		return fd;
	saved = errno;
	if (chmod(path, mode & 07777) < 0)
		nsrun_fd_close(&fd);
	else
		errno = saved;
	return fd;
}

/* Root is not kept out; and a directory wants to be searched as well. */
static bool
is_closed(const struct nsrun_layer_entry *e)
{
	mode_t wanted = e->kind == NSRUN_LAYER_DIR ? 0700 : 0400;

	return geteuid() != 0 && (e->st.st_mode & wanted) != wanted;
}

int
nsrun_layer_open(int dir_fd, const char *name,
    const struct nsrun_layer_entry *e, struct nsrun_layer_place place)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
	    (e->kind == NSRUN_LAYER_DIR ? O_DIRECTORY : 0);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (!is_closed(e))
		fd = openat(dir_fd, name, flags);
	else if (take_note(place, e->st.st_mode) == 0)
		fd = open_closed(dir_fd, name, e->st.st_mode, flags);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	if (st.st_dev != e->st.st_dev || st.st_ino != e->st.st_ino) {
		errno = ESTALE;
		return -1;
	}
	return nsrun_fd_take(&fd);
}

int
nsrun_layer_leave(int fd, const struct nsrun_layer_entry *e)
{
	return is_closed(e) ? fchmod(fd, e->st.st_mode & 07777) : 0;
}

static int
restore_one(int layer_fd, const char *line)
{
	char *end, path[64];
	mode_t mode = (mode_t)strtoul(line, &end, 8);
	nsrun_autoclose int fd = *end != ' ' ? -1 : sys_openat2(layer_fd,
	    end + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);

	/* Gone; or in a directory that is closed, and so was itself before. */
	if (fd < 0)
		return errno == ENOENT || errno == EACCES ||
		    errno == ENOTDIR ? 0 : -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	return chmod(path, mode);
}

/* From the end: what is inner was opened later. */
int
nsrun_layer_restore(int notes_fd, int layer_fd)
{
	nsrun_autoclose int fd = openat(notes_fd, notes, O_RDONLY |
	    O_NOFOLLOW | O_CLOEXEC);
	size_t size = 0, at;
	char *text;
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	text = nsrun_file_read_fd(fd, (size_t)1 << 30, &size);
	if (!text)
		return -1;
	/* One that is cut: killed before it came to that. */
	while (size > 0 && text[size - 1])
		size--;
	while (rc == 0 && size > 0) {
		for (at = size - 1; at > 0 && text[at - 1]; )
			at--;
		rc = restore_one(layer_fd, text + at);
		size = at;
	}
	free(text);
	return rc < 0 ? -1 : unlinkat(notes_fd, notes, 0);
}
