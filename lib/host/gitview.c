/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/gitview.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/stub.h"
#include "base/sys.h"
#include "host/gitconfig.h"

enum { MAX_LINK = 4096 };

/* The rule is broken by dir/name, or by dir. */
static int
refuse(const char *rule, const char *dir, const char *name,
    struct nsrun_err *err)
{
	char subject[PATH_MAX + 256];

	snprintf(subject, sizeof subject, "%s%s%s", dir, name ? "/" : "",
	    name ? name : "");
	return nsrun_err_rule(err, NSRUN_STEP_PROJECT, rule, subject, NULL);
}

static int
failed(const char *call, const char *dir, const char *name,
    struct nsrun_err *err)
{
	char subject[PATH_MAX + 256];
	int saved = errno;

	snprintf(subject, sizeof subject, "%s%s%s", dir, name ? "/" : "",
	    name ? name : "");
	errno = saved;
	return nsrun_err_sys(err, NSRUN_STEP_PROJECT, call, subject, NULL);
}

/* A line without control characters; the newline at its end is cut off. */
static bool
cut_line(char *text, size_t size)
{
	if (size > 0 && text[size - 1] == '\n')
		text[--size] = '\0';
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return size > 0;
}

/* A link of git's: a small regular file of one line, which is returned. */
static const char *
read_link(struct nsrun_arena *arena, int dir_fd, const char *name,
    const char *where, struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(dir_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const char *line = NULL;
	struct stat st;
	size_t size;
	char *text;

	if (fd < 0 && errno == ELOOP) {
		refuse("is a symbolic link: git makes a file", where, name,
		    err);
		return NULL;
	}
	if (fd < 0 || fstat(fd, &st) < 0) {
		failed("open", where, name, err);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_LINK) {
		refuse(S_ISREG(st.st_mode) ? "is larger than a link of git's"
		    " (4096 bytes)" : "is no regular file", where, name, err);
		return NULL;
	}
	text = nsrun_file_read_fd(fd, MAX_LINK, &size);
	if (!text)
		failed("read", where, name, err);
	else if (strlen(text) != size || !cut_line(text, size))
		refuse("is not one line with a path in it, as git writes it",
		    where, name, err);
	else if (!(line = nsrun_arena_strdup(arena, text)))
		nsrun_err_nomem(err, where);
	free(text);
	return line;
}

const char *
nsrun_gitview_path(struct nsrun_arena *arena, int fd, const char *where,
    struct nsrun_err *err)
{
	char name[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";
	char path[PATH_MAX];
	struct stat st, named;
	const char *copy;
	ssize_t n;

	nsrun_fd_path(name + sizeof "/proc/" - 1, fd);
	n = readlink(name, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	if (*path != '/' || fstat(fd, &st) < 0 || lstat(path, &named) < 0 ||
	    st.st_dev != named.st_dev || st.st_ino != named.st_ino) {
		refuse("leads to what has no name", where, NULL, err);
		return NULL;
	}
	copy = nsrun_arena_strdup(arena, path);
	if (!copy)
		nsrun_err_nomem(err, where);
	return copy;
}

/* Follow a link of git's, from dir_fd; no symbolic link stands in the way. */
static int
follow(int dir_fd, const char *link, int flags)
{
	int fd = sys_openat2(dir_fd, link, O_PATH | O_CLOEXEC | O_NOFOLLOW |
	    (unsigned int)flags, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	return fd >= 0 && nsrun_fd_raise(&fd) < 0 ? -1 : fd;
}

static bool
is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool
has(int dir_fd, const char *name, mode_t type)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (!type || (st.st_mode & S_IFMT) == type);
}

/* Would git take it for a git directory? With links, which we do not take. */
static bool
seems_git(int fd)
{
	return has(fd, "HEAD", 0) && has(fd, "objects", 0) && has(fd, "refs",
	    0);
}

bool
nsrun_gitview_is_bare(int fd)
{
	return !has(fd, ".git", 0) && seems_git(fd);
}

static int
check_git_dir(int fd, const char *path, struct nsrun_err *err)
{
	static const struct {
		const char *name;
		mode_t type;
	} parts[] = {
		{ "HEAD", S_IFREG }, { "objects", S_IFDIR },
		{ "refs", S_IFDIR },
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (!has(fd, parts[i].name, parts[i].type))
			return refuse(has(fd, parts[i].name, 0) ? "is a link or"
			    " special: git makes a directory or a file" :
			    "is missing, which makes it no git directory",
			    path, parts[i].name, err);
	if (has(fd, "commondir", 0))
		return refuse("sends git elsewhere for its configuration: only"
		    " a linked work tree's has one", path, "commondir", err);
	return 0;
}

/* admin/gitdir names the very .git that we come from. */
static int
check_backlink(const struct nsrun_gitview *view, struct nsrun_arena *arena,
    int file_fd, struct nsrun_err *err)
{
	const char *link = read_link(arena, view->dir_fd,
	    "gitdir", view->dir, err);
	nsrun_autoclose int fd = -1;

	if (!link)
		return -1;
	fd = follow(view->dir_fd, link, 0);
	if (fd < 0 || !is_same(fd, file_fd))
		return refuse("does not lead back to the work tree: run git"
		    " worktree repair, if it was moved", view->dir, "gitdir",
		    err);
	return 0;
}

/* A linked work tree: its directory is common/worktrees/NAME, no other. */
static int
open_linked(struct nsrun_gitview *view, struct nsrun_arena *arena, int file_fd,
    struct nsrun_err *err)
{
	const char *link = read_link(arena, view->dir_fd,
	    "commondir", view->dir, err);
	const char *name = strrchr(view->dir, '/');
	size_t n;

	if (!link)
		return -1;
	view->common_fd = follow(view->dir_fd, link, O_DIRECTORY);
	if (view->common_fd < 0)
		return failed("open", view->dir, "commondir", err);
	view->common = nsrun_gitview_path(arena, view->common_fd, view->dir,
	    err);
	if (!view->common)
		return -1;
	n = strlen(view->common);
	if (strncmp(view->dir, view->common, n) ||
	    strncmp(view->dir + n, "/worktrees/", 11) ||
	    view->dir + n + 10 != name)
		return refuse("leads to a repository that it is no work tree"
		    " of", view->dir, "commondir", err);
	if (check_backlink(view, arena, file_fd, err) < 0)
		return -1;
	return check_git_dir(view->common_fd, view->common, err);
}

/* Does core.worktree of the git directory lead to worktree_fd? 1, 0 or -1. */
static int
leads_back(const struct nsrun_gitview *view, struct nsrun_arena *arena,
    int worktree_fd, struct nsrun_err *err)
{
	struct nsrun_gitconfig config;
	nsrun_autoclose int fd = -1;

	if (nsrun_gitconfig_read(&config, arena, view, NSRUN_GITCONFIG_VIEW,
	    NULL, err) < 0)
		return -1;
	if (!config.worktree)
		return 0;
	fd = follow(view->dir_fd, config.worktree, O_DIRECTORY);
	return fd >= 0 && is_same(fd, worktree_fd);
}

/* A submodule: its git directory's core.worktree is where we come from. */
static int
open_module(struct nsrun_gitview *view, struct nsrun_arena *arena,
    int worktree_fd, struct nsrun_err *err)
{
	int rc;

	if (check_git_dir(view->dir_fd, view->dir, err) < 0)
		return -1;
	rc = leads_back(view, arena, worktree_fd, err);
	if (rc == 0)
		return refuse("leads to a git directory whose core.worktree"
		    " does not lead back", view->worktree, ".git", err);
	return rc < 0 ? -1 : 0;
}

static int
open_file(struct nsrun_gitview *view, struct nsrun_arena *arena,
    int worktree_fd, struct nsrun_err *err)
{
	static const char word[] = "gitdir: ";
	const char *link = read_link(arena, worktree_fd, ".git",
	    view->worktree, err);
	nsrun_autoclose int file_fd = openat(worktree_fd, ".git",
	    O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (!link)
		return -1;
	if (file_fd < 0)
		return failed("open", view->worktree, ".git", err);
	if (strncmp(link, word, sizeof word - 1))
		return refuse("is no \"gitdir: PATH\"", view->worktree, ".git",
		    err);
	view->is_linked = true;
	view->dir_fd = view->common_fd = follow(worktree_fd,
	    link + sizeof word - 1, O_DIRECTORY);
	if (view->dir_fd < 0)
		return failed("open what it names", view->worktree, ".git",
		    err);
	view->dir = view->common = nsrun_gitview_path(arena, view->dir_fd,
	    view->worktree, err);
	if (!view->dir)
		return -1;
	return has(view->dir_fd, "commondir", 0) ?
	    open_linked(view, arena, file_fd, err) :
	    open_module(view, arena, worktree_fd, err);
}

static int
open_dir(struct nsrun_gitview *view, struct nsrun_arena *arena,
    int worktree_fd, struct nsrun_err *err)
{
	view->dir_fd = view->common_fd = follow(worktree_fd, ".git",
	    O_DIRECTORY);
	if (view->dir_fd < 0)
		return failed("open", view->worktree, ".git", err);
	view->dir = view->common = nsrun_arena_printf(arena, "%s/.git",
	    view->worktree);
	return view->dir ? 0 : nsrun_err_nomem(err, view->worktree);
}

/* A link that is a mount: so a sandbox around us shows an absent name. */
static bool
is_masked(int fd, const struct stat *st)
{
	struct sys_statx stx;

	return S_ISLNK(st->st_mode) && sys_statx(fd, ".git",
	    AT_SYMLINK_NOFOLLOW, SYS_STATX_TYPE, &stx) == 0 &&
	    stx.attributes & SYS_STATX_ATTR_MOUNT_ROOT;
}

/* 1: there is something, 0: there is not. */
static int
open_at(struct nsrun_gitview *view, struct nsrun_arena *arena, int fd,
    struct nsrun_err *err)
{
	struct stat st;
	bool there = fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0;

	if (!there && errno != ENOENT)
		return failed("fstatat", view->worktree, ".git", err);
	/* What keeps the name free for another sandbox is nothing. */
	if (!there || nsrun_stub_is_one(&st) || is_masked(fd, &st)) {
		if (!seems_git(fd))
			return 0;
		view->dir = view->common = view->worktree;
		view->worktree = NULL;
		view->dir_fd = view->common_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		return check_git_dir(fd, view->dir, err) < 0 ? -1 : 1;
	}
	if (S_ISREG(st.st_mode))
		return open_file(view, arena, fd, err) < 0 ? -1 : 1;
	if (!S_ISDIR(st.st_mode))
		return refuse("is a link or special: git makes a directory or a"
		    " file", view->worktree, ".git", err);
	if (open_dir(view, arena, fd, err) < 0)
		return -1;
	/* A directory that is no repository of git's is only a name. */
	view->is_only_a_name = !seems_git(view->dir_fd);
	if (view->is_only_a_name)
		return 1;
	return check_git_dir(view->dir_fd, view->dir, err) < 0 ? -1 : 1;
}

static int
check_other(const struct nsrun_gitview *view, struct nsrun_arena *arena,
    int worktrees_fd, const char *name, struct nsrun_err *err)
{
	nsrun_autoclose int fd = follow(worktrees_fd, name, O_DIRECTORY);
	const char *path = nsrun_arena_printf(arena, "%s/worktrees/%s",
	    view->common, name), *link;
	nsrun_autoclose int common = -1;

	if (!path)
		return nsrun_err_nomem(err, view->common);
	if (fd < 0 || !has(fd, "commondir", 0))
		return 0;
	link = read_link(arena, fd, "commondir", path, err);
	if (!link)
		return -1;
	common = follow(fd, link, O_DIRECTORY);
	return common >= 0 && is_same(common, view->common_fd) ? 0 : refuse(
	    "leads to a repository that it is no work tree of", path,
	    "commondir", err);
}

int
nsrun_gitview_check_others(const struct nsrun_gitview *view,
    struct nsrun_arena *arena, struct nsrun_err *err)
{
	int fd = openat(view->common_fd, "worktrees", O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		nsrun_fd_close(&fd);
		return has(view->common_fd, "worktrees", 0) ? refuse("is no"
		    " directory that can be read", view->common, "worktrees",
		    err) : 0;
	}
	while (rc == 0 && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = check_other(view, arena, fd, entry->d_name, err);
	closedir(dir);
	return rc;
}

int
nsrun_gitview_open(struct nsrun_gitview *view, struct nsrun_arena *arena,
    const char *path, struct nsrun_err *err)
{
	nsrun_autoclose int fd = follow(AT_FDCWD, path, O_DIRECTORY);

	if (fd < 0)
		return failed("open", path, NULL, err);
	return nsrun_gitview_open_at(view, arena, path, fd, err);
}

int
nsrun_gitview_open_at(struct nsrun_gitview *view, struct nsrun_arena *arena,
    const char *path, int fd, struct nsrun_err *err)
{
	int rc;

	*view = (struct nsrun_gitview){
		.worktree = path, .dir_fd = -1, .common_fd = -1,
	};
	rc = open_at(view, arena, fd, err);
	if (rc <= 0)
		nsrun_gitview_close(view);
	return rc;
}

void
nsrun_gitview_close(struct nsrun_gitview *view)
{
	if (view->common_fd == view->dir_fd)
		view->common_fd = -1;
	nsrun_fd_close(&view->dir_fd);
	nsrun_fd_close(&view->common_fd);
}
