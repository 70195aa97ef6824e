/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two programs, one command line: what is different?
 *
 * A row is a command line and the circumstances it runs in. Each row is run
 * with both programs in a fixture of files that is made anew for each run, at
 * the same path. A run becomes lines `FIELD TEXT`: how it ended, what it
 * printed, what the probe saw inside, what the fixture looks like afterwards.
 * A line that only one of the two runs has must be accepted by an entry of the
 * list of differences.
 */
#ifndef TESTS_BWRAP_DIFF_H
#define TESTS_BWRAP_DIFF_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

_Noreturn void diff_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* As asprintf(3), and dies. */
char *diff_print(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* diff_rows.c */
struct row {
	char	*name;
	char	*source;	/* as written, braces expanded */
	char	**settings;	/* NULL-terminated, not unescaped */
	char	**argv;
};

struct rows {
	struct row	*v;
	size_t		n;
};

void rows_read(struct rows *rows, const char *path);
/* \0 \n \t \\ \xHH; the length is that of the result, which may hold NULs. */
char *rows_unescape(const char *text, size_t *length);

/* diff_fixture.c */
void fixture_make(const char *path);
void fixture_remove(const char *path);

/* Where a worker runs its rows; descriptors are close-on-exec and high. */
struct place {
	const char	*fixture;	/* $F, with $S = $F/src, $D = $F/dst */
	const char	*probe;		/* $P */
	int		userns;		/* a user namespace, and a pid */
	int		pidns;		/* namespace that belongs to it */
	int		userns_child;	/* a child of userns, for --userns2 */
};

/* diff_run.c: the lines of one run, the caller frees them. */
char *run_row(const struct row *row, const char *program,
    const struct place *place);
/*
 * Waits for all children. The caller is a subreaper: what a program left behind
 * is a child too, as soon as the process between has ended. What does not end
 * by itself is killed, and then the result is true.
 */
bool run_reap(void);
extern volatile sig_atomic_t run_stopped;

#endif
