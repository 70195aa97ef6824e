/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/name.h"

#include <stdio.h>
#include <string.h>

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

/*
 * Of C1 (U+0080 to U+009F), or what ends a line (U+2028, U+2029) or turns text
 * round (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), so that
 * it looks like another (CVE-2021-42574).
 */
bool
nsrun_utf8_misleads(const unsigned char *s)
{
	if (s[0] == 0xc2)
		return s[1] < 0xa0;
	if (s[0] == 0xd8)
		return s[1] == 0x9c;
	if (s[0] != 0xe2)
		return false;
	return s[1] == 0x80 ? s[2] == 0x8e || s[2] == 0x8f ||
	    (s[2] >= 0xa8 && s[2] <= 0xae) :
	    s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

/* Neither a control character nor one that misleads, nor a "\\". */
static int
plain_length(const unsigned char *s)
{
	int n = nsrun_utf8_length(s);

	if (n == 1)
		return *s >= ' ' && *s != 0x7f && *s != '\\';
	return n > 1 && nsrun_utf8_misleads(s) ? 0 : n;
}

size_t
nsrun_name_escape(char *buf, size_t size, const char *name)
{
	size_t n = 0;

	for (const unsigned char *s = (const unsigned char *)name; *s; ) {
		int length = plain_length(s);

		if (n + 4 >= size)
			break;
		if (length == 0) {
			n += (size_t)snprintf(buf + n, size - n, "\\%03o",
			    *s++);
			continue;
		}
		memcpy(buf + n, s, (size_t)length);
		n += (size_t)length;
		s += length;
	}
	buf[n] = '\0';
	return n;
}
