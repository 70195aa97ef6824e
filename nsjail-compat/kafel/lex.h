/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words of a policy, each with its place, across all that is included.
 *
 * Names, numbers and words are copied into the arena, and end in NUL; the
 * texts are borrowed or stand there too.
 */
#ifndef KAFEL_LEX_H
#define KAFEL_LEX_H

#include "kafel.h"

struct kafel_place {
	const char	*file;
	unsigned int	line;		/* from 1 */
	unsigned int	col;		/* in bytes, from 1 */
};

enum kafel_token_kind {
	KAFEL_TOKEN_END,		/* of the outermost text */
	KAFEL_TOKEN_NAME,
	KAFEL_TOKEN_NUMBER,
	KAFEL_TOKEN_WORD,		/* reserved, or an operator */
};

struct kafel_token {
	enum kafel_token_kind	kind;
	struct kafel_place	place;
	const char		*word;	/* as it was written; "" at the end */
	uint64_t		number;
};

struct kafel_lex {
	struct nsrun_arena	*arena;
	struct kafel_input	*in;		/* what is being read */
	const char		*include_dir;	/* or NULL */
	unsigned int		depth;		/* of includes */
	unsigned int		n_files;
	size_t			n_bytes;
	struct nsrun_err	*err;
};

/* A text that is being read, and where the next byte stands. */
struct kafel_input {
	struct kafel_input	*outer;		/* it includes this one */
	const char		*text;
	size_t			len;
	size_t			pos;
	struct kafel_place	place;
	int			including;	/* inside an #include */
};

/* Record the place and the rule broken there, and ": word" unless NULL. */
int kafel_fail(const struct kafel_place *place, const char *rule,
    const char *word, struct nsrun_err *err);

/* Begin to read a text; what was read goes on when it ends. */
int kafel_lex_push(struct kafel_lex *lex, const char *file,
    const char *text, size_t len);

int kafel_lex_next(struct kafel_lex *lex, struct kafel_token *token);

/* The files of an #include, up to its end or the first of them. */
int kafel_lex_include(struct kafel_lex *lex);

/* Byte i from here, NUL behind the end; and n bytes of one line are read. */
char kafel_lex_peek(const struct kafel_lex *lex, size_t i);
void kafel_lex_skip(struct kafel_lex *lex, size_t n);

/*
 * A number of n bytes: 0x, 0b, octal, or decimal with a sign. NULL, or what
 * is wrong with it in words.
 */
const char *kafel_number_parse(const char *word, size_t n, uint64_t *number);

#endif
