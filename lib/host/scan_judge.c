/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what was found to what is a hazard, and what to call it. */
#include "host/scan_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/stub.h"

size_t
nsrun_scan_root_of(const struct nsrun_scan_dir *dir)
{
	return dir->root;
}

/* Make room for `size` bytes in scan->text. */
static bool
make_room(struct nsrun_scan *scan, size_t size)
{
	char *larger;

	if (size <= scan->text_size)
		return true;
	larger = realloc(scan->text, size * 2);
	if (!larger)
		return false;
	scan->text = larger;
	scan->text_size = size * 2;
	return true;
}

const char *
nsrun_scan_path(struct nsrun_scan *scan, const struct nsrun_scan_dir *dir,
    const char *name)
{
	const char *top = scan->roots[dir->root].path;
	size_t n_top = top[1] ? strlen(top) : 0, size = n_top + 2;
	char *s;

	for (const struct nsrun_scan_dir *d = dir; d->parent; d = d->parent)
		size += strlen(d->name) + 1;
	size += name ? strlen(name) + 1 : 0;
	if (!make_room(scan, size))
		return NULL;
	s = scan->text + size;
	*--s = '\0';
	if (name) {
		s -= strlen(name);
		memcpy(s, name, strlen(name));
		*--s = '/';
	}
	for (const struct nsrun_scan_dir *d = dir; d->parent; d = d->parent) {
		s -= strlen(d->name);
		memcpy(s, d->name, strlen(d->name));
		*--s = '/';
	}
	if (!*s)
		*--s = '/';	/* "/" itself */
	if (n_top && *s == '/' && !s[1])
		*s = '\0';
	s -= n_top;
	return memcpy(s, top, n_top);
}

/*
 * What a mask's janitor put there for a path that is to stay absent: nobody
 * listens, and nobody may connect. That of another sandbox is still no mask of
 * ours, but nothing to be reached by either.
 */
static bool
is_own_stub(const struct scan_found *f)
{
	const struct stat st = {
		.st_mode = f->mode, .st_nlink = f->nlink,
	};

	return S_ISSOCK(f->mode) && nsrun_stub_is_one(&st);
}

static bool
is_live(const struct nsrun_scan *scan, const struct scan_found *f)
{
	return f->dir->round == scan->round &&
	    f->generation == f->dir->generation;
}

int
nsrun_scan_each_git(struct nsrun_scan *scan,
    int (*take)(void *to, size_t root, const char *path), void *to,
    struct nsrun_err *err)
{
	for (const struct scan_found *f = scan->gits; f; f = f->next) {
		const char *path;

		if (!is_live(scan, f))
			continue;
		path = nsrun_scan_path(scan, f->dir, f->name);
		if (!path)
			return nsrun_err_nomem(err, "scan");
		if (take(to, f->dir->root, path) < 0)
			return -1;
	}
	return 0;
}

static void
add(struct nsrun_scan *scan, const struct scan_found *f, uint64_t inside)
{
	struct nsrun_scan_result *r = &scan->result;

	r->v[r->n_offenders++] = (struct nsrun_offender){
		.kind = f->kind, .dir = f->dir, .name = f->name,
		.names = f->nlink, .inside = inside,
		.pin = {
			.dev = f->dev, .ino = f->ino,
			.type = f->mode & S_IFMT, .fd = -1,
		},
	};
	r->n[f->kind]++;
}

static int
compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int
same_file(const struct scan_found *a, const struct scan_found *b)
{
	int order = compare(a->dev, b->dev);

	return order ? order : compare(a->ino, b->ino);
}

/* Names of one file together, and the same name twice, too. */
static int
by_file(const void *pa, const void *pb)
{
	const struct scan_found *a = *(const struct scan_found *const *)pa;
	const struct scan_found *b = *(const struct scan_found *const *)pb;
	int order = same_file(a, b);

	if (!order)
		order = compare(a->dir->dev, b->dir->dev);
	if (!order)
		order = compare(a->dir->ino, b->dir->ino);
	return order ? order : strcmp(a->name, b->name);
}

/* v[0..n) are names of files with several, sorted: who has others, too? */
static void
count_names(struct nsrun_scan *scan, const struct scan_found **v, size_t n)
{
	size_t end;

	for (size_t i = 0; i < n; i = end) {
		uint64_t names = 0, inside = 0;

		for (end = i; end < n && !same_file(v[end], v[i]); end++) {
			if (v[end]->nlink > names)
				names = v[end]->nlink;
			inside += end == i || by_file(&v[end], &v[end - 1]);
		}
		if (inside >= names)
			continue;
		for (size_t k = i; k < end; k++)
			add(scan, v[k], inside);
	}
}

