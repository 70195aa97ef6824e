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

/*
 * Directory `name` of both layers, made in the upper one as it is in the lower.
 * False: the lower one has none, so what is below cannot be seen.
 */
static bool
descend(int *upper, int *lower, const char *name)
{
	int up, low = openat(*lower, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	struct stat st;

	nsrun_fd_close(lower);
	*lower = low;
	if (low < 0 || fstat(low, &st) < 0)
		return false;
	if (mkdirat(*upper, name, st.st_mode & 07777) < 0 && errno != EEXIST)
		return false;
	up = open_dir(*upper, name);
	nsrun_fd_close(upper);
	*upper = up;
	return up >= 0;
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

static int
hide(int upper_fd, int lower_fd, const char *path)
{
	nsrun_autoclose int upper = open_dir(upper_fd, ".");
	nsrun_autoclose int lower = openat(lower_fd, ".",
	    O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[256];

	if (upper < 0 || lower < 0)
		return -1;
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n >= sizeof name) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		if (!path[n])
			break;
		if (!descend(&upper, &lower, name))
			/* Something of an earlier launch's is in its place. */
			return errno == ENOENT || errno == ENOTDIR ||
			    errno == ELOOP ? 0 : -1;
		path += n + 1;
	}
	if (mknodat(upper, name, S_IFCHR, makedev(0, 0)) == 0)
		return 0;
	return errno == EEXIST ? check_made(upper, name) : -1;
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
