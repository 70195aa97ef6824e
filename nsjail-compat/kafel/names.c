/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/names.h"

#include <string.h>

/* Where it stands, or would stand. */
static size_t
find(const struct kafel_names *names, const char *name)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(names->v[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct kafel_named *
kafel_name_find(const struct kafel_names *names, const char *name)
{
	size_t i = find(names, name);

	return i < names->n && !strcmp(names->v[i].name, name) ?
	    &names->v[i] : NULL;
}

int
kafel_name_add(struct nsrun_arena *arena, struct kafel_names *names,
    const struct kafel_named *named)
{
	size_t i = find(names, named->name);

	names->v = nsrun_arena_grow(arena, names->v, names->n,
	    sizeof *names->v);
	if (!names->v)
		return -1;
	memmove(&names->v[i + 1], &names->v[i],
	    (names->n - i) * sizeof *names->v);
	names->v[i] = *named;
	names->n++;
	return 0;
}
