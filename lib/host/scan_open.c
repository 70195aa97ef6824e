/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory is opened from its parent's descriptor where that is kept, else
 * from that of an ancestor, by as many names at once as fit; never through a
 * link, never into another mount. So a few descriptors do for any depth.
 */
#include "host/scan_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/sys.h"

static int
open_in(int fd, const char *path)
{
	return sys_openat2(fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

/* dir, from anchor, one of its ancestors, which is open as `from`. */
static int
open_below(struct scan_worker *w, int from,
    const struct nsrun_scan_dir *anchor, const struct nsrun_scan_dir *dir)
{
	nsrun_autoclose int fd = -1;

	for (;;) {
		char *end = w->path + sizeof w->path - 1, *s = end;
		const struct nsrun_scan_dir *goal = dir;
		int next;

		*end = '\0';
		for (const struct nsrun_scan_dir *at = dir; at != anchor;
		    at = at->parent) {
			size_t n = strlen(at->name);

			if ((size_t)(s - w->path) < n + 1) {
				/* This step leads no further than here. */
				goal = at;
				s = end;
			}
			if (s < end)
				*--s = '/';
			s -= n;
			memcpy(s, at->name, n);
		}
		next = open_in(fd >= 0 ? fd : from, *s ? s : ".");
		if (next < 0 || goal == dir)
			return next;
		nsrun_fd_close(&fd);
		fd = next;
		anchor = goal;
	}
}

/* Lock held. */
static void
release(struct nsrun_scan *scan, struct nsrun_scan_dir *dir)
{
	if (--dir->users == 0 && dir->fd >= 0) {
		nsrun_fd_close(&dir->fd);
		scan->n_open--;
	}
}

int
nsrun_scan_open_job(struct scan_worker *w, struct nsrun_scan_dir *dir,
    bool *held)
{
	struct nsrun_scan *scan = w->scan;
	struct nsrun_scan_dir *anchor = dir->parent ? dir->parent : dir;
	int fd, error;

	pthread_mutex_lock(&scan->lock);
	while (anchor->fd < 0)
		anchor = anchor->parent;
	anchor->users++;
	pthread_mutex_unlock(&scan->lock);
	fd = open_below(w, anchor->fd, anchor, dir);
	error = errno;
	pthread_mutex_lock(&scan->lock);
	release(scan, anchor);
	if (dir->parent)
		release(scan, dir->parent);
	*held = fd >= 0 && dir->fd < 0 && scan->n_open < SCAN_MAX_OPEN;
	if (*held) {
		dir->fd = fd;
		dir->users++;
		scan->n_open++;
	}
	pthread_mutex_unlock(&scan->lock);
	errno = error;
	return fd;
}

void
nsrun_scan_close_job(struct scan_worker *w, struct nsrun_scan_dir *dir,
    int fd, bool held)
{
	if (!held) {
		nsrun_fd_close(&fd);
		return;
	}
	pthread_mutex_lock(&w->scan->lock);
	release(w->scan, dir);
	pthread_mutex_unlock(&w->scan->lock);
}

int
nsrun_scan_open_root(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    int fd)
{
	struct sys_statx st;

	dir->fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->fd < 0)
		return nsrun_scan_fail(scan, "open", errno, dir, NULL);
	if (sys_statx(dir->fd, "", AT_EMPTY_PATH, SYS_STATX_MNT_ID, &st) < 0)
		return nsrun_scan_fail(scan, "statx", errno, dir, NULL);
	dir->mnt_id = st.mnt_id;
	return 0;
}
