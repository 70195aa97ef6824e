/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What of a repository is shown, as the profile's word `git` has it. The view
 * that is only read is an allow list: nothing that is not named here is there,
 * whatever the host puts into its own directory later. Where git itself works,
 * its directory is there whole, and of its configuration only what we wrote.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "host/build.h"
#include "host/build_git.h"
#include "host/gitconfig.h"
#include "host/gitview.h"
#include "host/identity.h"

/* Of the directory that a repository's work trees share. */
static const char *const shared_names[] = {
	"HEAD", "objects", "refs", "packed-refs", "reftable", "shallow", "info",
};

/* Of the one that belongs to a work tree: what git status, log, diff need. */
static const char *const own_names[] = {
	"index", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD",
	"rebase-merge", "rebase-apply",
};

/* ... and that a linked one has in addition to the shared ones. */
static const char *const linked_names[] = { "HEAD", "refs", "info" };

#define N_NAMES(names) (sizeof(names) / sizeof *(names))

/* A bind of dir/name where it stands, of the very object that was looked at. */
int
nsrun_build_git_pinned(struct nsrun_build *b, int dir_fd, const char *name,
    const char *path, unsigned int flags)
{
	nsrun_autoclose int fd = openat(dir_fd, name,
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND, .source = path, .target = path,
		.flags = NSRUN_MOUNT_PINNED | NSRUN_MOUNT_EXACT |
		    NSRUN_MOUNT_NOEXEC | flags,
	};
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || nsrun_fd_raise(&fd) < 0 || fstat(fd, &st) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_PROJECT, "open", path,
		    NULL);
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT, "is a link or"
		    " special: git makes a directory or a file", path, NULL);
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT, "has another"
		    " name (hard link): git gives it one", path, NULL);
	m.type = st.st_mode & S_IFMT;
	m.pin = (struct nsrun_pin){
		.dev = st.st_dev, .ino = st.st_ino, .type = m.type,
		.uid = st.st_uid, .gid = st.st_gid, .fd = fd,
	};
	if (nsrun_identity_maps(&b->plan->identity, &m.pin))
		m.flags |= NSRUN_MOUNT_IDMAPPED;
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0)
		return -1;
	(void)nsrun_fd_take(&fd);
	return 0;
}

static int
add_names(struct nsrun_build *b, int dir_fd, const char *dir,
    const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *path = nsrun_build_text(b, "%s/%s", dir, names[i]);

		if (!path || nsrun_build_git_pinned(b, dir_fd, names[i], path,
		    NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE) < 0)
			return -1;
	}
	return 0;
}

/* What a split index is split into. */
static int
add_shared_index(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	int fd = openat(v->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = nsrun_err_sys(b->err, NSRUN_STEP_PROJECT, "opendir",
		    v->dir, NULL);
		nsrun_fd_close(&fd);
		return rc;
	}
	while (rc == 0 && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strncmp(name, "sharedindex.", 12))
			rc = add_names(b, v->dir_fd, v->dir, &name, 1);
	}
	closedir(dir);
	return rc;
}

