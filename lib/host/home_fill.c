/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a kept home needs before a launch: places for what the plan mounts in
 * it, and copies. A sandbox makes nothing on a file system of the host's, so it
 * is done here, and what commands left there is not trusted: every name is
 * opened beneath the home, through no link.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/home.h"

struct fill {
	struct nsrun_home_keep	*keep;
	const struct nsrun_plan	*plan;
	const struct nsrun_mount *home;
	int			part_fd;
	int			layer_fd;	/* beneath it; -1: none */
	struct nsrun_err	*err;
};

static int
fail(const struct fill *f, const char *call, const char *path)
{
	return nsrun_err_sys(f->err, NSRUN_STEP_HOME, call, f->home->target,
	    path);
}

static int
in_the_way(const struct fill *f, const char *path)
{
	return nsrun_err_rule(f->err, NSRUN_STEP_HOME, "something that was left"
	    " in the kept home is in the way", f->home->target, path);
}

static int
open_beneath(int fd, const char *path, uint64_t flags)
{
	return sys_openat2(fd, *path ? path : ".", flags | O_NOFOLLOW |
	    O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/* The directory that path, relative, is in; *name is its name there. */
static int
open_parent(int fd, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX] = "";

	*name = slash ? slash + 1 : path;
	if (slash && slash - path >= (ptrdiff_t)sizeof dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (slash)
		memcpy(dir, path, (size_t)(slash - path));
	return open_beneath(fd, dir, O_RDONLY | O_DIRECTORY);
}

static bool
is_hidden(const struct fill *f, const char *path)
{
	for (const char *const *h = f->home->hidden; h && *h; h++)
		if (!strcmp(*h, path))
			return true;
	return false;
}

/* An overlay's mark of what was removed goes; 1: there was one. */
static int
clear_whiteout(const struct fill *f, int dir, const char *name)
{
	struct stat st;

	if (f->layer_fd < 0 ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISCHR(st.st_mode) || st.st_rdev != makedev(0, 0))
		return 0;
	return unlinkat(dir, name, 0) < 0 ? -1 : 1;
}

/* A new directory, as the one beneath, if that is shown; then it is the
 * command's. */
static int
finish_dir(const struct fill *f, int fd, const char *path, bool covers)
{
	nsrun_autoclose int below = f->layer_fd < 0 ? -1 :
	    open_beneath(f->layer_fd, path, O_PATH | O_DIRECTORY);
	const struct nsrun_identity *who = &f->plan->identity;
	struct stat st = { .st_mode = 0700 };

	if (below >= 0 && !covers && fstat(below, &st) < 0)
		return fail(f, "fstat", path);
	if (covers && fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) < 0)
		return fail(f, "fsetxattr", path);
	if (fchown(fd, who->host_uid, who->host_gid) < 0 ||
	    fchmod(fd, st.st_mode & 07777) < 0)
		return fail(f, "fchown", path);
	return 0;
}

/* Directory `path`, whose parent is there. */
static int
make_dir(const struct fill *f, const char *path)
{
	const char *name;
	nsrun_autoclose int dir = open_parent(f->part_fd, path, &name);
	nsrun_autoclose int fd = -1;
	int cleared = dir < 0 ? 0 : clear_whiteout(f, dir, name);

	if (dir < 0 || cleared < 0)
		return fail(f, "open", path);
	if (mkdirat(dir, name, 0700) < 0) {
		if (errno != EEXIST)
			return fail(f, "mkdir", path);
		fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
		return fd < 0 ? in_the_way(f, path) : 0;
	}
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(f, "open", path);
	return finish_dir(f, fd, path, cleared || is_hidden(f, path));
}

static int
make_parents(const struct fill *f, const char *path)
{
	char prefix[PATH_MAX];

	for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
		snprintf(prefix, sizeof prefix, "%.*s", (int)(s - path), path);
		if (make_dir(f, prefix) < 0)
			return -1;
	}
	return 0;
}

static int
remember_stub(struct fill *f, const char *path)
{
	struct nsrun_home_keep *keep = f->keep;
	const char **v = nsrun_arena_grow(&keep->arena, keep->stubs,
	    keep->n_stubs, sizeof *v);

	if (!v || !(v[keep->n_stubs] = nsrun_arena_strdup(&keep->arena, path)))
		return nsrun_err_nomem(f->err, path);
	keep->stubs = v;
	keep->n_stubs++;
	return 0;
}

