/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/lines.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"

void
nsrun_lines_init(struct nsrun_lines *l, struct nsrun_arena *arena,
    const char *file, const char *text, struct nsrun_err *err)
{
	*l = (struct nsrun_lines){
		.arena = arena, .file = file, .next = text, .line_start = text,
		.at[0] = text, .err = err,
	};
}

int
nsrun_lines_bad(const struct nsrun_lines *l, size_t i, const char *rule)
{
	char where[256];

	snprintf(where, sizeof where, "%s:%u:%d", l->file, l->line,
	    (int)(l->at[i] - l->line_start) + 1);
	return nsrun_err_rule(l->err, NSRUN_STEP_POLICY, rule, where, NULL);
}

int
nsrun_lines_nomem(const struct nsrun_lines *l)
{
	return nsrun_err_nomem(l->err, l->file);
}

/* Split one line, up to '#', into words. */
static int
split(struct nsrun_lines *l)
{
	static const char blanks[] = " \t";
	const char *s = l->next, *end = s + strcspn(s, "\n");

	l->line++;
	l->line_start = s;
	l->n_words = 0;
	l->next = *end ? end + 1 : end;
	for (;;) {
		size_t n;

		s += strspn(s, blanks);
		if (s >= end || *s == '#')
			return 0;
		l->at[l->n_words] = s;
		if (l->n_words == NSRUN_LINE_WORDS - 1)
			return nsrun_lines_bad(l, l->n_words,
			    "is one word too many");
		n = strcspn(s, " \t\n");
		/* Zeroed by the arena, so terminated. */
		l->words[l->n_words] = nsrun_arena_alloc(l->arena, n + 1);
		if (!l->words[l->n_words])
			return nsrun_lines_nomem(l);
		memcpy(l->words[l->n_words++], s, n);
		s += n;
	}
}

int
nsrun_lines_next(struct nsrun_lines *l)
{
	if (l->line == 0 && strlen(l->next) > NSRUN_LINES_TEXT_MAX)
		return nsrun_lines_bad(l, 0, "is larger than 64K");
	while (*l->next) {
		if (split(l) < 0)
			return -1;
		if (l->n_words)
			return 1;
	}
	l->at[0] = l->line_start;
	return 0;
}
