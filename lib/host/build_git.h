/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between build_git.c and build_git_command.c. */
#ifndef NSRUN_HOST_BUILD_GIT_H
#define NSRUN_HOST_BUILD_GIT_H

#include "host/build.h"
#include "host/gitconfig.h"
#include "host/gitview.h"

/* The repository to be read, and no more of it than that takes. */
int nsrun_build_git_minimal(struct nsrun_build *b,
    const struct nsrun_gitview *v);
/* All of it, for git itself: see build_git_command.c. */
int nsrun_build_git_whole(struct nsrun_build *b,
    const struct nsrun_gitview *v);

/* name in dir_fd, which is path, at its own place; nothing where it is not. */
int nsrun_build_git_pinned(struct nsrun_build *b, int dir_fd, const char *name,
    const char *path, unsigned int flags);
/* An empty directory over the one that stands there. */
int nsrun_build_git_empty(struct nsrun_build *b, const char *path);
/* build_git_links.c: what the index names and no mount since then is at. */
int nsrun_build_git_hide_links(struct nsrun_build *b,
    const struct nsrun_gitview *v, size_t n_mounts);
/* The same, all of it, for b->git_links. */
int nsrun_build_git_keep_links(struct nsrun_build *b,
    const struct nsrun_gitview *v);
/* The configuration that we wrote, as a file or over the one that is there. */
int nsrun_build_git_config(struct nsrun_build *b,
    const struct nsrun_gitview *v, enum nsrun_gitconfig_use use,
    enum nsrun_mount_kind kind);
/* The .git of a linked work tree or a submodule, with what it should say. */
int nsrun_build_git_link(struct nsrun_build *b,
    const struct nsrun_gitview *v);
int nsrun_build_git_modules(struct nsrun_build *b,
    const struct nsrun_gitview *v, int (*add)(struct nsrun_build *b,
    const struct nsrun_gitview *module));

/* The repository at a root, as nsrun_gitview_open() has it. */
int nsrun_build_git_open(struct nsrun_build *b, struct nsrun_gitview *view,
    const struct nsrun_granted *root);

#endif
