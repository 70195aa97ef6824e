/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Subordinate ids: subuid(5) and subgid(5), as newuidmap(1) reads them. */
#ifndef NSRUN_HOST_SUBID_H
#define NSRUN_HOST_SUBID_H

#include <stdbool.h>
#include <stdint.h>

struct nsrun_err;

#define NSRUN_SUBUID_FILE "/etc/subuid"
#define NSRUN_SUBGID_FILE "/etc/subgid"

struct nsrun_subids {
	uint32_t	first, count;
};

/*
 * The first range that `file` gives our effective user, by name or number.
 * -1 where there is none, which says how it is given.
 */
int nsrun_subids_read(struct nsrun_subids *ids, const char *file,
    struct nsrun_err *err);

bool nsrun_subids_have(const struct nsrun_subids *ids, uint64_t id);

#endif
