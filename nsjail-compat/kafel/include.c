/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *	#include "FILE" ["FILE"...]	and then a newline or a `;`
 *
 * A file is read where its name stands, so what follows the name is read
 * when the file has ended.
 */
#include "kafel/lex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err_print.h"
#include "base/fd.h"
#include "base/file.h"

/* *text is of the arena. Returns 0, or -1 with errno set. */
static int
read_file(struct kafel_lex *lex, const char *path, const char **text,
    size_t *len)
{
	nsrun_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *read;

	if (fd < 0)
		return -1;
	read = nsrun_file_read_fd(fd, KAFEL_TEXT_MAX, len);
	if (!read)
		return -1;
	*text = nsrun_arena_dup(lex->arena, read, *len);
	free(read);
	errno = ENOMEM;
	return *text ? 0 : -1;
}

static int
include(struct kafel_lex *lex, const struct kafel_place *place,
    const char *name)
{
	const char *path, *text;
	char words[sizeof lex->err->call];
	size_t len;

	if (lex->depth == KAFEL_INCLUDES_MAX)
		return kafel_fail(place, "included too deep", name, lex->err);
	if (lex->n_files++ == KAFEL_FILES_MAX)
		return kafel_fail(place, "too many included files", name,
		    lex->err);
	if (!lex->include_dir)
		return kafel_fail(place, "no directory to include from", name,
		    lex->err);
	path = nsrun_arena_printf(lex->arena, "%s/%s", lex->include_dir, name);
	if (!path)
		return nsrun_err_nomem(lex->err, name);
	if (read_file(lex, path, &text, &len) < 0) {
		snprintf(words, sizeof words, "cannot include (%s)",
		    nsrun_errno_text(errno));
		return kafel_fail(place, words, name, lex->err);
	}
	if (kafel_lex_push(lex, path, text, len) < 0)
		return -1;
	lex->depth++;
	return 0;
}

/* `"FILE"`, of which the first quote is next. */
static int
read_name(struct kafel_lex *lex)
{
	struct kafel_place place = lex->in->place;
	const char *start = lex->in->text + lex->in->pos + 1;
	char *name;
	size_t n = 1;
	char c;

	while ((c = kafel_lex_peek(lex, n)) && c != '"' && c != '\n')
		n++;
	if (c != '"')
		return kafel_fail(&place, "a file name that does not end",
		    NULL, lex->err);
	if (n == 1)
		return kafel_fail(&place, "an empty file name", NULL,
		    lex->err);
	name = nsrun_arena_dup(lex->arena, start, n);
	if (!name)
		return nsrun_err_nomem(lex->err, place.file);
	name[n - 1] = '\0';
	kafel_lex_skip(lex, n + 1);
	return include(lex, &place, name);
}

int
kafel_lex_include(struct kafel_lex *lex)
{
	size_t blanks = 0;
	char c;

	while ((c = kafel_lex_peek(lex, blanks)) == ' ' || c == '\t')
		blanks++;
	kafel_lex_skip(lex, blanks);
	if (c == '\n' || c == ';') {
		/* The newline is counted where all of them are. */
		if (c == ';')
			kafel_lex_skip(lex, 1);
		lex->in->including = 0;
		return 0;
	}
	if (c == '"' && blanks)
		return read_name(lex);
	return kafel_fail(&lex->in->place, c == '"' ?
	    "no blank before a file name" : c ? "expected a file name" :
	    "an #include that does not end", NULL, lex->err);
}
