/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the filters are to answer, said a second time: the classes are rows
 * of seccomp-1.classes, the argument rules are plain C. Nothing of policy/
 * has a part in it.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <linux/seccomp.h>

#include "rows.h"

#define ORACLE_CALLS_MAX 512

struct oracle_call {
	char		name[32];
	int		nr[N_ARCHES];		/* -1: it has none */
	uint32_t	answer[N_VARIANTS];	/* unless by_args */
	int		by_args[N_VARIANTS];
};

extern struct oracle_call oracle_calls[ORACLE_CALLS_MAX];
extern size_t n_oracle_calls;

/* Read seccomp-1.classes, once. */
void oracle_load(void);

/* NULL if there is none. */
const struct oracle_call *oracle_find(const char *name);
const struct oracle_call *oracle_find_nr(int arch, uint32_t nr);

/* The answer of the filter for an architecture, to any call of any other. */
uint32_t oracle_seccomp(int arch, int variant, const struct seccomp_data *data);
uint32_t oracle_nesting(int arch, int variant, const struct seccomp_data *data);
/* Of nosetid-1 and nosetid-2. */
uint32_t oracle_nosetid(int arch, int version, const struct seccomp_data *data);

#endif
