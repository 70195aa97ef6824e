/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The scan of a plan's writable trees, and what becomes of what it finds: no
 * plan, or covers in it. Covers are exact: what was swapped for another between
 * the scan and the mount is refused.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/name.h"
#include "base/path.h"
#include "host/build.h"
#include "host/identity.h"
#include "host/scan.h"
#include "plan/check.h"

/* The plan's writable trees, and which entry each is. */
struct nsrun_build_trees {
	const struct nsrun_build *b;
	struct nsrun_scan	*scan;		/* NULL: there is no tree */
	const struct nsrun_mounts *mounts;
	struct nsrun_scan_root	*roots;
	size_t			*entries;
	size_t			n;
};

enum nsrun_on_hazard
nsrun_on_hazard_parse(const char *word)
{
	return !strcmp(word, "refuse") ? NSRUN_ON_HAZARD_REFUSE :
	    !strcmp(word, "shield") ? NSRUN_ON_HAZARD_SHIELD :
	    NSRUN_ON_HAZARD_DEFAULT;
}

int
nsrun_request_set_on_hazard(struct nsrun_request *request, const char *value,
    struct nsrun_err *err)
{
	request->on_hazard = nsrun_on_hazard_parse(value);
	return request->on_hazard ? 0 : nsrun_err_rule(err, NSRUN_STEP_OPTION,
	    "is neither refuse nor shield", value, NULL);
}

static bool
is_tree(const struct nsrun_mount *m)
{
	if (m->kind == NSRUN_MOUNT_OVERLAY)
		return m->flags & NSRUN_MOUNT_GRANT;
	return m->kind == NSRUN_MOUNT_BIND && m->flags & NSRUN_MOUNT_PINNED &&
	    !(m->flags & (NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_KEPT)) &&
	    S_ISDIR(m->pin.type);
}

/* Where on the host the tree is. */
static const char *
place_of(const struct nsrun_mount *m)
{
	return m->kind == NSRUN_MOUNT_OVERLAY ? m->layers[0] : m->source;
}

/* Is m the same place of t's tree as where t shows it? */
static bool
is_part(const struct nsrun_mount *m, const struct nsrun_mount *t)
{
	return nsrun_path_is_within(place_of(m), place_of(t)) &&
	    nsrun_path_is_within(m->target, t->target) &&
	    !strcmp(place_of(m) + strlen(place_of(t)),
	    m->target + strlen(t->target));
}

/* Of files in m, may any be root's, and then the command's to write? */
static bool
lends(const struct nsrun_build *b, const struct nsrun_mount *m)
{
	const struct nsrun_identity *who = &b->plan->identity;

	return who->host_uid == 0 || (nsrun_identity_maps(who, &m->pin) &&
	    (who->host_gid == 0 || m->pin.uid == 0 || m->pin.gid == 0));
}

static int
find_trees(struct nsrun_build *b, struct nsrun_build_trees *trees)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;

	trees->mounts = mounts;
	trees->roots = nsrun_arena_alloc(&b->plan->arena, mounts->n *
	    sizeof *trees->roots);
	trees->entries = nsrun_arena_alloc(&b->plan->arena, mounts->n *
	    sizeof *trees->entries);
	if (!trees->roots || !trees->entries)
		return nsrun_err_nomem(b->err, "scan");
	for (size_t i = 0; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];
		size_t k = 0;

		if (!is_tree(m))
			continue;
		while (k < trees->n &&
		    !is_part(m, &mounts->v[trees->entries[k]]))
			k++;
		if (k == trees->n) {
			trees->entries[trees->n] = i;
			trees->roots[trees->n++] = (struct nsrun_scan_root){
				.path = place_of(m),
				.fd = nsrun_build_host_fd(b, m),
			};
		}
		trees->roots[k].lends |= lends(b, m);
	}
	return 0;
}

/* What m does to what stood at its target in the tree t. */
static enum nsrun_exposure
exposure_by(const struct nsrun_mount *m, const struct nsrun_mount *t)
{
	switch (m->kind) {
	case NSRUN_MOUNT_COVER:
	case NSRUN_MOUNT_REMOUNT:
		return NSRUN_EXPOSURE_READONLY;
	case NSRUN_MOUNT_BIND:
		/* A root of its own has rules of its own. */
		return is_tree(m) && is_part(m, t) ? NSRUN_EXPOSURE_WRITABLE :
		    NSRUN_EXPOSURE_HIDDEN;
	case NSRUN_MOUNT_DIR:
	case NSRUN_MOUNT_FILE:
	case NSRUN_MOUNT_SYMLINK:
	case NSRUN_MOUNT_CHMOD:
		return NSRUN_EXPOSURE_WRITABLE;
	case NSRUN_MOUNT_ROOT:
	case NSRUN_MOUNT_TMPFS:
	case NSRUN_MOUNT_SCRATCH:
	case NSRUN_MOUNT_PROC:
	case NSRUN_MOUNT_DEVPTS:
	case NSRUN_MOUNT_MASK:
	case NSRUN_MOUNT_MQUEUE:
	case NSRUN_MOUNT_OVERLAY:
	case NSRUN_MOUNT_DATA:
	case NSRUN_MOUNT_FS:
	case NSRUN_MOUNT_HIDE:
	case NSRUN_MOUNT_ABSENT:
	case NSRUN_MOUNT_PIN:		/* covers nothing: not asked about */
	case NSRUN_N_MOUNT_KINDS:
		break;
	}
	return NSRUN_EXPOSURE_HIDDEN;
}

