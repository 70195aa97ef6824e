/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own file systems: proc, devpts, mqueue, and any by its name. */
#include "apply/mount_ops.h"

#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

/* One that takes no option. */
static int
make_plain(const struct nsrun_mount *m, const char *type,
    struct nsrun_err *err)
{
	const struct nsrun_fs_option options[] = {
		{ "source", type }, { NULL, NULL },
	};

	return nsrun_mount_make_fs(m, type, options, nsrun_mount_attributes(m),
	    err);
}

/* Settings first: the covers that follow make them read-only. */
int
nsrun_mount_proc(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = make_plain(m, "proc", err);

	if (fd < 0 || nsrun_apply_sysctls(prep, child, fd, err) < 0)
		return -1;
	return nsrun_mount_attach(prep, child, fd, m, S_IFDIR, err);
}

int
nsrun_mount_mqueue(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = make_plain(m, "mqueue", err);

	return fd < 0 ? -1 :
	    nsrun_mount_attach(prep, child, fd, m, S_IFDIR, err);
}

/* Bounded, if so: terminals come out of one number for the whole machine. */
int
nsrun_mount_devpts(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_fs_option options[] = {
		{ "source", "devpts" },
		{ "mode", "620" }, { "ptmxmode", "666" },
		{ "max", prep->tmpfs[i].inodes },
		{ NULL, NULL },
	};
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = nsrun_mount_make_fs(m, "devpts", options,
	    nsrun_mount_attributes(m), err);

	return fd < 0 ? -1 :
	    nsrun_mount_attach(prep, child, fd, m, S_IFDIR, err);
}

/* Its options, and what the kernel makes of them. Returns a mount or -1. */
static int
configure(const struct nsrun_mount *m, struct nsrun_err *err)
{
	nsrun_autoclose int fs = sys_fsopen(m->fstype);
	int fd;

	if (fs < 0)
		return nsrun_mount_failed(m, "fsopen", err);
	if (m->source && sys_fsconfig(fs, FSCONFIG_SET_STRING, "source",
	    m->source) < 0)
		return nsrun_mount_failed(m, "fsconfig", err);
	for (const char *const *o = m->options; o && *o; o += 2)
		if (sys_fsconfig(fs, *o[1] ? FSCONFIG_SET_STRING :
		    FSCONFIG_SET_FLAG, o[0], *o[1] ? o[1] : NULL) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "fsconfig",
			    o[0], m->target);
	if (sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		return nsrun_mount_failed(m, "fsconfig", err);
	fd = sys_fsmount(fs, (unsigned int)(nsrun_mount_attributes(m) &
	    ~(uint64_t)MOUNT_ATTR_RDONLY));
	return fd < 0 ? nsrun_mount_failed(m, "fsmount", err) : fd;
}

/* In a tmpfs, which is nobody else's, things may be made. */
int
nsrun_mount_fs(const struct nsrun_prep *prep, struct nsrun_child *child,
    size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &prep->plan->mounts.v[i];
	nsrun_autoclose int fd = configure(m, err);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!strcmp(m->fstype, "tmpfs")) {
		if (fstat(fd, &st) < 0)
			return nsrun_mount_failed(m, "fstat", err);
		prep->own_devs[child->n_own_devs++] = st.st_dev;
	}
	if (nsrun_mount_attach(prep, child, fd, m, S_IFDIR, err) < 0)
		return -1;
	prep->tree_fds[i] = nsrun_fd_take(&fd);
	return 0;
}
