/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON form: an object a message, with protobuf's habits. A name may be
 * mount_proc or mountProc, a number may be quoted, bytes are base64, null is
 * as if it were not there. Otherwise RFC 8259, nothing more.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"

static int object(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg, int depth);

static int
bad(struct nsjail_reader *r, const char *rule)
{
	return nsjail_read_error(r, r->at, NULL, rule);
}

static char
peek(struct nsjail_reader *r)
{
	while (r->at < r->end && *r->at && strchr(" \t\n\r", *r->at))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

static bool
take(struct nsjail_reader *r, char c)
{
	if (peek(r) != c || r->at == r->end)
		return false;
	r->at++;
	return true;
}

static bool
take_word(struct nsjail_reader *r, const char *word)
{
	size_t n = strlen(word);

	peek(r);
	if ((size_t)(r->end - r->at) < n || strncmp(r->at, word, n))
		return false;
	r->at += n;
	return true;
}

static long
four_digits(struct nsjail_reader *r)
{
	static const char all[] = "0123456789abcdef0123456789ABCDEF";
	long n = 0;

	for (int i = 0; i < 4; i++) {
		const char *d = r->at < r->end && *r->at ?
		    strchr(all, *r->at) : NULL;

		if (!d)
			return bad(r, "an escape lacks digits");
		n = n * 16 + (d - all) % 16;
		r->at++;
	}
	return n;
}

static char *
put_utf8(char *out, long c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*out++ = (char)(0xe0 | c >> 12);
		} else {
			*out++ = (char)(0xf0 | c >> 18);
			*out++ = (char)(0x80 | (c >> 12 & 0x3f));
		}
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
	}
	*out++ = (char)(0x80 | (c & 0x3f));
	return out;
}

/* After the backslash; half a pair of surrogates is no character. */
static char *
escape(struct nsjail_reader *r, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = r->at < r->end ? *r->at : '\0';
	const char *simple = c ? strchr(from, c) : NULL;
	long n, low;

	if (c != 'u' && !simple) {
		bad(r, "there is no such escape");
		return NULL;
	}
	r->at++;
	if (simple) {
		*out++ = to[simple - from];
		return out;
	}
	n = four_digits(r);
	if (n >= 0xd800 && n < 0xdc00 && take_word(r, "\\u")) {
		low = four_digits(r);
		n = low >= 0xdc00 && low < 0xe000 ?
		    0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00) : 0xd800;
	}
	if (n >= 0xd800 && n < 0xe000)
		n = bad(r, "is not a character");
	return n < 0 ? NULL : put_utf8(out, n);
}

static int
string(struct nsjail_reader *r, struct nsjail_value *v)
{
	char *out;

	*v = (struct nsjail_value){ .kind = NSJAIL_TEXT, .at = r->at };
	if (!take(r, '"'))
		return bad(r, "a quoted string is expected");
	/* No escape is longer than what it says. */
	v->text = out = r->scratch + (r->at - r->text);
	while (r->at < r->end && *r->at != '"') {
		if ((unsigned char)*r->at < ' ')
			return bad(r, "a control character in a string");
		if (*r->at != '\\') {
			*out++ = *r->at++;
			continue;
		}
		r->at++;
		out = escape(r, out);
		if (!out)
			return -1;
	}
	if (!take(r, '"'))
		return bad(r, "a string does not end");
	v->n = (size_t)(out - v->text);
	*out = '\0';
	return 0;
}

/* -?digits, and nothing of a fraction but zeroes. */
static int
number(struct nsjail_reader *r, const char *s, const char *end,
    struct nsjail_value *v)
{
	v->kind = NSJAIL_NUMBER;
	v->negative = s < end && *s == '-';
	s += v->negative;
	if (s == end || *s < '0' || *s > '9' ||
	    (*s == '0' && s + 1 < end && s[1] >= '0' && s[1] <= '9'))
		return bad(r, "is not a number");
	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (v->magnitude > (UINT64_MAX - digit) / 10)
			return bad(r, "is out of range");
		v->magnitude = v->magnitude * 10 + digit;
	}
	if (s + 1 < end && *s == '.' && s[1] == '0')
		for (s++; s < end && *s == '0'; s++)
			continue;
	return s == end ? 0 : bad(r, "is not a whole number");
}

