/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Repositories within the work tree. git looks into each that the index names,
 * with a git of its own and the configuration that is there. Where git is the
 * command, one that is not a submodule which was proven is hidden, and git
 * takes it for one that was not checked out. For any other command each is kept
 * as it is, and where there is none yet none is to be made: the host's git
 * would look into it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/build_git.h"
#include "host/gitindex.h"

struct links {
	struct nsrun_build	*b;
	const struct nsrun_gitview *view;
	size_t			n_mounts;	/* when we began */
	int			(*take)(void *to, const char *name);
};

/* One mount a place: a submodule's link has been put there, or we have. */
static bool
is_covered(const struct links *l, const char *path)
{
	const struct nsrun_mounts *mounts = &l->b->plan->mounts;

	for (size_t i = l->n_mounts; i < mounts->n; i++)
		if (!strcmp(mounts->v[i].target, path))
			return true;
	return false;
}

static int
hide(void *to, const char *name)
{
	struct links *l = to;
	struct nsrun_build *b = l->b;
	const char *path = nsrun_build_text(b, "%s/%s/.git",
	    l->view->worktree, name);
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (!path)
		return -1;
	if (!nsrun_path_is_clean(path) || is_covered(l, path))
		return 0;
	fd = sys_openat2(AT_FDCWD, path, O_PATH | O_CLOEXEC | O_NOFOLLOW,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;	/* not there, or not for git either */
	if (S_ISDIR(st.st_mode))
		return nsrun_build_git_empty(b, path);
	return nsrun_build_add(b, NSRUN_MOUNT_MASK, NSRUN_MOUNT_EXACT, NULL,
	    path);
}

static int
keep(void *to, const char *name)
{
	const struct links *l = to;
	struct nsrun_build *b = l->b;
	struct nsrun_words *words = &b->git_links;
	const char **v = nsrun_arena_grow(&b->plan->arena, words->v, words->n,
	    sizeof *v);
	const char *path = nsrun_build_text(b, "%s/%s/.git",
	    l->view->worktree, name);

	if (!v || !path)
		return nsrun_err_nomem(b->err, name);
	words->v = v;
	if (nsrun_path_is_clean(path))
		v[words->n++] = path;
	return 0;
}

static int
read_index(struct links *l, const char *name)
{
	nsrun_autoclose int fd = openat(l->view->dir_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char subject[4096];
	struct stat st;
	void *data;
	int rc;

	snprintf(subject, sizeof subject, "%s/%s", l->view->dir, name);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return nsrun_err_sys(l->b->err, NSRUN_STEP_PROJECT, "open",
		    subject, NULL);
	/* git replaces it and never writes to one that stands there. */
	data = S_ISREG(st.st_mode) && st.st_size > 0 ? mmap(NULL,
	    (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) :
	    MAP_FAILED;
	rc = data == MAP_FAILED ? 1 : nsrun_gitindex_links(data,
	    (size_t)st.st_size, 20, l->take, l);
	if (rc > 0 && data != MAP_FAILED)
		rc = nsrun_gitindex_links(data, (size_t)st.st_size, 32,
		    l->take, l);
	if (data != MAP_FAILED)
		munmap(data, (size_t)st.st_size);
	return rc > 0 ? nsrun_err_rule(l->b->err, NSRUN_STEP_PROJECT,
	    "is no index of git's", subject, NULL) : rc;
}

static int
read_links(struct links *l)
{
	const struct nsrun_gitview *v = l->view;
	int fd = openat(v->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = nsrun_err_sys(l->b->err, NSRUN_STEP_PROJECT, "opendir",
		    v->dir, NULL);
		nsrun_fd_close(&fd);
		return rc;
	}
	while (rc == 0 && v->worktree && (entry = readdir(dir)))
		if (!strcmp(entry->d_name, "index") ||
		    !strncmp(entry->d_name, "sharedindex.", 12))
			rc = read_index(l, entry->d_name);
	closedir(dir);
	return rc;
}

int
nsrun_build_git_hide_links(struct nsrun_build *b,
    const struct nsrun_gitview *v, size_t n_mounts)
{
	return read_links(&(struct links){
		.b = b, .view = v, .n_mounts = n_mounts, .take = hide,
	});
}

int
nsrun_build_git_keep_links(struct nsrun_build *b,
    const struct nsrun_gitview *v)
{
	return read_links(&(struct links){ .b = b, .view = v, .take = keep });
}
