/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repositories: where the git directory of a work tree is, by descriptors, with
 * every link that leads there proven from both ends. Nothing in it is believed:
 * a link that does not lead back is an error and nothing of it is shown.
 */
#ifndef NSRUN_HOST_GITVIEW_H
#define NSRUN_HOST_GITVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct nsrun_arena;
struct nsrun_err;

enum nsrun_git {
	NSRUN_GIT_UNSAID,	/* .git is a name like any other */
	NSRUN_GIT_NONE,		/* it is hidden */
	NSRUN_GIT_MINIMAL,	/* HEAD, index, objects, refs, to be read */
	NSRUN_GIT_WORKTREE,	/* the command is git, and works there */
};

struct nsrun_gitview {
	const char	*worktree;	/* NULL: a bare repository */
	const char	*dir;		/* has HEAD and index */
	const char	*common;	/* has objects, refs and config */
	bool		is_linked;	/* .git is a file */
	bool		is_only_a_name;	/* .git is no repository */
	int		dir_fd;		/* O_PATH; -1: none */
	int		common_fd;	/* the same where dir is common */
};

/*
 * What is at path, canonical: 1 and a view whose descriptors are to be closed,
 * 0 for no repository, -1 for a link that is not what it should be.
 */
int nsrun_gitview_open(struct nsrun_gitview *view, struct nsrun_arena *arena,
    const char *path, struct nsrun_err *err);
/* The same of an open directory, which stays the caller's. */
int nsrun_gitview_open_at(struct nsrun_gitview *view, struct nsrun_arena *arena,
    const char *path, int fd, struct nsrun_err *err);
void nsrun_gitview_close(struct nsrun_gitview *view);

/* Would git take this directory itself for a repository? */
bool nsrun_gitview_is_bare(int fd);

/*
 * The submodules whose git directory is below view->dir/modules and whose work
 * tree, which must be below `within`, leads there; the descriptors are to be
 * closed. One whose work tree is not there is left out; one whose work tree
 * leads elsewhere is an error.
 */
int nsrun_gitview_modules(struct nsrun_gitview **modules, size_t *n,
    struct nsrun_arena *arena, const struct nsrun_gitview *view,
    const char *within, struct nsrun_err *err);

/*
 * Does each linked work tree that the repository has belong to it? git goes
 * into others than its own, to say what is checked out and before it removes
 * one.
 */
int nsrun_gitview_check_others(const struct nsrun_gitview *view,
    struct nsrun_arena *arena, struct nsrun_err *err);

/* The arena's canonical path of an open directory; NULL: it has none. */
const char *nsrun_gitview_path(struct nsrun_arena *arena, int fd,
    const char *where, struct nsrun_err *err);

#endif
