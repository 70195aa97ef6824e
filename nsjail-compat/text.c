/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Protobuf's text format, as far as configurations use it:
 *
 *	fields	{ NAME ( ":" value | [ ":" ] ( message | list ) ) [ "," ] }
 *	message	"{" fields "}" | "<" fields ">"
 *	list	"[" [ ( value | message ) { "," ( value | message ) } ] "]"
 *	value	[ "-" ] NUMBER | WORD | STRING { STRING }
 *
 * "#" begins a comment; ";" is as good as ",". There are no floats, no
 * extensions and no Any.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int fields(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg, char close, int depth);

static int
bad(struct nsjail_reader *r, const char *rule)
{
	return nsjail_read_error(r, r->at, NULL, rule);
}

static void
skip_blanks(struct nsjail_reader *r)
{
	for (; r->at < r->end; r->at++) {
		if (*r->at == '#')
			while (r->at < r->end && *r->at != '\n')
				r->at++;
		if (r->at == r->end || !strchr(" \t\n\r\v\f", *r->at) ||
		    !*r->at)
			return;
	}
}

/* The next character that is no blank; 0: the end. */
static char
peek(struct nsjail_reader *r)
{
	skip_blanks(r);
	return r->at < r->end ? *r->at : '\0';
}

static bool
take(struct nsjail_reader *r, char c)
{
	if (peek(r) != c || !c)
		return false;
	r->at++;
	return true;
}

static bool
is_word(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	    (!first && c >= '0' && c <= '9');
}

static const char *
copy(struct nsjail_reader *r, const char *from, size_t n)
{
	char *s = nsrun_arena_alloc(r->arena, n + 1);

	if (!s) {
		nsrun_err_nomem(r->err, r->name);
		return NULL;
	}
	memcpy(s, from, n);
	return s;
}

static const char *
word(struct nsjail_reader *r)
{
	const char *start = r->at;

	while (r->at < r->end && is_word(*r->at, r->at == start))
		r->at++;
	if (r->at == start) {
		bad(r, *start ? "a name is expected" : "unexpected end");
		return NULL;
	}
	return copy(r, start, (size_t)(r->at - start));
}

static int
number(struct nsjail_reader *r, struct nsjail_value *v)
{
	const char *start = r->at;
	char *end;

	/* strtoull(3) saturates; its errno is not asked, the digits are. */
	v->magnitude = strtoull(start, &end, 0);
	if (v->magnitude == UINT64_MAX && strncmp(start,
	    "18446744073709551615", 20))
		return bad(r, "is out of range");
	if (end == start || end > r->end || is_word(*end, false) ||
	    *end == '.')
		return bad(r, "is not a whole number");
	r->at = end;
	v->kind = NSJAIL_NUMBER;
	return 0;
}

static int
hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ?
	    c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Up to `most` digits, at least `least`; -1 and a message. */
static long
digits(struct nsjail_reader *r, int base, int least, int most)
{
	long n = 0;
	int i, d;

	for (i = 0; i < most && r->at < r->end; i++, r->at++) {
		d = hex(*r->at);
		if (d < 0 || d >= base)
			break;
		n = n * base + d;
	}
	return i < least ? bad(r, "an escape lacks digits") : n;
}

static char *
put_utf8(char *out, long c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xf0 | c >> 18);
		*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* After the backslash. NULL and a message. */
static char *
escape(struct nsjail_reader *r, char *out)
{
	static const char from[] = "abfnrtv\\'\"?";
	static const char to[] = "\a\b\f\n\r\t\v\\'\"?";
	char c = r->at < r->end ? *r->at : '\0';
	const char *simple = c ? strchr(from, c) : NULL;
	long n;

	if (simple) {
		r->at++;
		*out++ = to[simple - from];
		return out;
	}
	if (c >= '0' && c <= '7') {
		n = digits(r, 8, 1, 3);
		if (n > 0xff) {
			bad(r, "an octal escape is larger than a byte");
			return NULL;
		}
		*out++ = (char)n;
		return out;
	}
	r->at += c != '\0';
	if (c == 'x' || c == 'X') {
		n = digits(r, 16, 1, 2);
		*out++ = (char)n;
		return n < 0 ? NULL : out;
	}
	if (c != 'u' && c != 'U') {
		r->at--;
		bad(r, "there is no such escape");
		return NULL;
	}
	n = c == 'u' ? digits(r, 16, 4, 4) : digits(r, 16, 8, 8);
	if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000)) {
		bad(r, "is not a character");
		return NULL;
	}
	return n < 0 ? NULL : put_utf8(out, n);
}

