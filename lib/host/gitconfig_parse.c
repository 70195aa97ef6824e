/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The syntax of git-config(1), as git's own config.c reads it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/gitconfig.h"

struct reader {
	const char	*s;
	int		line;
	char		*word;		/* as large as the text */
	char		section[256], sub[1024], key[256];
	bool		has_sub;
};

static void
skip_comment(struct reader *r)
{
	r->s += strcspn(r->s, "\n");
}

static bool
put(char *buf, size_t size, size_t *n, int c)
{
	if (*n + 1 >= size)
		return false;
	buf[(*n)++] = (char)c;
	buf[*n] = '\0';
	return true;
}

/* "sub" with its escapes, after the section's name and a blank. */
static bool
read_sub(struct reader *r)
{
	size_t n = 0;

	r->has_sub = true;
	r->sub[0] = '\0';
	for (r->s++; *r->s && *r->s != '"'; r->s++) {
		if (*r->s == '\\')
			r->s++;
		if (!*r->s || *r->s == '\n' ||
		    !put(r->sub, sizeof r->sub, &n, *r->s))
			return false;
	}
	return *r->s == '"' && *++r->s == ']';
}

/* [name], [name "sub"], or [name.sub] as it once was. */
static bool
read_section(struct reader *r)
{
	char *dot;
	size_t n = 0;

	r->has_sub = false;
	r->section[0] = '\0';
	for (r->s++; isalnum((unsigned char)*r->s) || *r->s == '-' ||
	    *r->s == '.'; r->s++)
		if (!put(r->section, sizeof r->section, &n,
		    tolower((unsigned char)*r->s)))
			return false;
	dot = strchr(r->section, '.');
	if (dot) {
		*dot = '\0';
		r->has_sub = true;
		memmove(r->sub, dot + 1, strlen(dot + 1) + 1);
	} else if (*r->s == ' ' || *r->s == '\t') {
		r->s += strspn(r->s, " \t");
		if (*r->s != '"' || !read_sub(r))
			return false;
	}
	return n > 0 && *r->s++ == ']';
}

/* What stands behind a backslash, or 0: nothing that may. */
static int
escaped(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return 0;
	}
}

/* To the end of the line, into r->word. */
static bool
read_value(struct reader *r)
{
	bool quoted = false;
	size_t n = 0, end = 0;

	for (r->s += strspn(r->s, " \t"); *r->s && *r->s != '\n'; r->s++) {
		int c = (unsigned char)*r->s;

		if (c == '\r' && r->s[1] == '\n')
			continue;
		if (!quoted && (c == '#' || c == ';')) {
			skip_comment(r);
			break;
		}
		if (c == '"') {
			quoted = !quoted;
			end = n;
			continue;
		}
		if (c == '\\') {
			c = *++r->s;
			if (c == '\r' && r->s[1] == '\n')
				c = *++r->s;
			if (c == '\n') {
				r->line++;
				continue;
			}
			c = escaped(c);
			if (!c)
				return false;
			r->word[n++] = (char)c;
			end = n;
			continue;
		}
		r->word[n++] = (char)c;
		if (quoted || !isspace(c))
			end = n;
	}
	r->word[end] = '\0';
	return !quoted;
}

/* NULL in *value: the key stands alone, which means true. */
static bool
read_key(struct reader *r, const char **value)
{
	size_t n = 0;

	*value = NULL;
	for (; isalnum((unsigned char)*r->s) || *r->s == '-'; r->s++)
		if (!put(r->key, sizeof r->key, &n,
		    tolower((unsigned char)*r->s)))
			return false;
	r->s += strspn(r->s, " \t");
	if (*r->s == '\r' && r->s[1] == '\n')
		r->s++;
	if (*r->s == '#' || *r->s == ';')
		skip_comment(r);
	if (*r->s == '\n' || !*r->s)
		return true;
	if (*r->s++ != '=' || !read_value(r))
		return false;
	*value = r->word;
	return true;
}

int
nsrun_gitconfig_parse(const char *text, void (*take)(void *to,
    const char *section, const char *sub, const char *key, const char *value),
    void *to)
{
	struct reader r = { .s = text, .line = 1 };
	const char *value;
	bool ok = true;

	r.word = malloc(strlen(text) + 1);
	if (!r.word)
		return -1;
	if (!strncmp(r.s, "\xef\xbb\xbf", 3))
		r.s += 3;
	while (ok && *r.s) {
		if (*r.s == '\n') {
			r.line++;
			r.s++;
		} else if (isspace((unsigned char)*r.s)) {
			r.s++;
		} else if (*r.s == '#' || *r.s == ';') {
			skip_comment(&r);
		} else if (*r.s == '[') {
			ok = read_section(&r);
		} else {
			ok = *r.section && isalpha((unsigned char)*r.s) &&
			    read_key(&r, &value);
			if (ok)
				take(to, r.section, r.has_sub ? r.sub : NULL,
				    r.key, value);
		}
	}
	free(r.word);
	return ok ? 0 : r.line;
}
