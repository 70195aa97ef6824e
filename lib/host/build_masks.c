/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The profile's control names and the caller's masks, as entries of a plan. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "host/build.h"
#include "host/masks.h"

/* The mask without empty and "." components, and no slash at the end. */
static const char *
clean(struct nsrun_arena *arena, const char *value, struct nsrun_err *err)
{
	char *text = nsrun_arena_strdup(arena, value), *to = text;
	const char *rule = NULL;

	if (!text)
		nsrun_err_nomem(err, value);
	if (text && *value == '/')
		*to++ = '/';
	for (const char *s = value; text && *s; ) {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.')
			rule = "a mask has no \"..\" in it";
		else if (n > NAME_MAX)
			rule = "a name of a mask is longer than 255 bytes";
		if (n > 0 && !(n == 1 && *s == '.')) {
			if (to > text && to[-1] != '/')
				*to++ = '/';
			memmove(to, s, n);
			to += n;
		}
		s += n + (s[n] == '/');
	}
	if (!text)
		return NULL;
	*to = '\0';
	if (!rule && (!*text || !strcmp(text, "/") || strlen(text) >= PATH_MAX))
		rule = "is no path to mask";
	if (!rule)
		return text;
	nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, value, NULL);
	return NULL;
}

int
nsrun_request_add_mask(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	const char **v = nsrun_arena_grow(&r->arena, r->masks, r->n_masks,
	    sizeof *v);

	if (!v)
		return nsrun_err_nomem(err, value);
	r->masks = v;
	v[r->n_masks] = clean(&r->arena, value, err);
	return v[r->n_masks++] ? 0 : -1;
}

/* A bare repository: what is shown at the root is a view of it. */
static bool
is_view(const struct nsrun_mounts *mounts, size_t i)
{
	const char *path = mounts->v[i].target;

	for (i++; i < mounts->n; i++)
		if (mounts->v[i].kind == NSRUN_MOUNT_TMPFS &&
		    !strcmp(mounts->v[i].target, path))
			return true;
	return false;
}

/*
 * The roots as masks want them: the same place twice counts once, and a view
 * has only what we put there, which nobody can add to.
 */
static struct nsrun_mask_root *
list_roots(const struct nsrun_build *b, size_t *n)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;
	struct nsrun_mask_root *v = nsrun_arena_alloc(&b->plan->arena,
	    (b->n_roots + 1) * sizeof *v);

	*n = 0;
	for (size_t i = 0; v && i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];

		if ((m->kind == NSRUN_MOUNT_BIND ||
		    m->kind == NSRUN_MOUNT_OVERLAY) &&
		    m->flags & NSRUN_MOUNT_GRANT && *n < b->n_roots &&
		    !is_view(mounts, i))
			v[(*n)++] = (struct nsrun_mask_root){
				.path = m->target, .fd = m->pin.fd,
				.writable = !(m->flags & NSRUN_MOUNT_RDONLY),
				.uid = m->pin.uid,
			};
	}
	return v;
}

/*
 * Where a mask is, as roots are known: relative ones are beneath the project;
 * of an absolute one the part that names a root, or a way to it, is made
 * canonical, and no more.
 */
static const char *
place(struct nsrun_build *b, const struct nsrun_masks *masks, const char *mask)
{
	char prefix[PATH_MAX], *real;
	const char *found = NULL;

	if (*mask != '/')
		return b->project ? nsrun_build_text(b, "%s/%s",
		    b->project->path, mask) : NULL;
	if (nsrun_masks_root_of(masks, mask))
		return mask;
	for (const char *s = strchr(mask + 1, '/'); s && !found;
	    s = strchr(s + 1, '/')) {
		memcpy(prefix, mask, (size_t)(s - mask));
		prefix[s - mask] = '\0';
		real = realpath(prefix, NULL);
		if (!real)
			break;
		found = nsrun_build_text(b, "%s%s", real, s);
		free(real);
		if (found && !nsrun_masks_root_of(masks, found))
			found = NULL;
	}
	return found;
}

/* In no root: it is in a view, and then not to be what that shows. */
static int
check_view(struct nsrun_build *b, const char *path)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;

	for (size_t i = 0; i < mounts->n; i++)
		if (nsrun_path_is_within(mounts->v[i].target, path) ||
		    (nsrun_path_is_within(path, mounts->v[i].target) &&
		    nsrun_path_is_within(mounts->v[i].target,
		    b->project->path) &&
		    strcmp(mounts->v[i].target, b->project->path)))
			return nsrun_err_rule(b->err, NSRUN_STEP_MASK,
			    "is shown of a bare repository", path, NULL);
	return 0;
}

static int
add_one(struct nsrun_build *b, struct nsrun_masks *masks, const char *mask,
    const char **patterns, size_t *n)
{
	const char *path = place(b, masks, mask);

	if (!path)
		return b->err->step != NSRUN_STEP_NONE ? -1 :
		    nsrun_err_rule(b->err, NSRUN_STEP_MASK, *mask == '/' ?
		    "is beneath no granted root" :
		    "is relative, and there is no project", mask, NULL);
	if (!nsrun_masks_root_of(masks, path))
		return check_view(b, path);
	if (!nsrun_glob_is_one(mask))
		return nsrun_masks_add(masks, path, true, false);
	patterns[(*n)++] = path;
	return 0;
}

