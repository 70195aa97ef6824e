/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Submodules. Their git directories stand below modules, at any depth, for a
 * submodule's name may have slashes, and each has modules of its own.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/gitconfig.h"
#include "host/gitview.h"

enum { MAX_DEPTH = 16, MAX_ENTRIES = 4096 };

struct search {
	struct nsrun_gitview	*v;
	size_t			n;
	size_t			n_entries;
	struct nsrun_arena	*arena;
	const char		*within;
	struct nsrun_err	*err;
};

static int walk(struct search *s, int fd, const char *path, int depth);

static int
open_below(int dir_fd, const char *name)
{
	return openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_NONBLOCK | O_CLOEXEC);
}

static bool
is_git_dir(int fd)
{
	struct stat st;

	return fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstatat(fd, "objects", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int
append(struct search *s, struct nsrun_gitview *view)
{
	struct nsrun_gitview *v = nsrun_arena_grow(s->arena, s->v, s->n,
	    sizeof *v);

	if (!v) {
		nsrun_gitview_close(view);
		return nsrun_err_nomem(s->err, view->dir);
	}
	s->v = v;
	v[s->n++] = *view;
	return 0;
}

/* What its core.worktree names, if that is there and in the project. */
static const char *
find_worktree(struct search *s, int fd, const char *dir)
{
	const struct nsrun_gitview view = {
		.dir = dir, .common = dir, .dir_fd = fd, .common_fd = fd,
	};
	struct nsrun_gitconfig config;
	nsrun_autoclose int worktree = -1;
	const char *path;

	if (nsrun_gitconfig_read(&config, s->arena, &view,
	    NSRUN_GITCONFIG_VIEW, NULL, s->err) < 0 || !config.worktree)
		return NULL;
	worktree = sys_openat2(fd, config.worktree, O_PATH | O_DIRECTORY |
	    O_CLOEXEC, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (worktree < 0 || faccessat(worktree, ".git", F_OK,
	    AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	path = nsrun_gitview_path(s->arena, worktree, dir, s->err);
	return path && nsrun_path_is_within(path, s->within) ? path : NULL;
}

static int
add_module(struct search *s, int fd, const char *dir)
{
	const char *path = find_worktree(s, fd, dir);
	struct nsrun_gitview view;

	if (s->err->step != NSRUN_STEP_NONE)
		return -1;
	if (!path)
		return 0;
	if (nsrun_gitview_open(&view, s->arena, path, s->err) < 0)
		return -1;
	if (!view.dir || strcmp(view.dir, dir)) {
		nsrun_gitview_close(&view);
		return nsrun_err_rule(s->err, NSRUN_STEP_PROJECT,
		    "is the work tree of a submodule, but its .git leads"
		    " elsewhere", path, NULL);
	}
	return append(s, &view);
}

static int
visit(struct search *s, int dir_fd, const char *path, const char *name,
    int depth)
{
	nsrun_autoclose int fd = open_below(dir_fd, name);
	const char *dir = nsrun_arena_printf(s->arena, "%s/%s", path, name);
	nsrun_autoclose int modules = -1;

	if (!dir)
		return nsrun_err_nomem(s->err, path);
	if (fd < 0)
		return 0;	/* a file, or not for us */
	if (!is_git_dir(fd))
		return walk(s, fd, dir, depth + 1);
	if (add_module(s, fd, dir) < 0)
		return -1;
	modules = open_below(fd, "modules");
	dir = nsrun_arena_printf(s->arena, "%s/modules", dir);
	if (!dir)
		return nsrun_err_nomem(s->err, path);
	return modules < 0 ? 0 : walk(s, modules, dir, depth + 1);
}

static int
walk(struct search *s, int fd, const char *path, int depth)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		nsrun_fd_close(&copy);
		return nsrun_err_sys(s->err, NSRUN_STEP_PROJECT, "opendir",
		    path, NULL);
	}
	while (rc == 0 && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (depth > MAX_DEPTH || ++s->n_entries > MAX_ENTRIES)
			rc = nsrun_err_rule(s->err, NSRUN_STEP_PROJECT,
			    "has too many submodules, or too deep", path, NULL);
		else
			rc = visit(s, fd, path, entry->d_name, depth);
	}
	closedir(dir);
	return rc;
}

int
nsrun_gitview_modules(struct nsrun_gitview **modules, size_t *n,
    struct nsrun_arena *arena, const struct nsrun_gitview *view,
    const char *within, struct nsrun_err *err)
{
	struct search s = { .arena = arena, .within = within, .err = err };
	nsrun_autoclose int fd = open_below(view->dir_fd, "modules");
	const char *path = nsrun_arena_printf(arena, "%s/modules", view->dir);
	int rc = fd < 0 ? 0 : path ? walk(&s, fd, path, 0) :
	    nsrun_err_nomem(err, view->dir);

	*modules = s.v;
	*n = s.n;
	if (rc == 0)
		return 0;
	for (size_t i = 0; i < s.n; i++)
		nsrun_gitview_close(&s.v[i]);
	*n = 0;
	return -1;
}
