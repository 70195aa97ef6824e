/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the command is git itself. It needs its directory whole, to make locks
 * and rename them, so what a repository could make it run is kept from it three
 * times: the configuration that it finds is ours; a repository that is not one
 * of those we looked at is somebody else's to it; and there is nothing to run:
 * no shell, no program but git, nothing that may be executed in any root.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "host/build_git.h"

/* Who commits, and when, is the caller's to say. */
static const char *const passed_on[] = {
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE",
	"GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE",
};

static const struct {
	const char *name, *value;
} set[] = {
	{ "GIT_CONFIG_NOSYSTEM", "1" },
	{ "GIT_CONFIG_SYSTEM", "/dev/null" },
	{ "GIT_CONFIG_GLOBAL", "/etc/gitconfig" },	/* ours, see below */
	{ "GIT_ATTR_NOSYSTEM", "1" },
	/* Then only safe.directory makes a repository one's own. */
	{ "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1" },
	{ "GIT_ALLOW_PROTOCOL", "file" },
	{ "GIT_NO_LAZY_FETCH", "1" },
	{ "GIT_TERMINAL_PROMPT", "0" },
	{ "GIT_OPTIONAL_LOCKS", "0" },
	/* These two words mean that there is none. */
	{ "GIT_PAGER", "cat" },
	{ "GIT_EDITOR", ":" },
	{ "GIT_SEQUENCE_EDITOR", ":" },
};

int
nsrun_build_git_command(struct nsrun_build *b)
{
	if (b->profile->git != NSRUN_GIT_WORKTREE)
		return 0;
	b->runs_git = true;
	if (!b->request->project)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION, "is needed:"
		    " git works in a project", "--project", NULL);
	return nsrun_gitargs_check(&b->git, b->request->argv, b->err);
}

static int
set_env(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		if (nsrun_plan_set_env(b->plan, set[i].name, set[i].value,
		    b->err) < 0)
			return -1;
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
		const char *value = getenv(passed_on[i]);

		if (value && nsrun_plan_set_env(b->plan, passed_on[i], value,
		    b->err) < 0)
			return -1;
	}
	/* Said, and not found: what lies on the way up is not asked. */
	if (nsrun_plan_set_env(b->plan, "GIT_DIR", v->dir, b->err) < 0)
		return -1;
	return v->worktree ? nsrun_plan_set_env(b->plan, "GIT_WORK_TREE",
	    v->worktree, b->err) : 0;
}

/* git's own configuration, which a repository cannot answer for. */
static int
trust(struct nsrun_build *b, const char *path)
{
	const char *text = b->git_trusts ? b->git_trusts : "[core]\n"
	    "\thooksPath = /dev/null\n\tfsmonitor = false\n[safe]\n"
	    "\tbareRepository = explicit\n";
	char *quoted = nsrun_arena_alloc(&b->plan->arena, 2 * strlen(path) + 1);
	char *to = quoted;

	if (!quoted)
		return nsrun_err_nomem(b->err, path);
	for (const char *s = path; *s; s++) {
		/* The name would say something else to git. */
		if ((unsigned char)*s < ' ')
			return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT,
			    "has a control character in its name", path, NULL);
		if (*s == '"' || *s == '\\')
			*to++ = '\\';
		*to++ = *s;
	}
	b->git_trusts = nsrun_arena_printf(&b->plan->arena,
	    "%s\tdirectory = \"%s\"\n", text, quoted);
	return b->git_trusts ? 0 : nsrun_err_nomem(b->err, path);
}

/* Clones on one file system share objects, which git never writes to again. */
static int
add_objects(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	const char **dirs = nsrun_arena_grow(&b->plan->arena, b->git_objects,
	    b->n_git_objects, sizeof *dirs);

	if (!dirs)
		return nsrun_err_nomem(b->err, v->common);
	b->git_objects = dirs;
	dirs[b->n_git_objects] = nsrun_build_text(b, "%s/objects", v->common);
	return dirs[b->n_git_objects++] ? 0 : -1;
}

static int
trust_view(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (v->worktree && trust(b, v->worktree) < 0)
		return -1;
	return trust(b, v->dir);
}

/* Of a submodule git reads the state, for the status of what contains it. */
static int
add_module(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	if (trust_view(b, v) < 0 || add_objects(b, v) < 0 ||
	    nsrun_build_git_config(b, v, NSRUN_GITCONFIG_COMMAND,
	    NSRUN_MOUNT_DATA) < 0)
		return -1;
	return nsrun_build_git_link(b, v);
}

/* A repository that is fetched from: the other roots, where they are one. */
static int
add_remotes(struct nsrun_build *b)
{
	for (size_t i = 0; i < b->n_roots; i++) {
		struct nsrun_gitview view;
		int rc;

		if (b->roots[i].path == b->project->path ||
		    b->roots[i].writable)
			continue;
		rc = nsrun_build_git_open(b, &view, &b->roots[i]);
		if (rc > 0 && !view.is_only_a_name &&
		    (nsrun_build_git_minimal(b, &view) < 0 ||
		    trust_view(b, &view) < 0))
			rc = -1;
		if (rc > 0)
			nsrun_gitview_close(&view);
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int
add_own_config(struct nsrun_build *b)
{
	const struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_FILE, .target = "/etc/gitconfig",
		.mode = 0444, .data = b->git_trusts,
		.n_data = strlen(b->git_trusts),
	};

	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

/* A linked work tree has submodules of its own, and not those of the main. */
static int
keep_modules(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	const char *path = nsrun_build_text(b, "%s/modules", v->common);

	if (!path)
		return -1;
	return v->common == v->dir ? 0 : nsrun_build_git_pinned(b,
	    v->common_fd, "modules", path, NSRUN_MOUNT_RDONLY |
	    NSRUN_MOUNT_RECURSIVE);
}

static int
check_whole(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	struct stat st;

	if (fstatat(v->common_fd, "config", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode))
		return nsrun_gitview_check_others(v, &b->plan->arena, b->err);
	return nsrun_err_rule(b->err, NSRUN_STEP_PROJECT, "has no file config,"
	    " and none is to be made: git init makes one", v->common, NULL);
}

/*
 * Writable when the command writes, as it is on the host but for the
 * configuration; hooks stay where they are, and cannot be executed.
 */
int
nsrun_build_git_whole(struct nsrun_build *b, const struct nsrun_gitview *v)
{
	unsigned int flags = b->git.writes ? 0 : NSRUN_MOUNT_RDONLY |
	    NSRUN_MOUNT_RECURSIVE;
	size_t n = b->plan->mounts.n;

	if (check_whole(b, v) < 0 || (v->worktree && nsrun_build_git_pinned(b,
	    v->common_fd, ".", v->common, flags) < 0) ||
	    nsrun_build_git_config(b, v, NSRUN_GITCONFIG_COMMAND,
	    NSRUN_MOUNT_DATA) < 0 || trust_view(b, v) < 0 ||
	    add_objects(b, v) < 0 || keep_modules(b, v) < 0 ||
	    nsrun_build_git_modules(b, v, add_module) < 0 ||
	    nsrun_build_git_hide_links(b, v, n) < 0)
		return -1;
	if (b->git.needs_shell && (add_remotes(b) < 0 || nsrun_build_bind(b,
	    NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE, "/bin/sh", S_IFREG) <
	    0))
		return -1;
	if (b->git.writes && !(b->plan->repository = nsrun_build_text(b, "%s",
	    v->common)))
		return -1;
	return set_env(b, v) < 0 ? -1 : add_own_config(b);
}
