/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/json.h"

#include <inttypes.h>

int
nsrun_utf8_length(const unsigned char *s)
{
	int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] <= 0xdf ? 2 :
	    (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, and what lies above U+10FFFF. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static void
put_string(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		int n = nsrun_utf8_length(s);

		if (n == 0)
			fprintf(out, "\\udc%02x", *s++);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s++);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(out, "\\u%04x", *s++);
		else
			for (; n > 0; n--)
				putc(*s++, out);
	}
	putc('"', out);
}

static void
put_name(struct nsrun_json *j, const char *name)
{
	if (j->comma)
		fputs(", ", j->out);
	j->comma = true;
	if (name) {
		put_string(j->out, name);
		fputs(": ", j->out);
	}
}

void
nsrun_json_open(struct nsrun_json *j, const char *name, char bracket)
{
	put_name(j, name);
	putc(bracket, j->out);
	j->comma = false;
}

void
nsrun_json_close(struct nsrun_json *j, char bracket)
{
	putc(bracket, j->out);
	j->comma = true;
}

void
nsrun_json_string(struct nsrun_json *j, const char *name, const char *value)
{
	put_name(j, name);
	if (value)
		put_string(j->out, value);
	else
		fputs("null", j->out);
}

void
nsrun_json_number(struct nsrun_json *j, const char *name, uint64_t value)
{
	put_name(j, name);
	fprintf(j->out, "%" PRIu64, value);
}

void
nsrun_json_bool(struct nsrun_json *j, const char *name, bool value)
{
	put_name(j, name);
	fputs(value ? "true" : "false", j->out);
}
