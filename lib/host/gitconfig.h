/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A repository's configuration, read by us and never by git: what git must know
 * to read the repository is written anew, by name, and what names a program, a
 * file or another configuration is left out. Includes are not followed.
 */
#ifndef NSRUN_HOST_GITCONFIG_H
#define NSRUN_HOST_GITCONFIG_H

#include <stdbool.h>

struct nsrun_arena;
struct nsrun_err;
struct nsrun_gitview;

enum nsrun_gitconfig_use {
	NSRUN_GITCONFIG_VIEW,	/* to be read only */
	NSRUN_GITCONFIG_COMMAND,	/* git is to work there: branches,
				   remotes that are local, who commits */
};

struct nsrun_gitconfig {
	const char	*text;		/* the arena's */
	const char	*worktree;	/* core.worktree, or NULL */
};

/*
 * Read the file config of view->common, and config.worktree of view->dir where
 * the extension says so. home: the caller's, whose own name and address are
 * taken for COMMAND; NULL: none.
 */
int nsrun_gitconfig_read(struct nsrun_gitconfig *config,
    struct nsrun_arena *arena, const struct nsrun_gitview *view,
    enum nsrun_gitconfig_use use, const char *home, struct nsrun_err *err);

/*
 * Walk through text as git-config(1) has it: names in lower case, sub NULL
 * where there is none, value NULL for a key alone. Returns 0, the line that is
 * malformed, or -1 for want of memory.
 */
int nsrun_gitconfig_parse(const char *text, void (*take)(void *to,
    const char *section, const char *sub, const char *key, const char *value),
    void *to);

#endif
