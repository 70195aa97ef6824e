/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/gitindex.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	HEADER		= 12,
	STAT		= 40,		/* before the hash */
	MODE_AT		= 24,
	EXTENDED	= 0x4000,
	GITLINK		= 0160000,
	MAX_NAME	= 4096,
};

struct reader {
	const unsigned char	*at, *end;
	uint32_t		version;
	size_t			hash_size;
	char			name[MAX_NAME];
	size_t			n_name;
	uint32_t		mode;
};

static uint32_t
number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

/* How much of the last name version 4 takes off: as offsets in a pack. */
static bool
read_offset(struct reader *r, size_t *value)
{
	*value = 0;
	for (int i = 0; i < 4 && r->at < r->end; i++) {
		unsigned char c = *r->at++;

		*value = (*value << 7 | (c & 127)) + (c & 128 ? 1 : 0);
		if (!(c & 128))
			return true;
	}
	return false;
}

/*
 * In a split index what replaces an entry of the shared one has no name. That
 * is no matter for what is no link; a link whose name is not told is refused.
 */
static bool
read_name(struct reader *r, const unsigned char *start)
{
	size_t n, keep = 0;
	const unsigned char *nul;

	if (r->version == 4) {
		if (!read_offset(r, &n) || n > r->n_name)
			return false;
		keep = r->n_name - n;
	}
	nul = memchr(r->at, '\0', (size_t)(r->end - r->at));
	n = nul ? (size_t)(nul - r->at) : 0;
	if (!nul || (keep + n == 0 && r->mode == GITLINK) ||
	    keep + n >= sizeof r->name)
		return false;
	memcpy(r->name + keep, r->at, n + 1);
	r->n_name = keep + n;
	r->at = nul + 1;
	if (r->version < 4)
		r->at = start + (((size_t)(nul - start) + 8) & ~(size_t)7);
	return r->at <= r->end;
}

static bool
read_entry(struct reader *r)
{
	const unsigned char *start = r->at;
	size_t fixed = STAT + r->hash_size + 2;

	if ((size_t)(r->end - r->at) < fixed + 2)
		return false;
	r->mode = number(start + MODE_AT);
	if ((start[fixed - 2] << 8) & EXTENDED)
		fixed += 2;
	r->at = start + fixed;
	if (r->at >= r->end)
		return false;
	return read_name(r, start);
}

/* All of it: first to see that it is one, then to take what it names. */
static int
walk(struct reader *r, uint32_t n, int (*take)(void *to, const char *path),
    void *to)
{
	while (n-- > 0) {
		if (!read_entry(r))
			return 1;
		if (take && r->mode == GITLINK && take(to, r->name) < 0)
			return -1;
	}
	return 0;
}

int
nsrun_gitindex_links(const void *data, size_t size, size_t hash_size,
    int (*take)(void *to, const char *path), void *to)
{
	const unsigned char *p = data;
	struct reader r = { .hash_size = hash_size };
	int rc;

	if (size < HEADER + hash_size || memcmp(p, "DIRC", 4))
		return 1;
	r.version = number(p + 4);
	if (r.version < 2 || r.version > 4)
		return 1;
	/* The hash of it all is at the end. */
	r.end = p + size - hash_size;
	r.at = p + HEADER;
	rc = walk(&r, number(p + 8), NULL, NULL);
	if (rc != 0)
		return rc;
	r.at = p + HEADER;
	r.n_name = 0;
	return walk(&r, number(p + 8), take, to);
}
