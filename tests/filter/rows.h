/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables of this directory that people read: one row a line, words between
 * blanks, `#` begins a comment.
 */
#ifndef ROWS_H
#define ROWS_H

#include <stddef.h>
#include <stdint.h>

#define ROW_WORDS_MAX 12

enum { X86_64, AARCH64, N_ARCHES };
enum { DENIED, ISOLATED, N_VARIANTS };

extern const char *const arch_names[N_ARCHES];
extern const char *const variant_names[N_VARIANTS];
extern const uint32_t arch_tokens[N_ARCHES];	/* AUDIT_ARCH_* */

/*
 * Call row() for each row of $srcdir/tests/filter/FILE; place is "FILE:LINE".
 * Fails the test if the file is absent or has no row. Returns how many.
 */
size_t rows_read(const char *file,
    void (*row)(const char *place, char *words[ROW_WORDS_MAX], size_t n));

/* A number or constants joined by `|`. Fails the test at an unknown one. */
uint64_t rows_value(const char *place, char *words);

/* "allow", "kill", "success" or the name of an errno as SECCOMP_RET_*. */
uint32_t rows_answer(const char *place, const char *word);

#endif