/* Adjacent strings are one. */
static int
string(struct nsjail_reader *r, struct nsjail_value *v)
{
	/* No escape is longer than what it says. */
	char *out = r->scratch + (r->at - r->text);
	char quote;

	v->text = out;
	while ((quote = peek(r)) == '"' || quote == '\'') {
		r->at++;
		while (r->at < r->end && *r->at != quote && *r->at != '\n') {
			if (*r->at != '\\') {
				*out++ = *r->at++;
				continue;
			}
			r->at++;
			out = escape(r, out);
			if (!out)
				return -1;
		}
		if (r->at == r->end || *r->at == '\n')
			return bad(r, "a string does not end on its line");
		r->at++;
	}
	v->n = (size_t)(out - v->text);
	*out = '\0';
	v->kind = NSJAIL_TEXT;
	return 0;
}

static int
value(struct nsjail_reader *r, struct nsjail_value *v)
{
	char c = peek(r);

	*v = (struct nsjail_value){ .at = r->at };
	if (c == '"' || c == '\'')
		return string(r, v);
	if (take(r, '-')) {
		v->negative = true;
		c = peek(r);
		if (c < '0' || c > '9')
			return bad(r, "is not a whole number");
	}
	if (c >= '0' && c <= '9')
		return number(r, v);
	v->kind = NSJAIL_WORD;
	v->text = word(r);
	return v->text ? 0 : -1;
}

/* One value or message of f. */
static int
item(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    int depth)
{
	struct nsjail_value v;
	const char *start;
	char open = peek(r);
	void *m;

	if (f->type != NSJAIL_MESSAGE)
		return value(r, &v) < 0 ? -1 : nsjail_keep(r, msg, f, &v);
	if (open != '{' && open != '<')
		return nsjail_read_error(r, r->at, f->name,
		    "a message in braces is expected");
	if (depth == NSJAIL_DEPTH_MAX)
		return bad(r, "messages are too deep in one another");
	start = r->at++;
	m = nsjail_keep_message(r, msg, f);
	if (!m || fields(r, f->message, m, open == '{' ? '}' : '>',
	    depth + 1) < 0)
		return -1;
	r->at++;
	return nsjail_check_required(r, f->message, m, start);
}

static int
list(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    int depth)
{
	if (!(f->flags & NSJAIL_REPEATED))
		return nsjail_read_error(r, r->at, f->name, "is no list");
	r->at++;
	if (take(r, ']'))
		return 0;
	do
		if (item(r, msg, f, depth) < 0)
			return -1;
	while (take(r, ','));
	return take(r, ']') ? 0 : bad(r, "\",\" or \"]\" is expected");
}

static int
field(struct nsjail_reader *r, const struct nsjail_message *message, void *msg,
    int depth)
{
	const char *start = r->at, *name = word(r);
	const struct nsjail_field *f;
	bool colon;

	if (!name)
		return -1;
	f = nsjail_field_find(message, name, false);
	if (!f)
		return nsjail_read_error(r, start, name,
		    "there is no such field");
	if (nsjail_give(r, message, msg, f, start) < 0)
		return -1;
	colon = take(r, ':');
	if (!colon && f->type != NSJAIL_MESSAGE)
		return bad(r, "\":\" is expected");
	if ((peek(r) == '[' ? list(r, msg, f, depth) :
	    item(r, msg, f, depth)) < 0)
		return -1;
	if (!take(r, ','))
		take(r, ';');
	return 0;
}

/* Up to `close`, which stays; 0: the end of the text. */
static int
fields(struct nsjail_reader *r, const struct nsjail_message *message, void *msg,
    char close, int depth)
{
	while (peek(r) != close || (!close && r->at < r->end))
		if (field(r, message, msg, depth) < 0)
			return -1;
	return 0;
}

int
nsjail_read_text(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg)
{
	return nsjail_read_begin(r) < 0 ? -1 :
	    fields(r, message, msg, '\0', 0);
}
