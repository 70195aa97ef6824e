/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words of a policy text, each with its place.
 *
 * A text is lines of words between blanks; `#` begins a comment that ends
 * with its line. A byte that is neither printable ASCII, a blank nor a
 * newline is an error, so a word can be repeated in a message as it is.
 */
#ifndef NSRUN_POLICY_LEX_H
#define NSRUN_POLICY_LEX_H

#include "base/err.h"

#define NSRUN_WORD_MAX 63

struct nsrun_lex {
	const char	*file;		/* for messages */
	const char	*text;		/* borrowed; need not end in NUL */
	size_t		len;
	size_t		pos;
	unsigned int	line;		/* from 1 */
	unsigned int	col;		/* in bytes, from 1 */
};

enum nsrun_token_kind {
	NSRUN_TOKEN_WORD,
	NSRUN_TOKEN_EOL,		/* the end of a line */
	NSRUN_TOKEN_END,		/* the end of the text */
};

struct nsrun_token {
	enum nsrun_token_kind	kind;
	unsigned int		line;
	unsigned int		col;
	char			word[NSRUN_WORD_MAX + 1]; /* "" unless WORD */
};

void nsrun_lex_init(struct nsrun_lex *lex, const char *file,
    const char *text, size_t len);

/* Read the next token. Returns 0, or -1 for a bad byte or a long word. */
int nsrun_lex_next(struct nsrun_lex *lex, struct nsrun_token *token,
    struct nsrun_err *err);

/*
 * Record "file:line:col" and the rule that the text breaks there, followed
 * by ": word" unless word is NULL. Returns -1.
 */
int nsrun_lex_fail(const struct nsrun_lex *lex, unsigned int line,
    unsigned int col, const char *rule, const char *word,
    struct nsrun_err *err);

#endif
