/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
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
#include "host/session.h"

/* A git that only reads gets its project that way, however it is granted. */
static void
keep_project(struct nsrun_build *b)
{
	for (size_t i = 0; i < b->n_roots; i++)
		if (b->runs_git && !b->git.writes && b->project &&
		    !strcmp(b->roots[i].path, b->project->path))
			b->roots[i].writable = false;
}

/* The session's, for this launch: with descriptors of its own. */
int
nsrun_build_open_roots(struct nsrun_build *b)
{
	const struct nsrun_session *s = b->session;

	b->roots = nsrun_arena_alloc(&b->plan->arena, (s->n_roots + 1) *
	    sizeof *b->roots);
	if (!b->roots)
		return nsrun_err_nomem(b->err, "roots");
	for (size_t i = 0; i < s->n_roots; i++) {
		int fd = fcntl(s->roots[i].pin.fd, F_DUPFD_CLOEXEC, 3);

		if (fd < 0)
			return nsrun_err_sys(b->err, NSRUN_STEP_ROOT, "fcntl",
			    s->roots[i].path, NULL);
		b->roots[i] = s->roots[i];
		b->roots[i].pin.fd = fd;
		b->n_roots++;
		if (&s->roots[i] == s->project)
			b->project = &b->roots[i];
		/* The plan outlives a session of one launch. */
		b->roots[i].path = nsrun_build_text(b, "%s",
		    s->roots[i].path);
		if (!b->roots[i].path)
			return -1;
	}
	keep_project(b);
	return 0;
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
		if ((b->overlay && !strcmp(b->roots[i].path, b->project->path) ?
		    nsrun_build_overlay_root : add_root)(b, &b->roots[i]) < 0)
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