/* A file of ours: made in what is ours, or over what stands there. */
static int
add_text(struct nsrun_build *b, enum nsrun_mount_kind kind, const char *dir,
    const char *name, const char *text)
{
	struct nsrun_mount m = {
		.kind = kind, .mode = 0444, .data = text,
		.flags = NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_NOEXEC |
		    NSRUN_MOUNT_EXACT,
		.target = nsrun_build_text(b, "%s/%s", dir, name),
	};

	if (!m.target || !text)
		return -1;
	m.n_data = strlen(text);
	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

int
nsrun_build_git_config(struct nsrun_build *b, const struct nsrun_gitview *v,
    enum nsrun_gitconfig_use use, enum nsrun_mount_kind kind)
{
	struct nsrun_gitconfig config;

	if (nsrun_gitconfig_read(&config, &b->plan->arena, v, use, b->host_home,
	    b->err) < 0)
		return -1;
	return add_text(b, kind, v->common, "config", config.text);
}

/* An empty directory over the one that stands there, to be filled. */
int
nsrun_build_git_empty(struct nsrun_build *b, const char *path)
{
	const struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_TMPFS, .target = path, .mode = 0755,
		.flags = NSRUN_MOUNT_EXACT | NSRUN_MOUNT_NOEXEC,
		.size_bytes = 1 << 20, .n_inodes = 65536,
	};

	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

/* The .git of a linked work tree or a submodule, with what it should say. */
int
nsrun_build_git_link(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	return add_text(b, NSRUN_MOUNT_DATA, v->worktree, ".git",
	    nsrun_build_text(b, "gitdir: %s\n", v->dir));
}

static int
add_linked(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (add_names(b, v->dir_fd, v->dir, linked_names,
	    N_NAMES(linked_names)) < 0)
		return -1;
	if (add_text(b, NSRUN_MOUNT_FILE, v->dir, "commondir", "../..\n") < 0)
		return -1;
	return add_text(b, NSRUN_MOUNT_FILE, v->dir, "gitdir",
	    nsrun_build_text(b, "%s/.git\n", v->worktree));
}

/*
 * Sandboxes inside cover the hooks that they find, or would make an absent
 * directory of them here, where nothing can be made: an empty one.
 */
static int
add_hooks(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	const char *path = nsrun_build_text(b, "%s/hooks", v->common);

	return path ? nsrun_build_make(b, NSRUN_MOUNT_DIR, path, 0755) : -1;
}

/* What is to be read of one repository, in a directory that is ours. */
static int
fill(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (b->plan->nesting && add_hooks(b, v) < 0)
		return -1;
	if (nsrun_build_git_config(b, v, NSRUN_GITCONFIG_VIEW,
	    NSRUN_MOUNT_FILE) < 0 ||
	    add_names(b, v->common_fd, v->common, shared_names,
	    N_NAMES(shared_names)) < 0 ||
	    add_names(b, v->dir_fd, v->dir, own_names, N_NAMES(own_names)) <
	    0 || add_shared_index(b, v) < 0)
		return -1;
	if ((v->common != v->dir && add_linked(b, v) < 0) ||
	    nsrun_build_git_keep_links(b, v) < 0)
		return -1;
	return v->is_linked ? nsrun_build_git_link(b, v) : 0;
}

int
nsrun_build_git_modules(struct nsrun_build *b, const struct nsrun_gitview *v,
    int (*add)(struct nsrun_build *b, const struct nsrun_gitview *module))
{
	struct nsrun_gitview *modules;
	size_t n;
	int rc;

	if (!v->worktree)
		return 0;
	rc = nsrun_gitview_modules(&modules, &n, &b->plan->arena, v,
	    v->worktree, b->err);
	for (size_t i = 0; i < n; i++) {
		if (rc == 0)
			rc = add(b, &modules[i]);
		nsrun_gitview_close(&modules[i]);
	}
	return rc;
}

/* The view is mounted over git's directory: no root may be hidden by that. */
static int
check_place(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(b->roots[i].path, v->common) &&
		    (v->worktree || strcmp(b->roots[i].path, v->common)))
			return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT,
			    "is granted, but in a git directory",
			    b->roots[i].path, NULL);
	return 0;
}

int
nsrun_build_git_minimal(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (check_place(b, v) < 0 || nsrun_build_git_empty(b, v->common) < 0 ||
	    fill(b, v) < 0 || nsrun_build_git_modules(b, v, fill) < 0)
		return -1;
	return nsrun_build_add(b, NSRUN_MOUNT_REMOUNT, NSRUN_MOUNT_EXACT, NULL,
	    v->common);
}

