/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which directories to cover. A package manager links whole trees from its
 * store; a mount for each file would be as many as there are files.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "host/scan_tree.h"

static struct nsrun_scan_dir *
find_child(const struct nsrun_scan_dir *dir, const char *name, size_t n)
{
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
			dir = find_child(dir, s, strcspn(s, "/"));
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