/* The caller's, and below the project those of the session. */
static int
add_asked(struct nsrun_build *b, struct nsrun_masks *masks)
{
	const struct nsrun_request *r = b->request;
	size_t n_session = b->project ? b->session->masks.n : 0, n = 0;
	const char **patterns = nsrun_arena_alloc(&b->plan->arena,
	    (r->n_masks + n_session + 1) * sizeof *patterns);

	if (!patterns)
		return nsrun_err_nomem(b->err, "masks");
	for (size_t i = 0; i < r->n_masks; i++)
		if (!nsrun_build_home_hides(b, r->masks[i]) &&
		    add_one(b, masks, r->masks[i], patterns, &n) < 0)
			return -1;
	for (size_t i = 0; i < n_session; i++) {
		const char *mask = clean(&b->plan->arena,
		    b->session->masks.v[i], b->err);

		if (!mask || add_one(b, masks, mask, patterns, &n) < 0)
			return -1;
	}
	return nsrun_globs_add(masks, patterns, n);
}

/* What host tools obey is not the command's to write. */
static int
add_controls(struct nsrun_build *b, struct nsrun_masks *masks)
{
	/* A view of ours stands over a bare repository, read-only. */
	for (size_t i = 0; b->project && !b->is_bare &&
	    i < b->profile->control.n; i++) {
		const char *path = nsrun_build_text(b, "%s/%s",
		    b->project->path, b->profile->control.v[i]);

		if (!path || nsrun_masks_add(masks, path, false, false) < 0)
			return -1;
	}
	return 0;
}

struct keeping {
	struct nsrun_build	*b;
	struct nsrun_masks	*masks;
};

/* At the top of a root that is written, where there is none: none is made. */
static int
add_absent_gits(struct nsrun_build *b, struct nsrun_masks *masks)
{
	for (size_t i = 0; i < masks->n_roots; i++) {
		const struct nsrun_mask_root *root = &masks->roots[i];
		const char *path;

		if (!root->writable || (b->session->temp &&
		    !strcmp(root->path, b->session->temp)) ||
		    (b->project && !strcmp(root->path, b->project->path) &&
		    !b->lacks_git))
			continue;
		path = nsrun_build_text(b, "%s/.git", root->path);
		if (!path || nsrun_masks_add(masks, path, false, false) < 0)
			return -1;
	}
	return 0;
}

static bool
is_target(const struct nsrun_mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->n; i++)
		if (!strcmp(mounts->v[i].target, path))
			return true;
	return false;
}

/* What we put there already stays there; else what stands there does. */
static int
keep_git(void *to, const char *path, enum nsrun_exposure exposure)
{
	struct keeping *k = to;

	if (is_target(&k->b->plan->mounts, path))
		return nsrun_masks_add_pins(k->masks, path);
	return exposure == NSRUN_EXPOSURE_WRITABLE ?
	    nsrun_masks_add(k->masks, path, false, false) : 0;
}

/*
 * A repository has hooks, and a configuration that names programs, which the
 * host's git obeys. So those that are there are read-only, and none is made
 * where git will look for one: at the top of a root, and where the index has
 * one that is not checked out. Where git is the command it works in them.
 */
static int
add_git(struct nsrun_build *b, struct nsrun_masks *masks)
{
	struct keeping k = { .b = b, .masks = masks };

	if (b->profile->git == NSRUN_GIT_UNSAID || b->runs_git)
		return 0;
	for (size_t i = 0; i < b->git_links.n; i++)
		if (keep_git(&k, b->git_links.v[i], NSRUN_EXPOSURE_WRITABLE) <
		    0)
			return -1;
	if (nsrun_build_each_git(b, keep_git, &k) < 0)
		return -1;
	return add_absent_gits(b, masks);
}

static int
emit(struct nsrun_build *b, const struct nsrun_mask *mask)
{
	struct nsrun_mount m = {
		.kind = mask->kind, .flags = NSRUN_MOUNT_EXACT |
		    NSRUN_MOUNT_NOLINK |
		    (mask->optional ? NSRUN_MOUNT_OPTIONAL : 0),
		.target = mask->path, .pin = mask->pin,
	};

	if (m.kind == NSRUN_MOUNT_PIN)
		m.source = mask->root;
	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

int
nsrun_build_masks(struct nsrun_build *b)
{
	struct nsrun_masks masks;
	size_t n_roots;
	struct nsrun_mask_root *roots = list_roots(b, &n_roots);
	int rc;

	if (!roots)
		return nsrun_err_nomem(b->err, "masks");
	nsrun_masks_init(&masks, &b->plan->arena, roots, n_roots, b->err);
	rc = add_controls(b, &masks) < 0 || add_git(b, &masks) < 0 ? -1 : 0;
	if (rc == 0)
		rc = add_asked(b, &masks);
	/* A root in another: the names that lead to it stay, too. */
	for (size_t i = 0; rc == 0 && i < n_roots; i++)
		rc = nsrun_masks_add_pins(&masks, roots[i].path);
	nsrun_masks_sort(&masks);
	for (size_t i = 0; rc == 0 && i < masks.n; i++)
		rc = emit(b, &masks.v[i]);
	nsrun_masks_deinit(&masks);
	return rc;
}
