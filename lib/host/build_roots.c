/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "host/build.h"
#include "host/identity.h"

/* A toolchain of the caller's home, by its canonical place, at its own. */
static int
add_toolchain(struct nsrun_build *b, const char *name)
{
	const char *path = nsrun_build_text(b, "%s/%s", b->home, name);
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE |
		    NSRUN_MOUNT_PINNED,
		.target = path,
	};
	struct nsrun_granted root;
	struct stat st;

	if (!path)
		return -1;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	if (nsrun_root_open(&root, &b->plan->arena, path, false, NULL,
	    NSRUN_STEP_ROOT, b->err) < 0)
		return -1;
	m.source = root.path;
	m.pin = root.pin;
	m.type = root.pin.type;
	/* Where it cannot be, what others may read there is still readable. */
	if (nsrun_identity_maps(&b->plan->identity, &root.pin) &&
	    !nsrun_identity_try_maps(&b->plan->identity, &root, 1))
		m.flags |= NSRUN_MOUNT_IDMAPPED;
	if (nsrun_plan_add_mount(b->plan, &m, b->err) == 0)
		return 0;
	nsrun_fd_close(&root.pin.fd);
	return -1;
}

int
nsrun_build_toolchains(struct nsrun_build *b)
{
	/* Only of a home that is the caller's own. */
	if (b->home != b->host_home)
		return 0;
	for (size_t i = 0; i < b->profile->toolchain.n; i++)
		if (add_toolchain(b, b->profile->toolchain.v[i]) < 0)
			return -1;
	return 0;
}

static int
by_depth(const void *a, const void *b)
{
	const struct nsrun_granted *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* The same place twice: only if it is the same grant. */
static int
check_twice(struct nsrun_build *b)
{
	for (size_t i = 1; i < b->n_roots; i++)
		if (!strcmp(b->roots[i].path, b->roots[i - 1].path) &&
		    b->roots[i].writable != b->roots[i - 1].writable)
			return nsrun_err_rule(b->err, NSRUN_STEP_ROOT,
			    "is granted both read-only and writable",
			    b->roots[i].path, NULL);
	return 0;
}

/*
 * Open the project and the extra roots, and put them in order: a parent before
 * what is below it, so that the deeper grant holds whatever the order of the
 * options. In byte order a path stands before every path that continues it.
 */
int
nsrun_build_open_roots(struct nsrun_build *b)
{
	const struct nsrun_request *r = b->request;
	size_t n = r->n_roots + (r->project ? 1 : 0);
	const char *project = NULL;
	int rc = 0;

	b->roots = nsrun_arena_alloc(&b->plan->arena, (n + 1) *
	    sizeof *b->roots);
	if (!b->roots)
		rc = nsrun_err_nomem(b->err, "roots");
	for (size_t i = 0; rc == 0 && i < n; i++) {
		bool is_project = i == r->n_roots;

		rc = nsrun_root_open(&b->roots[i], &b->plan->arena,
		    is_project ? r->project : r->roots[i].path,
		    is_project ? !b->runs_git || b->git.writes :
		    r->roots[i].writable, b->host_home,
		    is_project ? NSRUN_STEP_PROJECT : NSRUN_STEP_ROOT, b->err);
		if (rc == 0)
			b->n_roots++;
		if (rc == 0 && is_project)
			project = b->roots[i].path;
	}
	if (rc < 0)
		return -1;
	qsort(b->roots, b->n_roots, sizeof *b->roots, by_depth);
	for (size_t i = 0; project && i < b->n_roots; i++)
		if (b->roots[i].path == project)
			b->project = &b->roots[i];
	return check_twice(b);
}

static int
add_root(struct nsrun_build *b, struct nsrun_granted *root)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_PINNED | NSRUN_MOUNT_GRANT |
		    NSRUN_MOUNT_EXACT | (root->writable ? 0 :
		    NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE) |
		    (b->runs_git ? NSRUN_MOUNT_NOEXEC : 0),
		.source = root->path, .target = root->path, .pin = root->pin,
		.type = root->pin.type,
	};

	if (nsrun_identity_maps(&b->plan->identity, &root->pin))
		m.flags |= NSRUN_MOUNT_IDMAPPED;
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0)
		return -1;
	root->pin.fd = -1;	/* the plan's now */
	return 0;
}

int
nsrun_build_roots(struct nsrun_build *b)
{
	for (size_t i = 0; i < b->n_roots; i++) {
		if (i > 0 && !strcmp(b->roots[i].path, b->roots[i - 1].path))
			continue;	/* the same grant again */
		if (add_root(b, &b->roots[i]) < 0)
			return -1;
	}
	return 0;
}

static bool
is_granted(const struct nsrun_build *b, const char *path)
{
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(path, b->roots[i].path))
			return true;
	return false;
}

/*
 * Where the command starts: as asked, which must be in a root; else where the
 * caller is, when that is in one; else the project; else its home.
 */
int
nsrun_build_cwd(struct nsrun_build *b)
{
	const char *asked = b->request->cwd;
	char *real = asked ? realpath(asked, NULL) : getcwd(NULL, 0);
	struct stat st;

	if (asked && !real)
		return nsrun_err_sys(b->err, NSRUN_STEP_ROOT, "realpath", asked,
		    NULL);
	if (real && is_granted(b, real) && stat(real, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		b->plan->cwd = nsrun_build_text(b, "%s", real);
	else if (!asked)
		b->plan->cwd = b->project ? b->project->path : b->home;
	else
		nsrun_err_rule(b->err, NSRUN_STEP_ROOT, is_granted(b, real) ?
		    "is not a directory" : "is in no granted root", asked,
		    NULL);
	free(real);
	return b->plan->cwd ? 0 : -1;
}
