/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Detached clones of host trees, made with the host's rights before a root
 * caller gives them up; idmapped on request (mount_setattr(2)).
 */
#ifndef NSRUN_BASE_IDMAPPED_H
#define NSRUN_BASE_IDMAPPED_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A user namespace whose maps turn the ids of a file system into those of the
 * host: disk_uid into host_uid, disk_gid into host_gid, nobody else's. proc_fd
 * is a procfs. Needs CAP_SETUID and CAP_SETGID. Returns a descriptor that the
 * caller owns, or -1 with errno set. No process of it is left.
 */
int nsrun_idmap_open(int proc_fd, uid_t disk_uid, uid_t host_uid,
    gid_t disk_gid, gid_t host_gid);

/*
 * Clone the tree at fd, or at path when fd is -1, detached; attr_set and
 * recursion as of mount_setattr(2); private; idmapped by idmap_fd unless -1.
 * Returns a descriptor, or -1 with errno set and *call naming the system call.
 */
int nsrun_tree_clone(int fd, const char *path, int recursive,
    uint64_t attr_set, int idmap_fd, const char **call);

#endif
