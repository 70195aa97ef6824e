/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One operation for each kind of mount entry; apply_mounts.c has the table
 * that names them and the loop. Each applies plan->mounts.v[i], once.
 */
#ifndef NSRUN_APPLY_MOUNT_OPS_H
#define NSRUN_APPLY_MOUNT_OPS_H

#include "apply/apply.h"

typedef int nsrun_mount_op(const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err);

/* apply_mounts.c */
nsrun_mount_op nsrun_mount_root, nsrun_mount_tmpfs, nsrun_mount_scratch;
nsrun_mount_op nsrun_mount_bind, nsrun_mount_remount;
/* apply_kernelfs.c */
nsrun_mount_op nsrun_mount_proc, nsrun_mount_devpts, nsrun_mount_mqueue;
nsrun_mount_op nsrun_mount_fs;
/* apply_files.c */
nsrun_mount_op nsrun_mount_dir, nsrun_mount_file, nsrun_mount_symlink;
nsrun_mount_op nsrun_mount_data, nsrun_mount_chmod;
/* apply_overlay.c */
nsrun_mount_op nsrun_mount_overlay;
/* apply_whiteouts.c: what m hides, in its upper layer. */
int nsrun_mount_whiteouts(const struct nsrun_mount *m, int upper_fd,
    int lower_fd, struct nsrun_err *err);
/* apply_covers.c */
nsrun_mount_op nsrun_mount_cover, nsrun_mount_mask;
/* apply_masks.c */
nsrun_mount_op nsrun_mount_pin, nsrun_mount_hide, nsrun_mount_absent;

/* What masks need, once: what is mounted over them, and who watches. */
int nsrun_mask_prepare(const struct nsrun_prep *prep,
    struct nsrun_child *child, const struct nsrun_mount *m,
    struct nsrun_err *err);

/* Below the plan's first tmpfs: see apply_covers.c. */
#define nsrun_shade_name "shade"

/* `call` failed for m; returns -1. */
int nsrun_mount_failed(const struct nsrun_mount *m, const char *call,
    struct nsrun_err *err);

/* Attach the detached mount at m's target, made when it is missing. */
int nsrun_mount_attach(const struct nsrun_prep *prep,
    struct nsrun_child *child, int mount_fd, const struct nsrun_mount *m,
    mode_t type, struct nsrun_err *err);

/* Set attributes on a detached clone, with all below it if m says so, and make
 * it private. -1 with errno set. */
int nsrun_mount_restrict(int fd, const struct nsrun_mount *m,
    uint64_t attributes);

/* A new file system, detached; an option whose value is "" is not given. */
struct nsrun_fs_option {
	const char *key, *value;
};
int nsrun_mount_make_fs(const struct nsrun_mount *m, const char *type,
    const struct nsrun_fs_option *options, uint64_t attributes,
    struct nsrun_err *err);

/* A new tmpfs of i's bounds, detached; remembered as ours. */
int nsrun_mount_make_tmpfs(const struct nsrun_prep *prep,
    struct nsrun_child *child, size_t i, struct nsrun_err *err);

/* Is fd what the plan saw? */
int nsrun_mount_check_pin(const struct nsrun_mount *m, int fd,
    struct nsrun_err *err);

#endif