/* A file to mount something on. */
static int
make_stub(struct fill *f, const char *path)
{
	const struct nsrun_identity *who = &f->plan->identity;
	const char *name;
	nsrun_autoclose int dir = open_parent(f->part_fd, path, &name);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (dir < 0 || clear_whiteout(f, dir, name) < 0)
		return fail(f, "open", path);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) {
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return fail(f, "fstatat", path);
		return S_ISREG(st.st_mode) ? 0 : in_the_way(f, path);
	}
	if (fd < 0)
		return fail(f, "create", path);
	if (fchown(fd, who->host_uid, who->host_gid) < 0)
		return fail(f, "fchown", path);
	return remember_stub(f, path);
}

static int
write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, data, n);

		if (done < 0 && errno != EINTR)
			return -1;
		data += done > 0 ? done : 0;
		n -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/*
 * A copy: the host's content at the start of the first of the launches that use
 * the home at the same time. The others find it, and what became of it.
 */
static int
put_copy(struct fill *f, const char *path, const struct nsrun_mount *m)
{
	const struct nsrun_identity *who = &f->plan->identity;
	const char *name;
	nsrun_autoclose int dir = open_parent(f->part_fd, path, &name);
	nsrun_autoclose int fd = -1;
	char temp[48];
	uint64_t number;
	struct stat st;
	int rc = 0;

	if (dir < 0 || clear_whiteout(f, dir, name) < 0)
		return fail(f, "open", path);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISDIR(st.st_mode))
			return in_the_way(f, path);
		if (!f->keep->first && S_ISREG(st.st_mode))
			return 0;
	}
	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return fail(f, "getrandom", path);
	snprintf(temp, sizeof temp, ".oc-nsrun-%016llx",
	    (unsigned long long)number);
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(f, "create", path);
	if (write_all(fd, m->data, m->n_data) < 0 ||
	    fchown(fd, who->host_uid, who->host_gid) < 0)
		rc = fail(f, "write", path);
	else if (f->keep->first ? renameat(dir, temp, dir, name) < 0 :
	    /* Who came after us may be as far as we are. */
	    linkat(dir, temp, dir, name, 0) < 0 && errno != EEXIST)
		rc = fail(f, "rename", path);
	if (rc < 0 || !f->keep->first)
		unlinkat(dir, temp, 0);
	return rc;
}

/* Does an earlier entry cover the place? Then it is not the home's. */
static bool
is_covered(const struct fill *f, size_t i)
{
	const struct nsrun_mount *v = f->plan->mounts.v;

	for (size_t k = (size_t)(f->home - v) + 1; k < i; k++)
		if (v[k].kind != NSRUN_MOUNT_DIR &&
		    v[k].kind != NSRUN_MOUNT_PIN &&
		    nsrun_path_is_within(v[i].target, v[k].target))
			return true;
	return false;
}

static int
make_place(struct fill *f, size_t i)
{
	const struct nsrun_mount *m = &f->plan->mounts.v[i];
	const char *path = m->target + strlen(f->home->target) + 1;

	if (make_parents(f, path) < 0)
		return -1;
	if (m->kind == NSRUN_MOUNT_FILE)
		return put_copy(f, path, m);
	if (m->kind == NSRUN_MOUNT_BIND && S_ISREG(m->type))
		return make_stub(f, path);
	return make_dir(f, path);
}

static int
make_places(struct fill *f)
{
	const struct nsrun_mounts *mounts = &f->plan->mounts;

	for (size_t i = (size_t)(f->home - mounts->v) + 1; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];

		if (!nsrun_path_is_within(m->target, f->home->target) ||
		    !strcmp(m->target, f->home->target) || is_covered(f, i))
			continue;
		if ((m->kind == NSRUN_MOUNT_DIR ||
		    m->kind == NSRUN_MOUNT_FILE ||
		    m->kind == NSRUN_MOUNT_BIND) && make_place(f, i) < 0)
			return -1;
	}
	return 0;
}

/*
 * What is kept belongs to the one layer that it was written over: over another
 * it would be a mixture that nobody ever saw.
 */
