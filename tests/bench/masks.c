/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DIRS = 50 };

static struct bench_contestant now = { .name = "oc-nsrun" };
static struct bench_contestant before = { .name = "before" };
static struct bench_contestant *const both[] = { &before, &now };

static const struct kind {
	const char *name;
	mode_t	type;		/* of what is masked; 0: absent */
	const char *pattern;	/* that matches all of it */
} kinds[] = {
	{ "file", S_IFREG, NULL },
	{ "directory", S_IFDIR, NULL },
	{ "pattern", S_IFREG, "**/*.secret" },
	{ "absent", 0, NULL },
};

static void
make(const char *path, mode_t type)
{
	if (type == S_IFDIR ? mkdir(path, 0755) < 0 :
	    mknod(path, S_IFREG | 0644, 0) < 0)
		bench_die(path);
}

/* n names in `project`, and a command line that masks them all. */
static void
prepare(struct bench_contestant *c, const char *program, const char *project,
    const struct kind *kind, int n, bool makes)
{
	struct bench_words w = { 0 };
	char path[256];

	bench_add(&w, "%s", program);
	bench_add_all(&w, "run --profile shell --project %", project);
	if (kind->pattern) {
		bench_add(&w, "--mask");
		bench_add(&w, "%s", kind->pattern);
	}
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/d%d/n%d.secret", project,
		    i / (n / DIRS), i);
		if (makes && kind->type)
			make(path, kind->type);
		if (!kind->pattern) {
			bench_add(&w, "--mask");
			bench_add(&w, "%s", path);
		}
	}
	bench_add(&w, "--");
	bench_add(&w, "/usr/bin/true");
	c->argv = w.v;
}

void
bench_masks(const char *program, const char *other, const char *dir, int n)
{
	static const int counts[] = { DIRS, 1000, 5000 };

	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			char project[128], path[160], title[64];

			snprintf(project, sizeof project, "%s/masks-%s-%d",
			    dir, kinds[k].name, counts[i]);
			make(project, S_IFDIR);
			for (int d = 0; d < DIRS; d++) {
				snprintf(path, sizeof path, "%s/d%d", project,
				    d);
				make(path, S_IFDIR);
			}
			prepare(&now, program, project, &kinds[k], counts[i],
			    true);
			if (other)
				prepare(&before, other, project, &kinds[k],
				    counts[i], false);
			snprintf(title, sizeof title, "%d masks, %s (us)",
			    counts[i], kinds[k].name);
			bench_compare(title, both, 2, other ? &before : NULL,
			    n);
		}
}
