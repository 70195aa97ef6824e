/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An arena: memory that lives as long as its owner and is released at once.
 *
 * Plans and requests keep everything in one, so that neither has an order of
 * destruction or a string with two owners. Parent only; each function returns
 * NULL when there is no memory.
 */
#ifndef NSRUN_BASE_ARENA_H
#define NSRUN_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct nsrun_arena {
	struct nsrun_chunk *chunks;	/* newest first */
};

#define NSRUN_ARENA_INIT { .chunks = NULL }

/* Zeroed, aligned for any type. */
void *nsrun_arena_alloc(struct nsrun_arena *arena, size_t size);
void *nsrun_arena_dup(struct nsrun_arena *arena, const void *p, size_t size);
char *nsrun_arena_strdup(struct nsrun_arena *arena, const char *s);
char *nsrun_arena_printf(struct nsrun_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Make room for one more of `size` bytes in an array of n: returns v, or a
 * larger copy when n is a power of two (or 0). The old one is not freed.
 */
void *nsrun_arena_grow(struct nsrun_arena *arena, void *v, size_t n,
    size_t size);

void nsrun_arena_deinit(struct nsrun_arena *arena);

#endif
