/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which directory of cgroup2 is ours to make others in? The nearest above us
 * that somebody gave away:
 *
 *	- a service manager marked it (Delegate=yes: the attribute "delegate");
 *	- it belongs to us and what is above it does not;
 *	- it is the top of a container's own cgroup namespace, for its root;
 *	- we, the host's root, are in no cgroup at all but the root.
 *
 * Everything below a service manager's own directory is that one's to arrange,
 * whoever owns it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "run/cgroup.h"

enum { MAX_TEXT = 16 << 20, HOST_NAMESPACE = (int)0xeffffffbU };

static const char *const names[NSRUN_N_CONTROLLERS] = {
	"memory", "pids", "cpu", "io",
};

const char *
nsrun_controller_name(unsigned int bit)
{
	for (int i = 0; i < NSRUN_N_CONTROLLERS; i++)
		if (bit == 1U << i)
			return names[i];
	return NULL;
}

unsigned int
nsrun_controllers_parse(const char *text)
{
	unsigned int bits = 0;

	while (*text) {
		size_t n = strcspn(text, " .\n");

		for (int i = 0; i < NSRUN_N_CONTROLLERS; i++)
			if (n == strlen(names[i]) &&
			    !strncmp(text, names[i], n))
				bits |= 1U << i;
		if (text[n] == '.')
			break;
		text += n + (text[n] != '\0');
	}
	return bits;
}

/* A mount of cgroup2 that shows `own`: mountinfo's root and mount point. */
static int
parse_mount(char *line, const char *own, char path[PATH_MAX], size_t *top)
{
	char *root = line, *point, *type = strstr(line, " - cgroup2 ");
	size_t n;

	for (int i = 0; type && root && i < 3; i++)
		root = strchr(root, ' ') ? strchr(root, ' ') + 1 : NULL;
	point = type && root ? strchr(root, ' ') : NULL;
	if (!point)
		return -1;
	*point++ = '\0';
	point[strcspn(point, " ")] = '\0';
	n = strcmp(root, "/") ? strlen(root) : 0;
	/* With a blank in its name it stands there in another form. */
	if (strchr(point, '\\') || strncmp(own, root, n) ||
	    (own[n] != '/' && own[n]))
		return -1;
	*top = strlen(point);
	own += n;
	return snprintf(path, PATH_MAX, "%s%s", point, strcmp(own, "/") ? own :
	    "") < PATH_MAX ? 0 : -1;
}

/* *top: how much of path is the mount point. */
static int
find_own(char path[PATH_MAX], size_t *top, struct nsrun_err *err)
{
	char *groups = nsrun_file_read("/proc/self/cgroup", MAX_TEXT);
	char *mounts = nsrun_file_read("/proc/self/mountinfo", MAX_TEXT);
	char *own = groups ? strstr(groups, "0::/") : NULL, *save = NULL;
	int rc = -1;

	*path = '\0';
	if (own && own != groups && own[-1] != '\n')
		own = NULL;
	if (own)
		own[strcspn(own, "\n")] = '\0';
	for (char *line = mounts && own ? strtok_r(mounts, "\n", &save) : NULL;
	    rc < 0 && line; line = strtok_r(NULL, "\n", &save))
		rc = parse_mount(line, own + 3, path, top);
	if (rc < 0)
		nsrun_err_rule(err, NSRUN_STEP_CGROUP,
		    "no cgroup2 file system shows it", own ? own + 3 :
		    "our cgroup", NULL);
	free(groups);
	free(mounts);
	return rc;
}

int
nsrun_cgroup_own(char path[PATH_MAX], struct nsrun_err *err)
{
	size_t top;

	return find_own(path, &top, err);
}

/*
 * With nsdelegate the kernel keeps the root of a cgroup namespace from being
 * controlled inside; without, it is its owner's.
 */
bool
nsrun_cgroup_is_open_to(uid_t uid)
{
	struct nsrun_err ignored = NSRUN_ERR_INIT;
	char path[PATH_MAX], file[PATH_MAX + 16], *mounts, *at;
	struct stat st;
	bool kept = false;

	mounts = nsrun_file_read("/proc/self/mountinfo", MAX_TEXT);
	if (!mounts)
		return true;	/* for all that can be told */
	snprintf(file, sizeof file, "%s/cgroup.procs",
	    nsrun_cgroup_own(path, &ignored) == 0 ? path : "");
	if (!*path || stat(file, &st) < 0 || st.st_uid != uid) {
		free(mounts);
		return false;
	}
	at = strstr(mounts, " - cgroup2 ");
	if (at) {
		at[strcspn(at, "\n")] = '\0';
		kept = strstr(at, "nsdelegate");
	}
	free(mounts);
	return !kept;
}

