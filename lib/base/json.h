/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing JSON (RFC 8259), one value after the other, to a stream.
 *
 * The writer puts the commas. A name is NULL inside an array and at the top.
 * A byte that is not part of valid UTF-8 becomes \udcXX, a lone surrogate, as
 * Python's surrogateescape does: any file name survives the round trip.
 */
#ifndef NSRUN_BASE_JSON_H
#define NSRUN_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct nsrun_json {
	FILE	*out;
	bool	comma;		/* something stands before the next value */
};

/* Length of the valid UTF-8 sequence at s (RFC 3629), or 0. */
int nsrun_utf8_length(const unsigned char *s);

void nsrun_json_open(struct nsrun_json *j, const char *name, char bracket);
void nsrun_json_close(struct nsrun_json *j, char bracket);
/* value NULL writes null. */
void nsrun_json_string(struct nsrun_json *j, const char *name,
    const char *value);
void nsrun_json_number(struct nsrun_json *j, const char *name, uint64_t value);
void nsrun_json_bool(struct nsrun_json *j, const char *name, bool value);

#endif
