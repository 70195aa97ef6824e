/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directories, files, links and modes: what is made in a tree by name. */
#include "apply/mount_ops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

int
nsrun_mount_dir(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	mode_t type = S_ISREG(m->type) ? S_IFREG : S_IFDIR;
	nsrun_autoclose int fd = -1;
	const char *call;

	if (nsrun_target_make(prep, child, m, type |
	    nsrun_mount_mode(m, 0755), &fd, &call) < 0)
		return nsrun_mount_failed(m, call, err);
	return 0;
}

/* The same link may be there already, and nothing else. */
static int
check_link(const struct nsrun_mount *m, int dir, const char *name,
    struct nsrun_err *err)
{
	char there[PATH_MAX];
	ssize_t n = readlinkat(dir, name, there, sizeof there - 1);

	/* Neither is the root, whose name is empty. */
	if (n < 0)
		return nsrun_err_rule(err, NSRUN_STEP_MOUNT,
		    "destination exists and is not a symlink", m->target,
		    NULL);
	there[n] = '\0';
	if (strcmp(there, m->source))
		return nsrun_err_rule(err, NSRUN_STEP_MOUNT,
		    "existing destination is", m->target, there);
	return 0;
}

int
nsrun_mount_symlink(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	const char *name;
	int fd = nsrun_target_parent(prep, child, m, m->target, &name);

	if (fd < 0)
		return nsrun_mount_failed(m, "parent directory", err);
	if ((prep->plan->mounts.leaves_nothing && !child->dir_own ?
	    nsrun_stub_link(prep, child, fd, name, m->source) :
	    symlinkat(m->source, fd, name)) == 0)
		return 0;
	if ((errno == EEXIST || !*name) && m->flags & NSRUN_MOUNT_REPLACE)
		return check_link(m, fd, name, err);
	return nsrun_mount_failed(m, "symlink", err);
}

static int
write_data(int fd, const struct nsrun_mount *m, struct nsrun_err *err)
{
	const char *data = m->data;

	for (size_t done = 0; done < m->n_data; ) {
		ssize_t n = write(fd, data + done, m->n_data - done);

		if (n < 0)
			return nsrun_mount_failed(m, "write", err);
		done += (size_t)n;
	}
	return 0;
}

/*
 * A file that may be there already is emptied and keeps its mode, as creat(2)
 * does; one that must not be is made with O_EXCL; one that somebody put there
 * only has to be there.
 */
int
nsrun_mount_file(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	mode_t mode = nsrun_mount_mode(m, 0444);
	nsrun_autoclose int place = -1, fd = -1;
	const char *name, *call = "parent directory";
	int dir;

	if (m->flags & NSRUN_MOUNT_OPTIONAL) {
		fd = nsrun_target_open(child, m);
		return fd < 0 ? nsrun_mount_failed(m, "open", err) : 0;
	}
	if (m->flags & NSRUN_MOUNT_REPLACE) {
		if (nsrun_target_make(prep, child, m, S_IFREG | mode, &place,
		    &call) < 0)
			return nsrun_mount_failed(m, call, err);
		fd = nsrun_target_reopen(prep, place, O_WRONLY | O_TRUNC |
		    O_NOCTTY);
	} else {
		dir = nsrun_target_parent(prep, child, m, m->target, &name);
		if (dir < 0)
			return nsrun_mount_failed(m, call, err);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    mode);
	}
	if (fd < 0)
		return nsrun_mount_failed(m, "open", err);
	return write_data(fd, m, err);
}

/* The content lives in the hidden part of the root's tmpfs, without a name. */
int
nsrun_mount_data(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = openat(child->base_fd, "data",
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	nsrun_autoclose int tree = -1;

	if (fd < 0)
		return nsrun_mount_failed(m, "create", err);
	if (fchmod(fd, nsrun_mount_mode(m, 0600)) < 0)
		return nsrun_mount_failed(m, "chmod", err);
	if (write_data(fd, m, err) < 0)
		return -1;
	tree = sys_open_tree(child->base_fd, "data",
	    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return nsrun_mount_failed(m, "open_tree", err);
	if (nsrun_mount_restrict(tree, m, nsrun_mount_attributes(m)) < 0)
		return nsrun_mount_failed(m, "mount_setattr", err);
	if (nsrun_mount_attach(prep, child, tree, m, S_IFREG, err) < 0)
		return -1;
	/* Not before: what has no name cannot be mounted. */
	if (unlinkat(child->base_fd, "data", 0) < 0)
		return nsrun_mount_failed(m, "unlink", err);
	return 0;
}

int
nsrun_mount_chmod(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = nsrun_target_open(child, m);
	char path[NSRUN_FD_PATH];

	if (fd < 0)
		return nsrun_mount_failed(m, "chmod", err);
	/* By way of /proc: fchmod(2) refuses a descriptor of O_PATH. */
	if (fchmodat(prep->proc_fd, nsrun_fd_path(path, fd),
	    nsrun_mount_mode(m, 0), 0) < 0)
		return nsrun_mount_failed(m, "chmod", err);
	return 0;
}
