/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every C test includes, in the order that cmocka demands. */
#ifndef TESTS_UNIT_TABLE_H
#define TESTS_UNIT_TABLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define N_ROWS(table) (sizeof (table) / sizeof *(table))

/* A failing row names itself. */
#define assert_row(condition, name)					\
	do {								\
		if (!(condition))					\
			fail_msg("row \"%s\": %s", (name), #condition);	\
	} while (0)

#endif
