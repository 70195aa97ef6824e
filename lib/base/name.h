/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of files, which may be any bytes, as text that people can read. */
#ifndef NSRUN_BASE_NAME_H
#define NSRUN_BASE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Length of the valid UTF-8 sequence at s (RFC 3629), or 0. */
int nsrun_utf8_length(const unsigned char *s);

/* Is the valid sequence of more than one byte at s one for no terminal? */
bool nsrun_utf8_misleads(const unsigned char *s);

/*
 * Control characters, those that mislead, backslashes and what is no valid
 * UTF-8 become "\\ooo". Cut, but not within a character, when buf is too small.
 * Returns the length; size is at least 1.
 */
size_t nsrun_name_escape(char *buf, size_t size, const char *name);

#endif