static int
check_layer(const struct fill *f)
{
	const char *path = f->home->layers[0];
	nsrun_autoclose int fd = openat(f->keep->item.fd, "layer",
	    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	char was[PATH_MAX];
	ssize_t n = fd < 0 ? -1 : read(fd, was, sizeof was - 1);

	if (n < 0)
		return fail(f, "open", "layer");
	was[n] = '\0';
	if (n == 0)
		return write_all(fd, path, strlen(path)) < 0 ?
		    fail(f, "write", "layer") : 0;
	return strcmp(was, path) == 0 ? 0 : nsrun_err_rule(f->err,
	    NSRUN_STEP_HOME, "another directory is beneath what is kept under"
	    " this name", f->keep->item.name, was);
}

/* The two directories of an overlay; *fd is the first one. */
static int
make_both(struct fill *f, int over, int *fd)
{
	static const char *const names[] = { "work", "upper" };
	const struct nsrun_identity *who = &f->plan->identity;

	for (int i = 0; i < 2; i++) {
		if (mkdirat(over, names[i], 0700) < 0 && errno != EEXIST)
			return fail(f, "mkdir", names[i]);
		nsrun_fd_close(fd);
		*fd = openat(over, names[i], O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		if (*fd < 0)
			return fail(f, "open", names[i]);
		if (fchown(*fd, who->host_uid, who->host_gid) < 0)
			return fail(f, "fchown", names[i]);
	}
	return 0;
}

/* Give the item's part to who the command is, and open what is to be filled. */
static int
open_part(struct fill *f, const char *part)
{
	const struct nsrun_identity *who = &f->plan->identity;
	bool overlay = f->home->kind == NSRUN_MOUNT_OVERLAY;
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (nsrun_store_make_part(&f->keep->item, part, who->host_uid,
	    who->host_gid, f->err) < 0)
		return -1;
	fd = openat(f->keep->item.fd, part, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(f, "open", part);
	if (!overlay) {
		f->part_fd = nsrun_fd_take(&fd);
		return 0;
	}
	f->layer_fd = f->home->pin.fd;
	if (check_layer(f) < 0 || make_both(f, fd, &f->part_fd) < 0)
		return -1;
	/* The home itself looks as the one beneath does. */
	if (fstat(f->layer_fd, &st) < 0 ||
	    fchmod(f->part_fd, st.st_mode & 07777) < 0)
		return fail(f, "fchmod", part);
	return 0;
}

static const struct nsrun_mount *
find_home(const struct nsrun_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->mounts.n; i++) {
		const struct nsrun_mount *m = &plan->mounts.v[i];

		if ((m->kind == NSRUN_MOUNT_BIND ||
		    m->kind == NSRUN_MOUNT_OVERLAY) && m->source &&
		    nsrun_path_is_within(m->source, path))
			return m;
	}
	return NULL;
}

int
nsrun_home_fill(struct nsrun_home_keep *keep,
    const struct nsrun_request *request, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	struct fill f = {
		.keep = keep, .plan = plan, .part_fd = -1, .layer_fd = -1,
		.err = err,
	};
	int rc;

	if (keep->item.fd < 0)
		return 0;
	f.home = find_home(plan, keep->item.path);
	if (!f.home)	/* without a sandbox there is none */
		return 0;
	rc = open_part(&f, nsrun_home_part(request)) < 0 ? -1 :
	    make_places(&f);
	/* From a write lock to a read lock: that never waits. */
	if (keep->first)
		nsrun_home_lock(keep, F_RDLCK);
	keep->first = false;
	nsrun_fd_close(&f.part_fd);
	return rc;
}

void
nsrun_home_remove_stubs(struct nsrun_home_keep *keep, const char *dir)
{
	nsrun_autoclose int fd = -1;

	/* Where one is mounted elsewhere, it would go from there, too. */
	if (!nsrun_home_lock(keep, F_WRLCK))
		return;
	fd = open_beneath(keep->item.fd, dir, O_PATH | O_DIRECTORY);
	for (size_t i = 0; fd >= 0 && i < keep->n_stubs; i++) {
		const char *name;
		nsrun_autoclose int at = open_parent(fd, keep->stubs[i],
		    &name);
		struct stat st;

		if (at >= 0 && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) ==
		    0 && S_ISREG(st.st_mode) && st.st_size == 0)
			unlinkat(at, name, 0);
	}
}
