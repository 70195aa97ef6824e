/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which directories to cover. A package manager links whole trees from its
 * store; a mount for each file would be as many as there are files.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "host/scan_tree.h"

enum { FEW = 64 };

static int
by_name(const void *a, const void *b)
{
	const struct nsrun_scan_dir *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* A name of n bytes, which need not end there. */
struct wanted {
	const char	*name;
	size_t		n;
};

static int
compare_name(const void *key, const void *element)
{
	const struct wanted *w = key;
	const struct nsrun_scan_dir *const *c = element;
	int order = strncmp(w->name, (*c)->name, w->n);

	return order ? order : (*c)->name[w->n] ? -1 : 0;
}

/*
 * Many paths lead through one directory after the other, each through many of
 * its directories: those are sorted once. False: they are few, or no memory.
 */
static bool
sort_children(struct nsrun_scan *scan, const struct nsrun_scan_dir *dir)
{
	size_t n = 0;

	if (scan->sorted_of == dir)
		return true;
	for (struct nsrun_scan_dir *c = dir->child; c; c = c->sibling)
		n++;
	if (n <= FEW)
		return false;
	free(scan->sorted);
	scan->sorted_of = NULL;
	scan->sorted = malloc(n * sizeof(struct nsrun_scan_dir *));
	if (!scan->sorted)
		return false;
	scan->n_sorted = 0;
	for (struct nsrun_scan_dir *c = dir->child; c; c = c->sibling)
		scan->sorted[scan->n_sorted++] = c;
	qsort(scan->sorted, n, sizeof *scan->sorted, by_name);
	scan->sorted_of = dir;
	return true;
}

static struct nsrun_scan_dir *
find_child(struct nsrun_scan *scan, const struct nsrun_scan_dir *dir,
    const char *name, size_t n)
{
	const struct wanted wanted = { name, n };
	struct nsrun_scan_dir **found;

	if (sort_children(scan, dir)) {
		found = bsearch(&wanted, scan->sorted, scan->n_sorted,
		    sizeof *scan->sorted, compare_name);
		return found ? *found : NULL;
	}
	for (struct nsrun_scan_dir *c = dir->child; c; c = c->sibling)
		if (!strncmp(c->name, name, n) && !c->name[n])
			return c;
	return NULL;
}

void
nsrun_scan_keep(struct nsrun_scan *scan, const char *path)
{
	for (size_t i = 0; i < scan->n_roots; i++) {
		struct nsrun_scan_dir *dir = scan->trees[i];
		const char *top = scan->roots[i].path;

		if (!nsrun_path_is_within(path, top))
			continue;
		for (const char *s = path + (top[1] ? strlen(top) : 0); dir;
		    s += strcspn(s, "/")) {
			dir->keeps = true;
			s += *s == '/';
			if (!*s)
				break;
			dir = find_child(scan, dir, s, strcspn(s, "/"));
		}
	}
}

void
nsrun_scan_plan_covers(struct nsrun_scan *scan,
    const struct nsrun_scan_result *result)
{
	for (size_t i = 0; i < result->n_offenders; i++)
		if (result->v[i].kind == NSRUN_HAZARD_ALIAS)
			result->v[i].dir->n_alias++;
	/* Each was made after the directory that holds it. */
	for (struct nsrun_scan_dir *d = scan->newest; d; d = d->older) {
		if (d->round != scan->round || !d->parent)
			continue;
		d->covers = !d->keeps && !d->barred && d->n_alias &&
		    d->n_alias == d->n_regular;
		d->parent->n_alias += d->n_alias;
		d->parent->n_regular += d->n_regular;
	}
}

struct nsrun_scan_dir *
nsrun_scan_cover_of(const struct nsrun_offender *o, struct nsrun_pin *pin)
{
	struct nsrun_scan_dir *top = NULL;

	for (struct nsrun_scan_dir *d = o->dir; d && d->covers; d = d->parent)
		top = d;
	if (top)
		*pin = (struct nsrun_pin){
			.dev = top->dev, .ino = top->ino, .type = S_IFDIR,
			.fd = -1,
		};
	return top;
}

bool
nsrun_scan_cover_once(struct nsrun_scan_dir *dir)
{
	bool first = !dir->told;

	dir->told = true;
	return first;
}
