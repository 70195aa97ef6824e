/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's own file systems: proc, devpts, mqueue. */
#include "apply/mount_ops.h"

#include <sys/stat.h>

#include "base/fd.h"

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