static bool
is_marked(const char *path)
{
	char value[2] = "";

	return (getxattr(path, "user.delegate", value, sizeof value) > 0 ||
	    getxattr(path, "trusted.delegate", value, sizeof value) > 0) &&
	    *value == '1';
}

static bool
in_container(void)
{
	struct stat st;

	return stat("/proc/self/ns/cgroup", &st) == 0 &&
	    st.st_ino != (ino_t)(unsigned int)HOST_NAMESPACE;
}

/* at_top: nothing above it can be seen; is_own: and we are in it. */
static bool
is_delegated(const char *path, bool at_top, bool is_own)
{
	char above[PATH_MAX + 4];
	struct stat st, up;

	if (is_marked(path))
		return true;
	if (geteuid() == 0)
		return at_top && (is_own || in_container());
	snprintf(above, sizeof above, "%s/..", path);
	return stat(path, &st) == 0 && st.st_uid == geteuid() &&
	    (at_top || (stat(above, &up) == 0 && up.st_uid != geteuid()));
}

static int
find_delegated(char path[PATH_MAX], struct nsrun_err *err)
{
	char manager[PATH_MAX + 16], own[PATH_MAX];
	size_t top;

	if (find_own(path, &top, err) < 0)
		return -1;
	memcpy(own, path, sizeof own);
	while (!is_delegated(path, strlen(path) <= top, !strcmp(path, own))) {
		if (strlen(path) <= top) {
			memcpy(path, own, sizeof own);
			return nsrun_err_rule(err, NSRUN_STEP_CGROUP,
			    "is not delegated to us, nor is anything above it",
			    own, NULL);
		}
		*strrchr(path, '/') = '\0';
	}
	snprintf(manager, sizeof manager, "%s/init.scope", path);
	if (access(manager, F_OK) == 0)
		return nsrun_err_rule(err, NSRUN_STEP_CGROUP,
		    "is delegated to a service manager, not to us", path, NULL);
	return 0;
}

/* What it takes to make one there and to put a process into it. */
static int
check_writable(const struct nsrun_cgroup_base *base, struct nsrun_err *err)
{
	static const char *const files[] = {
		".", "cgroup.procs", "cgroup.subtree_control",
	};

	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		if (faccessat(base->fd, files[i], W_OK, AT_EACCESS) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_CGROUP, files[i],
			    base->path, NULL);
	return 0;
}

int
nsrun_cgroup_find(struct nsrun_cgroup_base *base, const char *path,
    struct nsrun_err *err)
{
	nsrun_autoclose int file = -1;
	struct statfs fs;
	char *text;
	size_t size;

	base->fd = -1;
	base->controllers = 0;
	if (!path && find_delegated(base->path, err) < 0)
		return -1;
	if (path && snprintf(base->path, sizeof base->path, "%s", path) >=
	    (int)sizeof base->path) {
		errno = ENAMETOOLONG;
		return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "open", path,
		    NULL);
	}
	base->fd = open(base->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base->fd < 0 || nsrun_fd_raise(&base->fd) < 0)
		nsrun_err_sys(err, NSRUN_STEP_CGROUP, "open", base->path, NULL);
	else if (fstatfs(base->fd, &fs) < 0 ||
	    fs.f_type != CGROUP2_SUPER_MAGIC)
		nsrun_err_rule(err, NSRUN_STEP_CGROUP,
		    "is not a directory of a cgroup2 file system", base->path,
		    NULL);
	else if (check_writable(base, err) == 0) {
		file = openat(base->fd, "cgroup.controllers",
		    O_RDONLY | O_CLOEXEC);
		text = nsrun_file_read_fd(file, 4096, &size);
		base->controllers = text ? nsrun_controllers_parse(text) : 0;
		free(text);
		return 0;
	}
	nsrun_fd_close(&base->fd);
	return -1;
}
