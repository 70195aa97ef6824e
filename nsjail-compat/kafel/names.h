/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a policy gives a name to: constants, and policies. */
#ifndef KAFEL_NAMES_H
#define KAFEL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct kafel_named {
	const char		*name;
	uint64_t		value;		/* of a constant */
	struct kafel_policy	*policy;
};

/* Ascending by name; of the arena. */
struct kafel_names {
	struct kafel_named	*v;
	size_t			n;
};

/* NULL if there is none of that name. */
const struct kafel_named *kafel_name_find(const struct kafel_names *names,
    const char *name);

/* A name that is not there. Returns 0, or -1 when there is no memory. */
int kafel_name_add(struct nsrun_arena *arena, struct kafel_names *names,
    const struct kafel_named *named);

#endif
