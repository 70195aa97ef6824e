/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Line oriented texts, as of profiles and the configuration: a keyword and its
 * words, separated by blanks; a word that begins with `#` begins a comment.
 */
#ifndef NSRUN_HOST_LINES_H
#define NSRUN_HOST_LINES_H

#include "base/arena.h"

struct nsrun_err;

enum { NSRUN_LINE_WORDS = 32, NSRUN_LINES_TEXT_MAX = 65536 };

struct nsrun_lines {
	struct nsrun_arena	*arena;		/* of the words */
	const char		*file;		/* for messages */
	const char		*next;		/* what is not read yet */
	unsigned int		line;
	const char		*line_start;
	const char		*at[NSRUN_LINE_WORDS];	/* where each began */
	char			*words[NSRUN_LINE_WORDS];
	size_t			n_words;
	struct nsrun_err	*err;
};

void nsrun_lines_init(struct nsrun_lines *lines, struct nsrun_arena *arena,
    const char *file, const char *text, struct nsrun_err *err);

/* Read the next line that has words: 1, or 0 at the end, or -1. */
int nsrun_lines_next(struct nsrun_lines *lines);

/* Word i of the line breaks `rule`; records "file:line:column". -1. */
int nsrun_lines_bad(const struct nsrun_lines *lines, size_t i,
    const char *rule);
int nsrun_lines_nomem(const struct nsrun_lines *lines);

#endif
