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

int
nsrun_request_add_mask(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	const char **v = nsrun_arena_grow(&r->arena, r->masks, r->n_masks,
	    sizeof *v);
	char *text = nsrun_arena_strdup(&r->arena, value), *to = text;

	if (!v || !text)
		return nsrun_err_nomem(err, value);
	/* Without empty and "." components, and no slash at the end. */
	if (*value == '/')
		*to++ = '/';
	for (const char *s = value; *s; ) {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.')
			return nsrun_err_rule(err, NSRUN_STEP_OPTION,
			    "a mask has no \"..\" in it", value, NULL);
		if (n > NAME_MAX)
			return nsrun_err_rule(err, NSRUN_STEP_OPTION,
			    "a name of a mask is longer than 255 bytes", value,
			    NULL);
		if (n > 0 && !(n == 1 && *s == '.')) {
			if (to > text && to[-1] != '/')
				*to++ = '/';
			memmove(to, s, n);
			to += n;
		}
		s += n + (s[n] == '/');
	}
	*to = '\0';
	if (!*text || !strcmp(text, "/") || strlen(text) >= PATH_MAX)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is no path to mask", value, NULL);
	r->masks = v;
	v[r->n_masks++] = text;
	return 0;
}

/* The roots as masks want them: the same place twice counts once. */
static struct nsrun_mask_root *
list_roots(const struct nsrun_build *b, size_t *n)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;
	struct nsrun_mask_root *v = nsrun_arena_alloc(&b->plan->arena,
	    (b->n_roots + 1) * sizeof *v);

	*n = 0;
	for (size_t i = 0; v && i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];

		if (m->kind == NSRUN_MOUNT_BIND &&
		    m->flags & NSRUN_MOUNT_GRANT && *n < b->n_roots)
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

static int
add_asked(struct nsrun_build *b, struct nsrun_masks *masks)
{
	const struct nsrun_request *r = b->request;
	const char **patterns = nsrun_arena_alloc(&b->plan->arena,
	    (r->n_masks + 1) * sizeof *patterns);
	size_t n = 0;

	if (!patterns)
		return nsrun_err_nomem(b->err, "masks");
	for (size_t i = 0; i < r->n_masks; i++) {
		const char *path = place(b, masks, r->masks[i]);

		if (!path)
			return b->err->step != NSRUN_STEP_NONE ? -1 :
			    nsrun_err_rule(b->err, NSRUN_STEP_MASK,
			    *r->masks[i] == '/' ? "is beneath no granted root"
			    : "is relative, and there is no project",
			    r->masks[i], NULL);
		if (nsrun_glob_is_one(r->masks[i]))
			patterns[n++] = path;
		else if (nsrun_masks_add(masks, path, true, false) < 0)
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

/* A repository of the command's making would have hooks. */
static int
add_git(struct nsrun_build *b, struct nsrun_masks *masks)
{
	const char *path;

	if (!b->lacks_git)
		return 0;
	path = nsrun_build_text(b, "%s/.git", b->project->path);
	return path ? nsrun_masks_add(masks, path, false, false) : -1;
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
