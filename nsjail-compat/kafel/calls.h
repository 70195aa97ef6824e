/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls by name: calls.tbl, compiled in. Constant.
 */
#ifndef KAFEL_CALLS_H
#define KAFEL_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Of the longest names; calls.awk checks. */
enum {
	KAFEL_ARGS = 6,
	KAFEL_CALL_MAX = 23, KAFEL_ARG_MAX = 16, KAFEL_OTHER_MAX = 6,
};

enum kafel_arch {
	KAFEL_X86_64,
	KAFEL_AARCH64,
	KAFEL_N_ARCHES
};

/* Without a pointer: a thousand to relocate are a part of each start. */
struct kafel_arg {
	char	name[KAFEL_ARG_MAX + 1];	/* "" behind the last one */
	char	other[KAFEL_OTHER_MAX + 1];	/* a second name, or "" */
	unsigned char wide;			/* 64 bits; or the low 32 */
};

struct kafel_call {
	char		name[KAFEL_CALL_MAX + 1];
	int32_t		nr[KAFEL_N_ARCHES];	/* -1: it has no such call */
	struct kafel_arg args[KAFEL_ARGS];
};

/* Ascending by name; a call whose arguments differ has a line for each. */
extern const struct kafel_call kafel_calls[];
extern const size_t kafel_n_calls;

/* NULL: this architecture has no call of that name. */
const struct kafel_call *kafel_call_find(enum kafel_arch arch,
    const char *name);

/*
 * What the kernel calls the function that programs know by this name, as
 * "newfstat" for "fstat"; NULL if that is no such name.
 */
const char *kafel_call_hint(const char *name);

#endif
