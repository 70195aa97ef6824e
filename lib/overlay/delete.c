/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Deleting from the project: first all that a directory holds is looked at, and
 * one name that is not as it was keeps all of it; then it goes from the inside
 * out, each name being looked at once more.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "overlay/baseline.h"
#include "overlay/dir.h"
#include "overlay/place.h"

const char nsrun_place_changed[] =
    "was changed on the host since the overlay was begun";

struct deletion {
	struct nsrun_apply *a;
	bool	removes;	/* or only looks */
	int	depth;
	char	path[PATH_MAX];	/* as the baseline knows it */
};

static int delete_one(struct deletion *d, int dir_fd, const char *name,
    size_t len);

static int
delete_all(struct deletion *d, int fd, size_t len)
{
	struct nsrun_names names;
	int rc = 0;

	if (++d->depth > NSRUN_OVERLAY_DEPTH) {
		d->a->why = "is deeper than 256 directories";
		return 1;
	}
	if (nsrun_names_read(&names, fd) < 0)
		return nsrun_place_failed(d->a, "read", d->path);
	for (size_t i = 0; rc == 0 && i < names.n; i++) {
		size_t n = strlen(names.v[i]);

		if (len + n + 2 > sizeof d->path) {
			d->a->why = "is too long a path";
			rc = 1;
			break;
		}
		d->path[len] = '/';
		memcpy(d->path + len + 1, names.v[i], n + 1);
		rc = delete_one(d, fd, names.v[i], len + 1 + n);
		d->path[len] = '\0';
	}
	nsrun_names_free(&names);
	d->depth--;
	return rc;
}

static int
delete_one(struct deletion *d, int dir_fd, const char *name, size_t len)
{
	struct nsrun_apply *a = d->a;
	int flags = 0, rc = 0;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 :
		    nsrun_place_failed(a, "stat", d->path);
	if (!nsrun_baseline_holds(a->baseline, d->path, &st)) {
		a->why = nsrun_place_changed;
		return 1;
	}
	if (S_ISDIR(st.st_mode)) {
		nsrun_autoclose int fd = nsrun_dir_open(dir_fd, name);

		if (fd < 0 && errno == EXDEV) {
			a->why = "has something mounted on it";
			return 1;
		}
		rc = fd < 0 ? nsrun_place_failed(a, "open", d->path) :
		    delete_all(d, fd, len);
		flags = AT_REMOVEDIR;
	}
	if (rc == 0 && d->removes && unlinkat(dir_fd, name, flags) < 0 &&
	    errno != ENOENT)
		rc = nsrun_place_failed(a, "remove", d->path);
	return rc;
}

static int
run(struct deletion *d, int host_fd, const char *name, bool removes)
{
	d->removes = removes;
	d->depth = 0;
	return delete_one(d, host_fd, name, strlen(d->path));
}

static void
start(struct deletion *d, struct nsrun_apply *a, const char *path)
{
	d->a = a;
	memcpy(d->path, path, strlen(path) + 1);
}

int
nsrun_place_may_delete(struct nsrun_apply *a, int host_fd, const char *name,
    const char *path)
{
	struct deletion d;

	start(&d, a, path);
	return run(&d, host_fd, name, false);
}

int
nsrun_place_delete(struct nsrun_apply *a, int host_fd, const char *name,
    const char *path)
{
	struct deletion d;
	int rc;

	start(&d, a, path);
	rc = run(&d, host_fd, name, false);
	return rc ? rc : run(&d, host_fd, name, true);
}
