/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/lex.h"

static unsigned int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return 99;
}

static const char *
read_digits(const char *word, size_t n, unsigned int base, uint64_t *number)
{
	uint64_t value = 0;

	if (n == 0)
		return "a number without digits";
	for (size_t i = 0; i < n; i++) {
		unsigned int d = digit(word[i]);

		if (d >= base)
			return "not a number";
		if (value > (UINT64_MAX - d) / base)
			return "a number of more than 64 bits";
		value = value * base + d;
	}
	*number = value;
	return NULL;
}

const char *
kafel_number_parse(const char *word, size_t n, uint64_t *number)
{
	const char *wrong;

	if (n > 0 && word[0] == '-') {
		wrong = read_digits(word + 1, n - 1, 10, number);
		if (!wrong && *number > (uint64_t)1 << 63)
			return "a number of more than 64 bits";
		*number = 0 - *number;
		return wrong;
	}
	if (n < 2 || word[0] != '0')
		return read_digits(word, n, 10, number);
	if (word[1] == 'x')
		return read_digits(word + 2, n - 2, 16, number);
	if (word[1] == 'b')
		return read_digits(word + 2, n - 2, 2, number);
	return read_digits(word + 1, n - 1, 8, number);
}
