/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/lex.h"

#include <stdio.h>
#include <string.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static const char *const reserved[] = {
	"ALLOW", "DEFAULT", "DENY", "ERRNO", "KILL", "KILL_PROCESS",
	"KILL_THREAD", "LOG", "ON", "POLICY", "SYSCALL", "TRACE", "TRAP",
	"USE", "USER_NOTIF", "define",
};

/* The longer ones first. */
static const char *const operators[] = {
	"==", "!=", "<=", ">=", "||", "&&", "<", ">", "|", "&", "!", "(", ")",
	"[", "]", "{", "}", ",", "#",
};

int
kafel_fail(const struct kafel_place *place, const char *rule,
    const char *word, struct nsrun_err *err)
{
	char at[sizeof err->subject], words[sizeof err->call];

	/* A long path is cut before its line and column are. */
	snprintf(at, sizeof at, "%.340s:%u:%u", place->file, place->line,
	    place->col);
	snprintf(words, sizeof words, "%s%s%s", rule, word ? ": " : "",
	    word ? word : "");
	return nsrun_err_rule(err, NSRUN_STEP_POLICY, words, at, NULL);
}

int
kafel_lex_push(struct kafel_lex *lex, const char *file, const char *text,
    size_t len)
{
	struct kafel_input *in = nsrun_arena_alloc(lex->arena, sizeof *in);
	const char *nul = len ? memchr(text, 0, len) : NULL;

	if (!in)
		return nsrun_err_nomem(lex->err, file);
	*in = (struct kafel_input){
		.outer = lex->in, .text = text, .len = len,
		.place = { .file = file, .line = 1, .col = 1 },
	};
	if (len > KAFEL_TEXT_MAX - lex->n_bytes)
		return kafel_fail(&in->place, "more than 1 MiB in all", NULL,
		    lex->err);
	lex->n_bytes += len;
	for (; nul && text < nul; text++) {
		in->place.line += *text == '\n';
		in->place.col = *text == '\n' ? 1 : in->place.col + 1;
	}
	if (nul)
		return kafel_fail(&in->place, "a NUL byte", NULL, lex->err);
	lex->in = in;
	return 0;
}

char
kafel_lex_peek(const struct kafel_lex *lex, size_t i)
{
	const struct kafel_input *in = lex->in;

	return i < in->len - in->pos ? in->text[in->pos + i] : '\0';
}

void
kafel_lex_skip(struct kafel_lex *lex, size_t n)
{
	lex->in->pos += n;
	lex->in->place.col += (unsigned int)n;
}

static void
skip_newline(struct kafel_lex *lex)
{
	lex->in->pos++;
	lex->in->place.line++;
	lex->in->place.col = 1;
}

/*
 * Kafel takes the byte behind a star with it unless that is a slash: a
 * comment with a pair of stars before its slash does not end there.
 */
static int
skip_comment(struct kafel_lex *lex)
{
	struct kafel_place start = lex->in->place;
	char c;

	kafel_lex_skip(lex, 2);
	while ((c = kafel_lex_peek(lex, 0))) {
		if (c == '*' && kafel_lex_peek(lex, 1) == '/') {
			kafel_lex_skip(lex, 2);
			return 0;
		}
		if (c == '*' && kafel_lex_peek(lex, 1) == '*') {
			if (kafel_lex_peek(lex, 2) == '/')
				return kafel_fail(&lex->in->place,
				    "Kafel does not end a comment here",
				    "**/", lex->err);
			kafel_lex_skip(lex, 1);
		}
		if (c == '\n')
			skip_newline(lex);
		else
			kafel_lex_skip(lex, 1);
	}
	return kafel_fail(&start, "a comment that does not end", NULL,
	    lex->err);
}

