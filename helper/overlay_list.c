/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay_list.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "host/profile.h"
#include "host/site.h"
#include "overlay.h"
#include "plan/print.h"
#include "textdiff.h"

static const char letters[] = {
	[NSRUN_CHANGE_ADDED] = 'A', [NSRUN_CHANGE_MODIFIED] = 'M',
	[NSRUN_CHANGE_DELETED] = 'D', [NSRUN_CHANGE_NONE] = ' ',
};

const char *const *
overlay_reserved(struct nsrun_arena *arena, struct nsrun_err *err)
{
	struct nsrun_profile profile;
	const char **v = NULL;
	size_t n = 0;

	if (nsrun_site_profile(&profile, "shell", err) < 0)
		return NULL;
	v = nsrun_arena_alloc(arena, (profile.control.n + 2) * sizeof *v);
	if (v)
		v[n++] = ".git";
	for (size_t i = 0; v && i < profile.control.n; i++) {
		const char *name = nsrun_arena_strdup(arena,
		    profile.control.v[i]);

		if (!name)
			v = NULL;
		else
			v[n++] = name;
	}
	nsrun_profile_deinit(&profile);
	if (!v)
		nsrun_err_nomem(err, "profile");
	return v;
}

/* Octal, as git has them: the type, and what permissions there are. */
static unsigned int
mode_of(const struct stat *st)
{
	return st ? (unsigned int)st->st_mode : 0;
}

static void
put_line(const struct overlay_list *list, const struct nsrun_change *change)
{
	const struct stat *is = change->entry ? &change->entry->st : NULL;

	fprintf(list->out, "%c%c %06o %06o ", letters[change->kind],
	    change->why_not ? '-' : change->conflict ? '!' : ' ',
	    mode_of(change->was), mode_of(is));
	nsrun_print_name(list->out, change->path);
	/* What is a directory says so in its name, too. */
	if (is ? S_ISDIR(is->st_mode) : S_ISDIR(change->was->st_mode))
		putc('/', list->out);
	if (change->entry && change->entry->kind == NSRUN_LAYER_LINK) {
		char text[PATH_MAX] = "";

		if (readlinkat(change->layer_fd, change->name, text,
		    sizeof text - 1) > 0) {
			fputs(" -> ", list->out);
			nsrun_print_name(list->out, text);
		}
	}
	putc('\n', list->out);
}

static void
put_json(struct nsrun_json *j, const struct nsrun_change *change)
{
	const struct stat *is = change->entry ? &change->entry->st : NULL;
	char letter[2] = { letters[change->kind], '\0' }, mode[16];

	nsrun_json_open(j, NULL, '{');
	nsrun_json_string(j, "change", letter);
	nsrun_json_string(j, "path", change->path);
	if (change->was) {
		snprintf(mode, sizeof mode, "%06o", mode_of(change->was));
		nsrun_json_string(j, "old_mode", mode);
	}
	if (is) {
		snprintf(mode, sizeof mode, "%06o", mode_of(is));
		nsrun_json_string(j, "mode", mode);
	}
	if (change->entry && change->entry->kind == NSRUN_LAYER_FILE)
		nsrun_json_number(j, "size", (uint64_t)is->st_size);
	nsrun_json_bool(j, "conflict", change->conflict);
	if (change->why_not)
		nsrun_json_string(j, "why_not", change->why_not);
	nsrun_json_close(j, '}');
}

int
overlay_list_one(void *arg, const struct nsrun_change *change)
{
	struct overlay_list *list = arg;

	list->n++;
	if (list->json)
		put_json(list->json, change);
	else
		put_line(list, change);
	if (list->text)
		textdiff_print(list->out, change);
	return ferror(list->out) ? 1 : 0;
}

int
overlay_list_tell(const struct overlay *o, FILE *out, struct nsrun_err *err)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct overlay_list list = { .out = out };
	struct nsrun_changes c = {
		.layer_fd = o->layer_fd, .project_fd = o->project_fd,
		.notes_fd = o->item.fd, .err = err,
		.tell = overlay_list_one, .arg = &list,
	};
	int rc = -1;

	c.reserved = overlay_reserved(&arena, err);
	if (c.reserved)
		rc = nsrun_changes_walk(&c) < 0 ? -1 : 0;
	nsrun_arena_deinit(&arena);
	return rc;
}
