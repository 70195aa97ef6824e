/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers as people write them. Strict: a digit first, no sign, no blanks, no
 * trailing characters, no overflow. Each returns 0, or -1 when the text is
 * not such a number; the caller knows what to call it.
 */
#ifndef NSRUN_BASE_NUMBER_H
#define NSRUN_BASE_NUMBER_H

#include <stdint.h>

/* Decimal, at most max. */
int nsrun_number_parse(const char *text, uint64_t max, uint64_t *value);

/* Bytes: decimal and K, M, G or T (powers of 1024), or none for bytes. */
int nsrun_size_parse(const char *text, uint64_t *size_bytes);

/* Milliseconds: decimal, with one fraction, and ms, s, m or h; none is s. */
int nsrun_duration_parse(const char *text, uint64_t *duration_ms);

/* "16M" for 16777216: the largest unit that divides it. buf of 24 bytes. */
const char *nsrun_size_text(uint64_t size_bytes, char buf[24]);

/* "300s", "1500ms". */
const char *nsrun_duration_text(uint64_t duration_ms, char buf[24]);

#endif