/* Up to the next word: one text may end, and others be included. */
static int
skip_space(struct kafel_lex *lex)
{
	for (;;) {
		char c = kafel_lex_peek(lex, 0);
		char next = kafel_lex_peek(lex, c ? 1 : 0);

		if (lex->in->including) {
			if (kafel_lex_include(lex) < 0)
				return -1;
		} else if (c == ' ' || c == '\t') {
			kafel_lex_skip(lex, 1);
		} else if (c == '\n') {
			skip_newline(lex);
		} else if (c == '/' && next == '*') {
			if (skip_comment(lex) < 0)
				return -1;
		} else if (c == '/' && next == '/') {
			while ((c = kafel_lex_peek(lex, 0)) && c != '\n')
				kafel_lex_skip(lex, 1);
		} else if (c == '#' && lex->in->len - lex->in->pos >= 8 &&
		    !memcmp(lex->in->text + lex->in->pos, "#include", 8)) {
			kafel_lex_skip(lex, 8);
			lex->in->including = 1;
		} else if (!c && lex->in->outer) {
			lex->in = lex->in->outer;
			lex->depth--;
		} else {
			return 0;
		}
	}
}

/* How many bytes from here on are of a set. */
static size_t
span(const struct kafel_lex *lex, const char *set)
{
	size_t n = 0;
	char c;

	while ((c = kafel_lex_peek(lex, n)) && strchr(set, c))
		n++;
	return n;
}

static int
take(struct kafel_lex *lex, struct kafel_token *token, size_t n)
{
	const char *text = lex->in->text + lex->in->pos;
	char *word = nsrun_arena_alloc(lex->arena, n + 1);

	if (!word)
		return nsrun_err_nomem(lex->err, token->place.file);
	memcpy(word, text, n);
	token->word = word;
	kafel_lex_skip(lex, n);
	return 0;
}

static int
take_number(struct kafel_lex *lex, struct kafel_token *token, size_t sign)
{
	const char *wrong;
	size_t n = sign;
	char c;

	while ((c = kafel_lex_peek(lex, n)) && strchr(DIGITS LETTERS "_", c))
		n++;
	token->kind = KAFEL_TOKEN_NUMBER;
	if (take(lex, token, n) < 0)
		return -1;
	wrong = kafel_number_parse(token->word, n, &token->number);
	return wrong ? kafel_fail(&token->place, wrong, token->word,
	    lex->err) : 0;
}

static int
take_name(struct kafel_lex *lex, struct kafel_token *token)
{
	token->kind = KAFEL_TOKEN_NAME;
	if (take(lex, token, span(lex, DIGITS LETTERS "_")) < 0)
		return -1;
	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
		if (!strcmp(token->word, reserved[i]))
			token->kind = KAFEL_TOKEN_WORD;
	return 0;
}

static int
take_operator(struct kafel_lex *lex, struct kafel_token *token)
{
	char c = kafel_lex_peek(lex, 0), byte[2] = { c, '\0' };

	token->kind = KAFEL_TOKEN_WORD;
	for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
		const char *o = operators[i];

		if (c == o[0] && (!o[1] || kafel_lex_peek(lex, 1) == o[1]))
			return take(lex, token, strlen(o));
	}
	if (c < ' ' || c > '~')
		return kafel_fail(&token->place,
		    "a byte that is not printable ASCII", NULL, lex->err);
	return kafel_fail(&token->place, "unexpected", byte, lex->err);
}

int
kafel_lex_next(struct kafel_lex *lex, struct kafel_token *token)
{
	char c;

	if (skip_space(lex) < 0)
		return -1;
	*token = (struct kafel_token){
		.kind = KAFEL_TOKEN_END, .place = lex->in->place, .word = "",
	};
	c = kafel_lex_peek(lex, 0);
	if (!c)
		return 0;
	if (strchr(LETTERS, c))
		return take_name(lex, token);
	if (strchr(DIGITS, c))
		return take_number(lex, token, 0);
	/* "-0" is none for Kafel either. */
	if (c == '-' && kafel_lex_peek(lex, 1) >= '1' &&
	    kafel_lex_peek(lex, 1) <= '9')
		return take_number(lex, token, 1);
	return take_operator(lex, token);
}
