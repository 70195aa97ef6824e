/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/lex.h"

#include <stdio.h>
#include <string.h>

void
nsrun_lex_init(struct nsrun_lex *lex, const char *file, const char *text,
    size_t len)
{
	*lex = (struct nsrun_lex){
		.file = file, .text = text, .len = len, .line = 1, .col = 1,
	};
}

int
nsrun_lex_fail(const struct nsrun_lex *lex, unsigned int line,
    unsigned int col, const char *rule, const char *word,
    struct nsrun_err *err)
{
	char place[sizeof err->subject], words[sizeof err->call];

	/* A long path is cut before its line and column are. */
	snprintf(place, sizeof place, "%.340s:%u:%u", lex->file, line, col);
	snprintf(words, sizeof words, "%s%s%s", rule, word ? ": " : "",
	    word ? word : "");
	return nsrun_err_rule(err, NSRUN_STEP_POLICY, words, place, NULL);
}

static char
peek(const struct nsrun_lex *lex)
{
	/* The end of the text also ends a comment, a word and a line. */
	return lex->pos < lex->len ? lex->text[lex->pos] : '\n';
}

static void
skip(struct nsrun_lex *lex)
{
	lex->pos++;
	lex->col++;
}

static int
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static int
check_byte(const struct nsrun_lex *lex, struct nsrun_err *err)
{
	char c = peek(lex);

	if (is_blank(c) || c == '\n' || (c > ' ' && c <= '~'))
		return 0;
	return nsrun_lex_fail(lex, lex->line, lex->col,
	    "a byte that is not printable ASCII", NULL, err);
}

static int
skip_blanks(struct nsrun_lex *lex, struct nsrun_err *err)
{
	int comment = 0;

	for (;; skip(lex)) {
		char c = peek(lex);

		if (check_byte(lex, err) < 0)
			return -1;
		comment |= c == '#';
		if (c == '\n' || !(comment || is_blank(c)))
			return 0;
	}
}

static int
read_word(struct nsrun_lex *lex, struct nsrun_token *token,
    struct nsrun_err *err)
{
	size_t n = 0;

	for (char c; !is_blank(c = peek(lex)) && c != '\n' && c != '#';) {
		if (check_byte(lex, err) < 0)
			return -1;
		if (n == NSRUN_WORD_MAX)
			return nsrun_lex_fail(lex, token->line, token->col,
			    "a word of more than 63 bytes", NULL, err);
		token->word[n++] = c;
		skip(lex);
	}
	token->word[n] = '\0';
	return 0;
}

int
nsrun_lex_next(struct nsrun_lex *lex, struct nsrun_token *token,
    struct nsrun_err *err)
{
	if (skip_blanks(lex, err) < 0)
		return -1;
	*token = (struct nsrun_token){
		.kind = NSRUN_TOKEN_WORD, .line = lex->line, .col = lex->col,
	};
	if (lex->pos >= lex->len) {
		token->kind = NSRUN_TOKEN_END;
		return 0;
	}
	if (peek(lex) != '\n')
		return read_word(lex, token, err);
	token->kind = NSRUN_TOKEN_EOL;
	lex->pos++;
	lex->line++;
	lex->col = 1;
	return 0;
}
