/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The system calls by name: calls.tbl, compiled in. Constant.
 */
#ifndef KAFEL_CALLS_H
#define KAFEL_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum { KAFEL_ARGS = 6 };

enum kafel_arch {
	KAFEL_X86_64,
	KAFEL_AARCH64,
	KAFEL_N_ARCHES
};

struct kafel_arg {
	const char	*name;		/* NULL behind the last one */
	const char	*other;		/* a second name of it, or NULL */
	int		wide;		/* 64 bits; otherwise the low 32 */
};

struct kafel_call {
	const char	*name;
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
