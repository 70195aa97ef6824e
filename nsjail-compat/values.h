/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values into fields, for both forms of a configuration: what a parser has read
 * is checked against the field and kept.
 */
#ifndef NSJAIL_VALUES_H
#define NSJAIL_VALUES_H

#include "base/err.h"
#include "settings.h"

enum {
	NSJAIL_CONFIG_MAX = 8 << 20,	/* bytes */
	NSJAIL_DEPTH_MAX = 16,		/* of messages in one another */
};

struct nsjail_reader {
	struct nsrun_arena *arena;
	const char	*name;		/* of the file, for errors */
	const char	*text;		/* NUL at the end */
	const char	*at, *end;
	char		*scratch;	/* as long as the text: for strings,
					   each where it was written */
	struct nsrun_err *err;
	bool		is_json;
};

/* A scalar as it was written. */
struct nsjail_value {
	enum nsjail_value_kind {
		NSJAIL_WORD,		/* true, ONCE */
		NSJAIL_NUMBER,		/* magnitude, negative */
		NSJAIL_TEXT,		/* quoted */
	}		kind;
	const char	*at;		/* where, for errors */
	const char	*text;		/* WORD, TEXT; n bytes and a NUL */
	size_t		n;
	uint64_t	magnitude;
	bool		negative;
};

/* "FILE:LINE:COLUMN: FIELD: rule"; -1. */
int nsjail_read_error(struct nsjail_reader *r, const char *at,
    const char *field, const char *rule);

/* Mark as given: -1 if it was, and may be only once. */
int nsjail_give(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg, const struct nsjail_field *f, const char *at);
/* Keep value in the field of the message at msg. */
int nsjail_keep(struct nsjail_reader *r, void *msg,
    const struct nsjail_field *f, const struct nsjail_value *value);
/* Room for the field's message, with its defaults; NULL: no memory. */
void *nsjail_keep_message(struct nsjail_reader *r, void *msg,
    const struct nsjail_field *f);
/* Everything that is required must have been given. */
int nsjail_check_required(struct nsjail_reader *r,
    const struct nsjail_message *message, const void *msg, const char *at);

/* Room for strings, once; -1: no memory. */
int nsjail_read_begin(struct nsjail_reader *r);
/* The whole text of r, as text format or as JSON, into msg. */
int nsjail_read_text(struct nsjail_reader *r,
    const struct nsjail_message *message, void *msg);
int nsjail_read_json(struct nsjail_reader *r,
    const struct nsjail_message *message, void *msg);

#endif
