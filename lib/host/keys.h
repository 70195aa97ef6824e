/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys: names of tenants, each of them a uid and a gid of this host that nobody
 * else has, the same at every launch.
 *
 * The ids are of the caller's ranges in subuid(5) and subgid(5). Which are
 * whose stands in a file of the caller's, a line a key: NAME UID GID. Lines are
 * only added: the ids of a key that is no longer used are never another's.
 */
#ifndef NSRUN_HOST_KEYS_H
#define NSRUN_HOST_KEYS_H

#include <stdbool.h>
#include <sys/types.h>

struct nsrun_err;

/* Is it a key's name? a-z 0-9 . _ -, at most 64, a letter or digit first. */
int nsrun_key_check(const char *name, struct nsrun_err *err);

/*
 * The ids of a key: 1; 0 when it has none yet, then those that it would get,
 * or with `record` gets; -1.
 */
int nsrun_key_find(const char *name, bool record, uid_t *uid, gid_t *gid,
    struct nsrun_err *err);

#endif
