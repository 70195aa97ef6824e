/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Toolchains: what the user installed for building, shown read-only at its own
 * path. Of the home what the profile names; elsewhere where a variable of the
 * caller's says, if what is there looks like one: a variable is easily set by
 * who should not, and must not show anything else.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/build.h"
#include "host/grants.h"
#include "host/identity.h"

/* Is it visible already, or a place that is not shown whole? */
static bool
is_needless(const struct nsrun_build *b, const char *path)
{
	if (nsrun_root_is_broad(path) ||
	    (b->host_home && nsrun_path_is_within(b->host_home, path)))
		return true;
	for (size_t i = 0; i < b->profile->system.n; i++)
		if (nsrun_path_is_within(path, b->profile->system.v[i]))
			return true;
	for (size_t i = 0; i < b->toolchains.n; i++)
		if (nsrun_path_is_within(path, b->toolchains.v[i]))
			return true;
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(path, b->roots[i].path))
			return true;
	return false;
}

/* Show `source`, which is canonical, at path. */
static int
show(struct nsrun_build *b, const char *source, const char *path)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE |
		    NSRUN_MOUNT_PINNED,
		.target = path,
	};
	struct nsrun_granted root;
	bool in_home = nsrun_path_is_within(path, b->home);

	if (in_home && b->home_fd >= 0 && !nsrun_build_home_has_room(b, path))
		return 0;
	/* There already, as all of the home is. */
	if (in_home && b->home_layer && b->host_home &&
	    !strcmp(b->home_layer, b->host_home))
		return nsrun_words_add(&b->toolchains, &b->plan->arena, path) ==
		    0 ? 0 : nsrun_err_nomem(b->err, path);
	if (nsrun_root_open(&root, &b->plan->arena, source, false, NULL,
	    NSRUN_STEP_ROOT, b->err) < 0)
		return -1;
	m.source = root.path;
	m.pin = root.pin;
	m.type = root.pin.type;
	/* Where it cannot be, what others may read there is still readable. */
	if (nsrun_identity_maps(&b->plan->identity, &root.pin) &&
	    !nsrun_identity_try_maps(&b->plan->identity, &root, 1))
		m.flags |= NSRUN_MOUNT_IDMAPPED;
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0) {
		nsrun_fd_close(&root.pin.fd);
		return -1;
	}
	return nsrun_words_add(&b->toolchains, &b->plan->arena, path) == 0 ? 0 :
	    nsrun_err_nomem(b->err, path);
}

/* One of the home, which nobody but its user could have put there. */
static int
add_of_home(struct nsrun_build *b, const char *name)
{
	const char *path = nsrun_build_text(b, "%s/%s", b->home, name);
	struct stat st;
	char *real;
	int rc = 0;

	if (!path)
		return -1;
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    access(path, R_OK | X_OK) < 0)
		return 0;
	real = realpath(path, NULL);
	if (real && !nsrun_root_is_broad(real) &&
	    !nsrun_path_is_within(b->home, real))
		rc = show(b, real, path);
	free(real);
	return rc;
}

/* The directory of one of a toolchain's, reached without any link. */
static int
add_of_variable(struct nsrun_build *b, int base_fd, const char *base,
    const char *dir)
{
	nsrun_autoclose int fd = sys_openat2(base_fd, dir, O_PATH |
	    O_DIRECTORY | O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	const char *path = strcmp(dir, ".") ? nsrun_build_text(b, "%s/%s", base,
	    dir) : base;

	if (!path)
		return -1;
	if (fd < 0 || is_needless(b, path) ||
	    faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
		return 0;
	return show(b, path, path);
}

/* A variable that names the root of one: absolute, and with its marker. */
static int
add_variable(struct nsrun_build *b, const struct nsrun_toolchain *t)
{
	const char *value = getenv(t->name);
	char *real = value && *value == '/' ? realpath(value, NULL) : NULL;
	nsrun_autoclose int fd = -1;
	const char *base = NULL;
	struct stat st;
	int rc = 0;

	/* A link would be missing inside: only what is canonical works. */
	if (real && nsrun_path_is_clean(value) && !strcmp(real, value) &&
	    !is_needless(b, real))
		base = nsrun_build_text(b, "%s", real);
	free(real);
	if (!base)
		return 0;
	fd = open(base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstatat(fd, t->marker, &st, 0) < 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < t->dirs.n; i++)
		rc = add_of_variable(b, fd, base, t->dirs.v[i]);
	return rc;
}

int
nsrun_build_toolchains(struct nsrun_build *b)
{
	/* Only of a home that is the caller's own. */
	for (size_t i = 0; i < b->profile->toolchain.n &&
	    b->home == b->host_home; i++)
		if (add_of_home(b, b->profile->toolchain.v[i]) < 0)
			return -1;
	for (size_t i = 0; i < b->profile->n_toolchains; i++)
		if (add_variable(b, &b->profile->toolchains[i]) < 0)
			return -1;
	return 0;
}
