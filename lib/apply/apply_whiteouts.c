/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of an overlay's layer that are not shown: whiteouts, as the kernel
 * makes them for what is removed, in the upper layer before it is mounted.
 * Nothing inside can take one away: to make the name anew is to make something
 * else, and a directory of the layer is never renamed (EXDEV).
 */
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

static int
open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
}

/* Two layers' directories of the same name; these are ours to close. */
struct level {
	int	upper, lower;
};

static void
leave(struct level *l)
{
	nsrun_fd_close(&l->upper);
	nsrun_fd_close(&l->lower);
}

/*
 * Directory `name` of both layers, made in the upper one as it is in the lower.
 * False: the lower one has none, so what is below cannot be seen.
 */
static bool
descend(struct level *below, int upper, int lower, const char *name)
{
	struct stat st;

	below->lower = openat(lower, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (below->lower < 0 || fstat(below->lower, &st) < 0 ||
	    (mkdirat(upper, name, st.st_mode & 07777) < 0 && errno != EEXIST))
		return false;
	below->upper = open_dir(upper, name);
	return below->upper >= 0;
}

/*
 * What an earlier launch made of the name hides the layer's own, unless it is
 * a directory that the two share: then it is too late to hide it.
 */
static int
check_made(int upper, const char *name)
{
	nsrun_autoclose int fd = open_dir(upper, name);
	char value;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? 0 : -1;
	if (fgetxattr(fd, "user.overlay.opaque", &value, 1) == 1 &&
	    value == 'y')
		return 0;
	errno = EEXIST;
	return -1;
}

/* Below a directory that is there in both layers, or in neither. */
static int
hide(int upper, int lower, const char *path)
{
	struct level below = { -1, -1 };
	size_t n = strcspn(path, "/");
	char name[256];
	int rc = 0;

	if (n >= sizeof name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, path, n);
	name[n] = '\0';
	if (!path[n])
		return mknodat(upper, name, S_IFCHR, makedev(0, 0)) == 0 ? 0 :
		    errno == EEXIST ? check_made(upper, name) : -1;
	if (descend(&below, upper, lower, name))
		rc = hide(below.upper, below.lower, path + n + 1);
	/* Or something of an earlier launch's is in its place. */
	else if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		rc = -1;
	leave(&below);
	return rc;
}

int
nsrun_mount_whiteouts(const struct nsrun_mount *m, int upper_fd, int lower_fd,
    struct nsrun_err *err)
{
	for (const char *const *path = m->hidden; path && *path; path++)
		if (hide(upper_fd, lower_fd, *path) < 0)
			return errno == EEXIST ? nsrun_err_rule(err,
			    NSRUN_STEP_HOME, "is to be hidden, and was written"
			    " to in an earlier launch", m->target, *path) :
			    nsrun_err_sys(err, NSRUN_STEP_HOME, "whiteout",
			    m->target, *path);
	return 0;
}