/* A name like any other: read-only as it is. */
static int
add_cover(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_COVER, .flags = NSRUN_MOUNT_EXACT,
		.target = v->dir,
	};
	struct stat st;

	/* In an overlay it is another object. */
	if ((b->merged_fd >= 0 ? fstatat(b->merged_fd, ".git", &st,
	    AT_SYMLINK_NOFOLLOW) : fstat(v->dir_fd, &st)) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_PROJECT, "fstat",
		    v->dir, NULL);
	m.pin = (struct nsrun_pin){
		.dev = st.st_dev, .ino = st.st_ino,
		.type = st.st_mode & S_IFMT, .fd = -1,
	};
	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

static int
add_none(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (!v->worktree)
		return 0;	/* the project itself is the repository */
	if (nsrun_build_git_keep_links(b, v) < 0)
		return -1;
	if (v->is_linked)
		return nsrun_build_add(b, NSRUN_MOUNT_MASK, NSRUN_MOUNT_EXACT,
		    NULL, nsrun_build_text(b, "%s/.git", v->worktree));
	if (nsrun_build_git_empty(b, v->dir) < 0)
		return -1;
	return nsrun_build_add(b, NSRUN_MOUNT_REMOUNT, NSRUN_MOUNT_EXACT, NULL,
	    v->dir);
}

/*
 * There is no repository, and none is to be made by the command: a .git of its
 * own making would have hooks and a configuration that the host's git obeys.
 * So the name stays absent: build_masks.c sees to it.
 */
static int
mask_absent(struct nsrun_build *b)
{
	b->lacks_git = true;
	return b->runs_git ? nsrun_err_rule(b->err, NSRUN_STEP_PROJECT,
	    "is no git repository: name the top of a work tree",
	    b->project->path, NULL) : 0;
}

/* By the root's own descriptor, and beneath an overlay: it is not written. */
int
nsrun_build_git_open(struct nsrun_build *b, struct nsrun_gitview *view,
    const struct nsrun_granted *root)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;

	for (size_t i = 0; i < mounts->n; i++)
		if (mounts->v[i].flags & NSRUN_MOUNT_GRANT &&
		    !strcmp(mounts->v[i].target, root->path))
			return nsrun_gitview_open_at(view, &b->plan->arena,
			    root->path, nsrun_build_host_fd(b,
			    &mounts->v[i]), b->err);
	return nsrun_err_rule(b->err, NSRUN_STEP_PLAN,
	    "is a root that is not in the plan", root->path, NULL);
}

/*
 * A root that is written is no bare repository: masks keep what is there, but
 * not a file commondir from being made, which would lead the host's git away.
 */
static int
check_roots(struct nsrun_build *b)
{
	const struct nsrun_mounts *mounts = &b->plan->mounts;

	for (size_t i = 0; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];

		if (!(m->flags & NSRUN_MOUNT_GRANT) || b->runs_git ||
		    m->flags & NSRUN_MOUNT_RDONLY || (b->project &&
		    !strcmp(m->target, b->project->path)))
			continue;
		if (nsrun_gitview_is_bare(m->pin.fd))
			return nsrun_err_rule(b->err, NSRUN_STEP_ROOT,
			    "is a bare repository, and its hooks would be the"
			    " command's: grant it with --ro, or as the project",
			    m->target, NULL);
	}
	return 0;
}

int
nsrun_build_git(struct nsrun_build *b)
{
	struct nsrun_gitview view;
	int rc;

	if (b->profile->git == NSRUN_GIT_UNSAID)
		return 0;
	if (check_roots(b) < 0)
		return -1;
	if (!b->project)
		return 0;
	rc = nsrun_build_git_open(b, &view, b->project);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return mask_absent(b);
	if (b->profile->git == NSRUN_GIT_NONE)
		rc = add_none(b, &view);
	else if (view.is_only_a_name)
		rc = b->runs_git ? mask_absent(b) : add_cover(b, &view);
	else if (b->runs_git)
		rc = nsrun_build_git_whole(b, &view);
	else
		rc = nsrun_build_git_minimal(b, &view);
	b->is_bare = !b->runs_git && !view.is_only_a_name &&
	    !strcmp(view.dir, b->project->path);
	nsrun_gitview_close(&view);
	return rc;
}