/* The last entry that covers a place has the say. */
static enum nsrun_exposure
exposure(const void *arg, size_t root, const char *path)
{
	const struct nsrun_build_trees *trees = arg;
	size_t i = trees->entries[root];
	const struct nsrun_mount *v = trees->mounts->v, *t = &v[i];
	enum nsrun_exposure result = NSRUN_EXPOSURE_WRITABLE;
	char inside[PATH_MAX];

	if (strcmp(place_of(t), t->target)) {
		if (snprintf(inside, sizeof inside, "%s%s", t->target,
		    path + strlen(place_of(t))) >= (int)sizeof inside)
			return NSRUN_EXPOSURE_WRITABLE;
		path = inside;
	}
	for (i++; i < trees->mounts->n; i++)
		if (v[i].kind != NSRUN_MOUNT_PIN &&
		    nsrun_path_is_within(path, v[i].target))
			result = exposure_by(&v[i], t);
	for (size_t k = 0; k < trees->b->n_git_objects; k++)
		if (result == NSRUN_EXPOSURE_WRITABLE &&
		    nsrun_path_is_within(path, trees->b->git_objects[k]))
			result = NSRUN_EXPOSURE_READONLY;
	/* What is written through an overlay is a copy. */
	return t->kind == NSRUN_MOUNT_OVERLAY &&
	    result == NSRUN_EXPOSURE_WRITABLE ? NSRUN_EXPOSURE_READONLY :
	    result;
}

struct each_git {
	const struct nsrun_build *b;
	int (*take)(void *to, const char *path, enum nsrun_exposure exposure);
	void *to;
};

static int
take_git(void *arg, size_t root, const char *path)
{
	const struct each_git *e = arg;

	return e->take(e->to, path, exposure(e->b->trees, root, path));
}

int
nsrun_build_each_git(const struct nsrun_build *b, int (*take)(void *to,
    const char *path, enum nsrun_exposure exposure), void *to)
{
	struct each_git e = { .b = b, .take = take, .to = to };

	return b->trees->scan ? nsrun_scan_each_git(b->trees->scan, take_git,
	    &e, b->err) : 0;
}

/* Where something else of the plan's stands in a tree. */
static void
keep_targets(struct nsrun_scan *scan, const struct nsrun_build_trees *trees)
{
	char path[PATH_MAX];

	for (size_t k = 0; k < trees->b->n_git_objects; k++)
		nsrun_scan_keep(scan, trees->b->git_objects[k]);
	for (size_t k = 0; k < trees->n; k++) {
		size_t i = trees->entries[k];
		const struct nsrun_mount *v = trees->mounts->v, *t = &v[i];

		for (i++; i < trees->mounts->n; i++)
			if (nsrun_path_is_within(v[i].target, t->target) &&
			    snprintf(path, sizeof path, "%s%s",
			    place_of(t), v[i].target + strlen(t->target)) <
			    (int)sizeof path)
				nsrun_scan_keep(scan, path);
		nsrun_scan_keep(scan, place_of(t));
	}
}

/* "a (socket), b/c (alias) and 3 more": as many as fit, one at least. */
static int
refuse(struct nsrun_build *b, struct nsrun_scan *scan,
    const struct nsrun_scan_result *result,
    const struct nsrun_build_trees *trees, const char *rule)
{
	char list[sizeof b->err->subject - 32] = "", name[sizeof list];
	char subject[sizeof b->err->subject];
	struct nsrun_offender v[NSRUN_SCAN_NAMED];
	size_t n = nsrun_scan_first(scan, result, v), used = 0, i;
	const char *top = trees->roots[0].path;

	used = nsrun_name_escape(list, sizeof list / 2, top);
	for (i = 0; i < n; i++) {
		const char *path = nsrun_scan_path(scan, v[i].dir, v[i].name);
		const char *kind = nsrun_hazard_name(v[i].kind);
		size_t length;

		if (!path)
			return nsrun_err_nomem(b->err, "scan");
		if (nsrun_path_is_within(path, top))
			path += strlen(top) + 1;
		length = nsrun_name_escape(name, sizeof name - strlen(kind) - 8,
		    path) + strlen(kind) + 5;
		if (i > 0 && used + length >= sizeof list)
			break;
		snprintf(list + used, sizeof list - used, "%s%s (%s)",
		    i ? ", " : ": ", name, kind);
		used = strlen(list);
	}
	snprintf(subject, sizeof subject, i < result->n_offenders ?
	    "%s and %zu more" : "%s", list, result->n_offenders - i);
	return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT, rule, subject, NULL);
}

