/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A JSON Lines record in memory: it reaches its reader in one write. */
#ifndef NSRUN_RUN_RECORD_H
#define NSRUN_RUN_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct nsrun_record {
	struct nsrun_json json;
	char	*text;
	size_t	size;
};

/* False: there is nothing to write to (fd is -1), or no memory. */
bool nsrun_record_begin(struct nsrun_record *r, int fd, const char *event);

/* Close it and write it. A reader that is gone or does not read loses it. */
void nsrun_record_finish(struct nsrun_record *r, int fd);

#endif
