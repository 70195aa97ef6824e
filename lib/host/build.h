/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Building: a profile and a request, measured against the host, become a plan.
 * Reads the host, changes nothing. The pieces, in the order of the tree:
 */
#ifndef NSRUN_HOST_BUILD_H
#define NSRUN_HOST_BUILD_H

#include "base/overlay_mount.h"
#include "host/gitargs.h"
#include "host/profile.h"
#include "host/request.h"
#include "host/roots.h"
#include "host/session.h"
#include "plan/plan.h"

struct nsrun_build_trees;

struct nsrun_build {
	struct nsrun_plan		*plan;
	const struct nsrun_profile	*profile;
	const struct nsrun_request	*request;
	const struct nsrun_session	*session;
	struct nsrun_session		*own_session;	/* of this launch */
	const char			*home;		/* inside */
	const char			*host_home;	/* NULL: none */
	const char			*user, *shell;
	const struct nsrun_granted	*project;	/* NULL: none */
	const char			*overlay;	/* what it is written
							   to; NULL: itself */
	struct nsrun_overlay_maker	overlay_maker;	/* or none */
	int				lower_fd;	/* itself, then; -1:
							   as project->pin */
	int				merged_fd;	/* as it will be seen;
							   the plan's; -1 */
	struct nsrun_granted		*roots;		/* shallow first */
	size_t				n_roots;
	bool				runs_git;	/* and nothing else */
	bool				lacks_git;	/* nor gets one */
	bool				is_bare;	/* wholly covered */
	struct nsrun_gitargs		git;
	const char			*git_trusts;	/* a configuration */
	const char			**git_objects;	/* directories: git
							   adds and unlinks */
	size_t				n_git_objects;
	struct nsrun_words		git_links;	/* where the index has
							   repositories */
	struct nsrun_build_trees	*trees;		/* that are writable */
	struct nsrun_words		toolchains;	/* that are shown */
	const char			*home_layer;	/* beneath it; NULL */
	int				layer_fd;	/* its; borrowed */
	int				home_fd;	/* a kept one; borrowed;
							   or -1 */
	struct nsrun_err		*err;
};

/* build.c: nsrun_plan_new(), of a kept session; NULL: of one of its own. */
int nsrun_build_plan(struct nsrun_plan **plan,
    const struct nsrun_session *session, const struct nsrun_request *request,
    struct nsrun_err *err);

/* build_system.c: /usr, its links, /dev, /proc, what is private. */
int nsrun_build_system(struct nsrun_build *b);
int nsrun_build_private(struct nsrun_build *b);
int nsrun_build_devices(struct nsrun_build *b);
int nsrun_build_proc(struct nsrun_build *b);
/* build_home.c: the home, empty or not. */
int nsrun_build_home(struct nsrun_build *b);
/* Is the caller's mask one of the home's, which that hides itself? */
bool nsrun_build_home_hides(const struct nsrun_build *b, const char *mask);
/* Could something be mounted at path, which is in the home? */
bool nsrun_build_home_has_room(const struct nsrun_build *b, const char *path);
/* home_hidden.c: names in the home's layer that are not to be shown, in order,
 * NULL at the end; NULL: an error. */
const char *const *nsrun_build_hidden(struct nsrun_build *b);
/* As the layer has it: rel, relative to it, without links on the way; NULL:
 * it leads out, or is not there. The last name may be a link. */
const char *nsrun_build_in_layer(struct nsrun_build *b, const char *rel);
/* build_etc.c: a synthetic /etc. */
int nsrun_build_etc(struct nsrun_build *b);
/* toolchain.c: those of the home, and where variables say. */
int nsrun_build_toolchains(struct nsrun_build *b);
/* build_overlay.c: the project becomes one, and from nsrun_build_overlay_take()
 * on is that; its entry. */
int nsrun_build_overlay(struct nsrun_build *b);
int nsrun_build_overlay_take(struct nsrun_build *b);
int nsrun_build_overlay_root(struct nsrun_build *b, struct nsrun_granted *root);
/* What of a tree is the host's own, also beneath the overlay; borrowed. */
int nsrun_build_host_fd(const struct nsrun_build *b,
    const struct nsrun_mount *m);
/* build_roots.c: the granted roots and controls. */
int nsrun_build_open_roots(struct nsrun_build *b);
int nsrun_build_roots(struct nsrun_build *b);
/* build_masks.c: what in them is not the command's. */
int nsrun_build_masks(struct nsrun_build *b);
int nsrun_build_cwd(struct nsrun_build *b);
/* build_cgroup.c: what of its limits a cgroup keeps; after the roots. */
int nsrun_build_cgroup(struct nsrun_build *b);
/*
 * build_scan.c: what writable roots hold. They are walked before the masks,
 * which want to know of repositories, and judged when the rest of the tree
 * stands.
 */
int nsrun_build_walk(struct nsrun_build *b);
/* What of them is called .git, and how the command meets it so far. */
int nsrun_build_each_git(const struct nsrun_build *b, int (*take)(void *to,
    const char *path, enum nsrun_exposure exposure), void *to);
int nsrun_build_scan(struct nsrun_build *b);
void nsrun_build_walk_deinit(struct nsrun_build *b);

/* build_git_command.c: is the command git itself? Before the roots. */
int nsrun_build_git_command(struct nsrun_build *b);
/* build_git.c: the project's repository, after the roots. */
int nsrun_build_git(struct nsrun_build *b);

/* Append one entry; source and target may be the same. */
int nsrun_build_add(struct nsrun_build *b, enum nsrun_mount_kind kind,
    unsigned int flags, const char *source, const char *target);
/* A bind at its own path, of what is known to be of that type. */
int nsrun_build_bind(struct nsrun_build *b, unsigned int flags,
    const char *path, mode_t type);
/* The same with a mode, for what is made. */
int nsrun_build_make(struct nsrun_build *b, enum nsrun_mount_kind kind,
    const char *target, mode_t mode);
/* A string that lives as long as the plan; NULL and err set: no memory. */
const char *nsrun_build_text(struct nsrun_build *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