/* Directories before what is in them, whatever it is covered with. */
static int
by_target(const void *pa, const void *pb)
{
	const struct nsrun_mount *a = pa, *b = pb;

	if (a->kind != b->kind)
		return a->kind == NSRUN_MOUNT_COVER ? -1 : 1;
	return nsrun_path_compare(a->target, b->target);
}

/* Fill in the cover of o; 0: it has one already. */
static int
make_shield(struct nsrun_build *b, struct nsrun_scan *scan,
    const struct nsrun_build_trees *trees, const struct nsrun_offender *o,
    struct nsrun_mount *m)
{
	struct nsrun_scan_dir *cover = NULL;
	const struct nsrun_mount *t =
	    &trees->mounts->v[trees->entries[nsrun_scan_root_of(o->dir)]];
	const char *path;

	*m = (struct nsrun_mount){
		.kind = NSRUN_MOUNT_MASK, .flags = NSRUN_MOUNT_EXACT,
		.shields = o->kind, .pin = o->pin,
	};
	/* An earlier launch may have put something else there, or nothing. */
	if (t->kind == NSRUN_MOUNT_OVERLAY) {
		m->kind = NSRUN_MOUNT_HIDE;
		m->flags |= NSRUN_MOUNT_NOLINK | NSRUN_MOUNT_OPTIONAL;
	} else if (o->kind == NSRUN_HAZARD_ALIAS) {
		m->kind = NSRUN_MOUNT_COVER;
		m->source = t->target;
		cover = nsrun_scan_cover_of(o, &m->pin);
		if (cover && !nsrun_scan_cover_once(cover))
			return 0;
	}
	path = cover ? nsrun_scan_path(scan, cover, NULL) :
	    nsrun_scan_path(scan, o->dir, o->name);
	if (path && strlen(path) >= PATH_MAX)
		return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT,
		    "a path is longer than any that can be covered", t->source,
		    NULL);
	m->target = path ? nsrun_build_text(b, "%s%s", t->target,
	    path + strlen(place_of(t))) : NULL;
	return m->target ? 1 : nsrun_err_nomem(b->err, "scan");
}

static int
shield(struct nsrun_build *b, struct nsrun_scan *scan,
    const struct nsrun_scan_result *result,
    const struct nsrun_build_trees *trees)
{
	struct nsrun_mount *v = malloc(result->n_offenders * sizeof *v);
	size_t n = 0;
	int rc = v ? 0 : nsrun_err_nomem(b->err, "scan");

	nsrun_scan_plan_covers(scan, result);
	for (size_t i = 0; rc >= 0 && i < result->n_offenders; i++) {
		rc = make_shield(b, scan, trees, &result->v[i], &v[n]);
		n += rc > 0;
		if (rc >= 0 && b->plan->mounts.n + n > NSRUN_MOUNTS_MAX)
			rc = nsrun_err_rule(b->err, NSRUN_STEP_PROJECT,
			    "has more aliases and special files than can be"
			    " covered", trees->roots[0].path, NULL);
	}
	if (rc >= 0)
		qsort(v, n, sizeof *v, by_target);
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = nsrun_plan_add_mount(b->plan, &v[i], b->err);
	free(v);
	return rc < 0 ? -1 : 0;
}

static int
decide(struct nsrun_build *b, struct nsrun_scan *scan,
    const struct nsrun_build_trees *trees)
{
	const struct nsrun_scan_result *result;
	enum nsrun_on_hazard on_hazard = b->request->on_hazard ?
	    b->request->on_hazard : b->profile->on_hazard;

	keep_targets(scan, trees);
	if (nsrun_scan_judge(scan, exposure, trees, &result, b->err) < 0)
		return -1;
	if (!result->n_offenders)
		return 0;
	if (result->n[NSRUN_HAZARD_MOUNT] || result->n[NSRUN_HAZARD_FILESYSTEM])
		return refuse(b, scan, result, trees, "holds what is mounted,"
		    " or another file system: grant a directory below or"
		    " beside it");
	if (on_hazard != NSRUN_ON_HAZARD_SHIELD)
		return refuse(b, scan, result, trees, "may not be written by a"
		    " command: see oc-nsrun scan; --on-hazard shield covers"
		    " it");
	return shield(b, scan, result, trees);
}

int
nsrun_build_walk(struct nsrun_build *b)
{
	struct nsrun_build_trees *trees = nsrun_arena_alloc(&b->plan->arena,
	    sizeof *trees);

	if (!trees)
		return nsrun_err_nomem(b->err, "scan");
	trees->b = b;
	b->trees = trees;
	if (find_trees(b, trees) < 0)
		return -1;
	return trees->n ? nsrun_scan_new(&trees->scan, trees->roots, trees->n,
	    &b->profile->scan, b->err) : 0;
}

int
nsrun_build_scan(struct nsrun_build *b)
{
	return b->trees->scan ? decide(b, b->trees->scan, b->trees) : 0;
}

void
nsrun_build_walk_deinit(struct nsrun_build *b)
{
	if (b->trees)
		nsrun_scan_free(b->trees->scan);
	b->trees = NULL;
}