/* RFC 4648, either alphabet, padded or not. */
static int
base64(struct nsjail_reader *r, struct nsjail_value *v)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";
	char *out = nsrun_arena_alloc(r->arena, v->n + 1);
	uint32_t bits = 0;
	size_t n = 0, k = v->n;

	if (!out)
		return nsrun_err_nomem(r->err, r->name);
	while (k > 0 && v->text[k - 1] == '=' && v->n - k < 2)
		k--;
	if (k % 4 == 1 || (k != v->n && v->n % 4))
		return bad(r, "is not base64");
	for (size_t i = 0; i < k; i++) {
		char c = v->text[i] == '-' ? '+' : v->text[i] == '_' ? '/' :
		    v->text[i];
		const char *at = c ? strchr(all, c) : NULL;

		if (!at)
			return bad(r, "is not base64");
		bits = bits << 6 | (uint32_t)(at - all);
		if (i % 4)
			out[n++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
	}
	v->text = out;
	v->n = n;
	return 0;
}

static bool
is_number(enum nsjail_type type)
{
	return type == NSJAIL_U32 || type == NSJAIL_U64 ||
	    type == NSJAIL_I32 || type == NSJAIL_I64;
}

static int
scalar(struct nsjail_reader *r, const struct nsjail_field *f,
    struct nsjail_value *v)
{
	const char *start;

	if (peek(r) == '"') {
		if (string(r, v) < 0)
			return -1;
		if (f->type == NSJAIL_BYTES)
			return base64(r, v);
		return is_number(f->type) ?
		    number(r, v->text, v->text + v->n, v) : 0;
	}
	*v = (struct nsjail_value){ .kind = NSJAIL_WORD, .at = r->at };
	if (take_word(r, "true"))
		v->text = "true";
	else if (take_word(r, "false"))
		v->text = "false";
	if (v->text)
		return 0;
	start = r->at;
	while (r->at < r->end && *r->at && strchr("-+.0123456789eE", *r->at))
		r->at++;
	return number(r, start, r->at, v);
}

static int
item(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    int depth)
{
	struct nsjail_value v;
	const char *start;
	void *m;

	if (f->type != NSJAIL_MESSAGE)
		return scalar(r, f, &v) < 0 ? -1 : nsjail_keep(r, msg, f, &v);
	if (depth == NSJAIL_DEPTH_MAX)
		return bad(r, "objects are too deep in one another");
	peek(r);
	start = r->at;
	m = nsjail_keep_message(r, msg, f);
	if (!m || object(r, f->message, m, depth + 1) < 0)
		return -1;
	return nsjail_check_required(r, f->message, m, start);
}

static int
list(struct nsjail_reader *r, void *msg, const struct nsjail_field *f,
    int depth)
{
	if (!take(r, '['))
		return nsjail_read_error(r, r->at, f->name,
		    "a list is expected");
	if (take(r, ']'))
		return 0;
	do
		if (item(r, msg, f, depth) < 0)
			return -1;
	while (take(r, ','));
	return take(r, ']') ? 0 : bad(r, "\",\" or \"]\" is expected");
}

static int
member(struct nsjail_reader *r, const struct nsjail_message *message, void *msg,
    int depth)
{
	const struct nsjail_field *f;
	struct nsjail_value name;

	peek(r);
	if (string(r, &name) < 0)
		return -1;
	f = strlen(name.text) == name.n ?
	    nsjail_field_find(message, name.text, true) : NULL;
	if (!f)
		return nsjail_read_error(r, name.at, name.text,
		    "there is no such field");
	if (!take(r, ':'))
		return bad(r, "\":\" is expected");
	if (take_word(r, "null"))
		return 0;
	if (nsjail_give(r, message, msg, f, name.at) < 0)
		return -1;
	return f->flags & NSJAIL_REPEATED ? list(r, msg, f, depth) :
	    item(r, msg, f, depth);
}

static int
object(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg, int depth)
{
	if (!take(r, '{'))
		return bad(r, "an object in braces is expected");
	if (take(r, '}'))
		return 0;
	do
		if (member(r, message, msg, depth) < 0)
			return -1;
	while (take(r, ','));
	return take(r, '}') ? 0 : bad(r, "\",\" or \"}\" is expected");
}

int
nsjail_read_json(struct nsjail_reader *r, const struct nsjail_message *message,
    void *msg)
{
	r->is_json = true;
	if (nsjail_read_begin(r) < 0 || object(r, message, msg, 0) < 0)
		return -1;
	peek(r);
	return r->at == r->end ? 0 : bad(r, "something follows the object");
}
