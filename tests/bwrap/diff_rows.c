/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows file, one row a line; a line that begins with a blank goes on with
 * the one before:
 *
 *	# a comment
 *	@NAME = WORDS			a word @NAME stands for these
 *	NAME | SETTINGS | WORDS		a row: WORDS is the command line
 *
 * NAME may hold {A,B,...}: the row is repeated with each, and {1}, {2} in
 * SETTINGS and WORDS are what the first, the second braces stand for. An
 * alternative is LABEL=TEXT or a word that is both.
 *
 * Words are parted by blanks; '...' quotes. diff_run.c knows the settings.
 */
#include "diff.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRACES_MAX = 8 };

struct macro {
	char	*name;
	char	*text;
};

static struct macro *macros;
static size_t n_macros;

char *
rows_unescape(const char *text, size_t *length)
{
	char *out = strdup(text), *to = out;

	while (out && *text) {
		if (*text != '\\') {
			*to++ = *text++;
			continue;
		}
		text++;
		switch (*text++) {
		case '0': *to++ = '\0'; break;
		case 'n': *to++ = '\n'; break;
		case 't': *to++ = '\t'; break;
		case '\\': *to++ = '\\'; break;
		case 'x': {
			char hex[3] = { text[0], text[0] ? text[1] : '\0' };

			if (!isxdigit(hex[0]) || !isxdigit(hex[1]))
				diff_die("\\x without two digits");
			*to++ = (char)strtol(hex, NULL, 16);
			text += 2;
			break;
		}
		default: diff_die("unknown escape \\%c", text[-1]);
		}
	}
	if (!out)
		diff_die("no memory");
	*to = '\0';
	if (length)
		*length = (size_t)(to - out);
	return out;
}

static char *
trim(char *text)
{
	size_t n;

	while (isspace((unsigned char)*text))
		text++;
	n = strlen(text);
	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	return text;
}

static void
push(char ***words, size_t *n, char *word)
{
	*words = realloc(*words, (*n + 2) * sizeof **words);
	if (!*words || !word)
		diff_die("no memory");
	(*words)[(*n)++] = word;
	(*words)[*n] = NULL;
}

static const char *
find_macro(const char *name)
{
	for (size_t i = 0; i < n_macros; i++)
		if (!strcmp(macros[i].name, name))
			return macros[i].text;
	diff_die("no macro @%s", name);
}

static void
split(const char *text, char ***words, size_t *n)
{
	while (*text) {
		char *word, *to;
		bool quoted = false, was_quoted = false;

		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		to = word = malloc(strlen(text) + 1);
		if (!word)
			diff_die("no memory");
		for (; *text && (quoted || !isspace((unsigned char)*text));
		     text++) {
			if (*text == '\'')
				quoted = !quoted, was_quoted = true;
			else
				*to++ = *text;
		}
		*to = '\0';
		if (quoted)
			diff_die("a quote is open: %s", word);
		if (word[0] == '@' && !was_quoted) {
			split(find_macro(word + 1), words, n);
			free(word);
		} else {
			push(words, n, word);
		}
	}
}

/* One pair of braces in a name. */
struct braces {
	const char	*start, *end;	/* of the braces, end behind them */
	char		*alternative[64];
	size_t		n;
	size_t		chosen;
};

static size_t
parse_braces(const char *name, struct braces *all)
{
	size_t n = 0;

	for (const char *p = name; (p = strchr(p, '{')); p = all[n++].end) {
		const char *close = strchr(p, '}');
		struct braces *b = &all[n];
		char *text, *save;

		if (!close || n == BRACES_MAX)
			diff_die("braces of %s", name);
		memset(b, 0, sizeof *b);
		b->start = p;
		b->end = close + 1;
		text = strndup(p + 1, (size_t)(close - p - 1));
		for (char *word = strtok_r(text, ",", &save); word;
		     word = strtok_r(NULL, ",", &save)) {
			if (b->n == 64)
				diff_die("too many alternatives: %s", name);
			b->alternative[b->n++] = trim(word);
		}
		if (!b->n)
			diff_die("empty braces: %s", name);
	}
	return n;
}

/* {N} becomes the text of what the Nth braces chose. */
static char *
fill(const char *text, const struct braces *all, size_t n)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	for (; *text; text++) {
		size_t i = (size_t)(text[1] - '1');

		if (text[0] == '{' && text[1] && text[2] == '}' && i < n) {
			const char *word = all[i].alternative[all[i].chosen];
			const char *equals = strchr(word, '=');

			fputs(equals ? equals + 1 : word, f);
			text += 2;
		} else {
			putc(*text, f);
		}
	}
	fclose(f);
	return out;
}

static char *
fill_name(const char *name, const struct braces *all, size_t n)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	for (size_t i = 0; i < n; i++) {
		const char *word = all[i].alternative[all[i].chosen];

		fprintf(f, "%.*s%.*s", (int)(all[i].start - name), name,
			(int)strcspn(word, "="), word);
		name = all[i].end;
	}
	fputs(name, f);
	fclose(f);
	return out;
}

static void
add_row(struct rows *rows, char *name, const char *settings, const char *words)
{
	struct row *row;
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		if (!strcmp(rows->v[i].name, name))
			diff_die("two rows are named %s", name);
	rows->v = realloc(rows->v, (rows->n + 1) * sizeof *rows->v);
	if (!rows->v)
		diff_die("no memory");
	row = &rows->v[rows->n++];
	memset(row, 0, sizeof *row);
	row->name = name;
	row->source = diff_print("%s | %s", settings, words);
	split(settings, &row->settings, &n);
	n = 0;
	split(words, &row->argv, &n);
}

static void
expand_row(struct rows *rows, char *line)
{
	struct braces all[BRACES_MAX];
	char *settings = strchr(line, '|'), *words;
	size_t n, i;

	words = settings ? strchr(settings + 1, '|') : NULL;
	if (!words)
		diff_die("not NAME | SETTINGS | WORDS: %s", line);
	*settings++ = '\0';
	*words++ = '\0';
	line = trim(line);
	n = parse_braces(line, all);
	do {
		char *s = fill(trim(settings), all, n);
		char *w = fill(trim(words), all, n);

		add_row(rows, fill_name(line, all, n), s, w);
		free(s);
		free(w);
		/* Counting, the last braces fastest. */
		for (i = n; i > 0; i--) {
			if (++all[i - 1].chosen < all[i - 1].n)
				break;
			all[i - 1].chosen = 0;
		}
	} while (i > 0);
}

static void
take_line(struct rows *rows, char *line)
{
	char *equals;

	line = trim(line);
	if (!*line)
		return;
	if (*line != '@') {
		expand_row(rows, line);
		return;
	}
	equals = strchr(line, '=');
	macros = realloc(macros, (n_macros + 1) * sizeof *macros);
	if (!equals || !macros)
		diff_die("not @NAME = WORDS: %s", line);
	*equals = '\0';
	macros[n_macros].name = strdup(trim(line + 1));
	macros[n_macros++].text = strdup(trim(equals + 1));
}

void
rows_read(struct rows *rows, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *whole = strdup("");
	size_t size = 0;

	if (!f)
		diff_die("%s: %s", path, strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		if (line[0] == '#')
			continue;
		if (!isspace((unsigned char)line[0])) {
			take_line(rows, whole);
			free(whole);
			whole = strdup(line);
		} else {
			char *longer = diff_print("%s %s", whole, line);

			free(whole);
			whole = longer;
		}
	}
	take_line(rows, whole);
	free(whole);
	free(line);
	fclose(f);
	if (!rows->n)
		diff_die("%s: no rows", path);
}
