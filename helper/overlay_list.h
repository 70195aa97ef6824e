/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Listing what an overlay holds. */
#ifndef HELPER_OVERLAY_LIST_H
#define HELPER_OVERLAY_LIST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "overlay/changes.h"

struct overlay;

struct overlay_list {
	FILE	*out;
	bool	text;			/* with what changed in them */
	struct nsrun_json *json;	/* NULL: lines */
	uint64_t n;
};

/* One line, or one object, of a change; a nsrun_change_fn. */
int overlay_list_one(void *list, const struct nsrun_change *change);

/* All of it to out, one line each; without conflicts. */
int overlay_list_tell(const struct overlay *o, FILE *out,
    struct nsrun_err *err);

/* Names at a project's top that are no command's; NULL at the end. */
const char *const *overlay_reserved(struct nsrun_arena *arena,
    struct nsrun_err *err);

#endif