struct view {
	nsrun_exposure_fn *exposure;
	const void	*arg;
	bool		nomem;
};

static enum nsrun_exposure
ask(struct nsrun_scan *scan, struct view *view,
    const struct nsrun_scan_dir *dir, const char *name)
{
	const char *path = nsrun_scan_path(scan, dir, name);

	view->nomem |= !path;
	return path ? view->exposure(view->arg, dir->root, path) :
	    NSRUN_EXPOSURE_WRITABLE;
}

/* Only where a kept path leads can it be another than the parent's. */
static enum nsrun_exposure
ask_of_dir(struct nsrun_scan *scan, struct view *view,
    struct nsrun_scan_dir *dir)
{
	struct nsrun_scan_dir *top = dir;

	while (!top->asked && !top->keeps && top->parent)
		top = top->parent;
	if (!top->asked) {
		top->exposure = ask(scan, view, top, NULL);
		top->asked = true;
	}
	for (struct nsrun_scan_dir *d = dir; d != top; d = d->parent) {
		d->exposure = top->exposure;
		d->asked = true;
	}
	return top->exposure;
}

static bool
matters(struct nsrun_scan *scan, struct view *view, const struct scan_found *f)
{
	enum nsrun_exposure exposure = NSRUN_EXPOSURE_WRITABLE;

	if (view->exposure)
		exposure = f->dir->keeps ? ask(scan, view, f->dir, f->name) :
		    ask_of_dir(scan, view, f->dir);
	return exposure == NSRUN_EXPOSURE_WRITABLE ||
	    (exposure == NSRUN_EXPOSURE_READONLY &&
	    f->kind != NSRUN_HAZARD_ALIAS);
}

int
nsrun_scan_judge(struct nsrun_scan *scan, nsrun_exposure_fn *exposure,
    const void *arg, const struct nsrun_scan_result **result,
    struct nsrun_err *err)
{
	struct nsrun_scan_result *r = &scan->result;
	const struct scan_found **v = malloc((scan->n_found + 1) * sizeof *v);
	struct view view = { .exposure = exposure, .arg = arg };
	size_t n = 0;

	free(r->v);
	*r = (struct nsrun_scan_result){ .n_entries = scan->n_entries };
	r->v = malloc((scan->n_found + 1) * sizeof *r->v);
	for (struct nsrun_scan_dir *d = scan->newest; d; d = d->older)
		r->n_dirs += d->round == scan->round && !d->barred;
	for (const struct scan_found *f = scan->found; v && r->v && f;
	    f = f->next) {
		if (!is_live(scan, f) || is_own_stub(f) ||
		    !matters(scan, &view, f))
			continue;
		if (f->kind == NSRUN_HAZARD_ALIAS)
			v[n++] = f;
		else
			add(scan, f, 0);
	}
	if (!v || !r->v || view.nomem) {
		free(v);
		return nsrun_err_nomem(err, "scan");
	}
	qsort(v, n, sizeof *v, by_file);
	count_names(scan, v, n);
	free(v);
	*result = r;
	return 0;
}

size_t
nsrun_scan_first(struct nsrun_scan *scan,
    const struct nsrun_scan_result *result,
    struct nsrun_offender v[NSRUN_SCAN_NAMED])
{
	const char *paths[NSRUN_SCAN_NAMED];
	size_t n = 0;

	for (size_t i = 0; i < result->n_offenders; i++) {
		const struct nsrun_offender *o = &result->v[i];
		const char *path = nsrun_scan_path(scan, o->dir, o->name);
		size_t at = n;

		while (path && at > 0 && (o->kind < v[at - 1].kind ||
		    (o->kind == v[at - 1].kind &&
		    strcmp(path, paths[at - 1]) < 0)))
			at--;
		if (!path || at == NSRUN_SCAN_NAMED ||
		    !(path = nsrun_arena_strdup(&scan->arena, path)))
			continue;
		n += n < NSRUN_SCAN_NAMED;
		for (size_t k = n - 1; k > at; k--) {
			v[k] = v[k - 1];
			paths[k] = paths[k - 1];
		}
		v[at] = *o;
		paths[at] = path;
	}
	return n;
}
