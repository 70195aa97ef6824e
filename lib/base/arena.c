/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So large that it is mapped: what is not used is never there. */
enum { CHUNK_SIZE = 256 * 1024 };

struct nsrun_chunk {
	struct nsrun_chunk *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

static struct nsrun_chunk *
chunk_add(struct nsrun_arena *arena, size_t size)
{
	size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
	struct nsrun_chunk *c = calloc(1, sizeof *c + room);

	if (!c)
		return NULL;
	c->next = arena->chunks;
	c->used = 0;
	c->size = room;
	return arena->chunks = c;
}

void *
nsrun_arena_alloc(struct nsrun_arena *arena, size_t size)
{
	struct nsrun_chunk *c = arena->chunks;
	const size_t align = alignof(max_align_t);
	void *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!c || c->size - c->used < size)
		c = chunk_add(arena, size);
	if (!c)
		return NULL;
	p = c->bytes + c->used;
	c->used += size;
	return p;
}

void *
nsrun_arena_dup(struct nsrun_arena *arena, const void *p, size_t size)
{
	void *copy = nsrun_arena_alloc(arena, size ? size : 1);

	return copy && size ? memcpy(copy, p, size) : copy;
}

char *
nsrun_arena_strdup(struct nsrun_arena *arena, const char *s)
{
	return nsrun_arena_dup(arena, s, strlen(s) + 1);
}

char *
nsrun_arena_printf(struct nsrun_arena *arena, const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0 || !(s = nsrun_arena_alloc(arena, (size_t)n + 1)))
		return NULL;
	va_start(ap, format);
	vsnprintf(s, (size_t)n + 1, format, ap);
	va_end(ap);
	return s;
}

void *
nsrun_arena_grow(struct nsrun_arena *arena, void *v, size_t n, size_t size)
{
	void *larger;

	if (n & (n - 1) || (n == 0 && v))
		return v;
	if (n > SIZE_MAX / 4 / size)
		return NULL;
	larger = nsrun_arena_alloc(arena, (n ? n * 2 : 1) * size);
	if (larger && n)
		memcpy(larger, v, n * size);
	return larger;
}

void
nsrun_arena_deinit(struct nsrun_arena *arena)
{
	struct nsrun_chunk *next;

	for (struct nsrun_chunk *c = arena->chunks; c; c = next) {
		next = c->next;
		free(c);
	}
	arena->chunks = NULL;
}
