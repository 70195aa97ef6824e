/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mount points in the host's own directories. The janitor, a process outside
 * that outlives all of us, makes each at our request, so there is no moment at
 * which one exists and nobody would remove it; see run/janitor.c.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

enum { YOUNG_S = 10 };

/*
 * An answer that was not heard leaves the next one to the wrong question, so
 * that is the end of asking: ECANCELED, and the launch fails.
 */
static int
ask_about(struct nsrun_child *child, const struct nsrun_stub_request *request,
    int fd, size_t *mount)
{
	struct nsrun_stub_answer answer;
	ssize_t n = -1;

	if (child->janitor_fd >= 0 && nsrun_child_pass(child->janitor_fd,
	    request, sizeof *request, fd) == 0)
		do
			n = recv(child->janitor_fd, &answer, sizeof answer, 0);
		while (n < 0 && errno == EINTR);
	if (n != sizeof answer) {
		nsrun_fd_close(&child->janitor_fd);
		child->janitor_fd = NSRUN_NO_JANITOR;
		answer.errnum = ECANCELED;
		answer.mount = *mount;
	}
	*mount = answer.mount;
	errno = answer.errnum;
	return errno ? -1 : 0;
}

static int
ask(struct nsrun_child *child, const struct nsrun_stub_request *request,
    int fd)
{
	size_t mount = 0;

	return ask_about(child, request, fd, &mount);
}

/*
 * Pid 1 of a pid namespace takes everything inside along, so its end is the
 * end. Without one it is that of the mounts.
 */
static int
tell_of_end(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	struct nsrun_stub_request request = { .what = NSRUN_STUB_ROOT };
	nsrun_autoclose int init = -1;

	if (!(prep->plan->namespaces & CLONE_NEWPID))
		return ask(child, &request, child->base_fd);
	init = sys_pidfd_open(getpid());
	request.what = NSRUN_STUB_INIT;
	return init < 0 ? -1 : ask(child, &request, init);
}

/* Have one started, the first time. */
static int
need_janitor(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	const struct nsrun_message message = { .kind = NSRUN_MESSAGE_JANITOR };
	int ends[2], rc;

	if (child->janitor_fd >= 0)
		return 0;
	if (child->janitor_fd == NSRUN_NO_JANITOR) {
		errno = ECANCELED;
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	child->janitor_fd = ends[0];
	rc = nsrun_child_pass(prep->channel_fd, &message, sizeof message,
	    ends[1]);
	nsrun_fd_close(&ends[1]);
	if (rc < 0 || nsrun_child_wait(prep) < 0)
		return -1;
	return tell_of_end(prep, child);
}

/* A read-only place says more than whose it is, and mkdir(2) says it first. */
static int
why_not(int dir)
{
	int saved = errno;
	struct statfs fs;

	errno = fstatfs(dir, &fs) == 0 && fs.f_flags & ST_RDONLY ? EROFS :
	    saved;
	return -1;
}

/* Roots that are written, as they are seen inside. */
static int
tell_of_trees(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;

	for (size_t i = 0; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];
		const struct nsrun_stub_request request = {
			.what = NSRUN_STUB_TREE, .mount = i,
		};
		nsrun_autoclose int fd = -1;

		if (m->kind != NSRUN_MOUNT_BIND || m->flags &
		    NSRUN_MOUNT_RDONLY || !(m->flags & NSRUN_MOUNT_GRANT))
			continue;
		fd = nsrun_target_open(child, m);
		if (fd < 0 || ask(child, &request, fd) < 0)
			return -1;
	}
	return 0;
}

/*
 * It is told before anything is made. The user namespace owns our mounts: who
 * enters both can mount a mask again.
 */
int
nsrun_stub_watch(const struct nsrun_prep *prep, struct nsrun_child *child)
{
	struct nsrun_stub_request request = { .what = NSRUN_STUB_MOUNTS };
	nsrun_autoclose int user = -1, mounts = -1;

	if (child->is_watched)
		return 0;
	user = openat(prep->proc_fd, "self/ns/user", O_RDONLY | O_CLOEXEC);
	mounts = openat(prep->proc_fd, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (user < 0 || mounts < 0 || need_janitor(prep, child) < 0 ||
	    ask(child, &request, mounts) < 0)
		return -1;
	request.what = NSRUN_STUB_USER;
	if (ask(child, &request, user) < 0)
		return -1;
	request.what = NSRUN_STUB_MASKS;
	if (ask(child, &request, child->masks_fd) < 0 ||
	    tell_of_trees(prep, child) < 0)
		return -1;
	child->is_watched = true;
	return 0;
}

int
nsrun_stub_absent(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, size_t *i, size_t end)
{
	const struct nsrun_stub_request request = {
		.what = NSRUN_STUB_ABSENT, .mount = *i, .end = end,
	};

	return nsrun_stub_watch(prep, child) < 0 ? -1 :
	    ask_about(child, &request, dir, i);
}

static bool
is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	    x.st_ino == y.st_ino;
}

/* Is path at dir, or below? What of path is below; NULL: no. */
static const char *
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return path;
	return !strncmp(path, dir, n) && (path[n] == '/' || !path[n]) ?
	    path + n : NULL;
}

/*
 * The same directory by the host's own tree, which is still there: the mount
 * that we came by may be read-only when the janitor is to remove something.
 * It is child->dir, or that without its last name. -1: not found.
 */
static int
find_outside(const struct nsrun_prep *prep, const struct nsrun_child *child,
    int dir)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;
	char path[2 * PATH_MAX];

	for (size_t i = mounts->n; i-- > 0; ) {
		const struct nsrun_mount *m = &mounts->v[i];
		const char *rest = m->kind == NSRUN_MOUNT_BIND ?
		    below(child->dir, m->target) : NULL;
		size_t n = rest ? strlen(m->source) : 0;

		if (!rest || n + strlen(rest) + 2 > sizeof path)
			continue;
		memcpy(path, m->source, n);
		path[n] = '/';
		memcpy(path + n + 1, rest, strlen(rest) + 1);
		for (int up = 0; up < 2; up++) {
			nsrun_autoclose int fd = open(path, O_PATH |
			    O_DIRECTORY | O_CLOEXEC);

			if (fd >= 0 && is_same(fd, dir))
				return nsrun_fd_take(&fd);
			*strrchr(path, '/') = '\0';
		}
	}
	return -1;
}

static int
make(const struct nsrun_prep *prep, struct nsrun_child *child, int dir,
    const char *name, struct nsrun_stub_request *request)
{
	nsrun_autoclose int outside = -1;
	size_t n = strlen(name);
	struct stat st;

	/* Most are there already, and then nobody need be asked. */
	if (!*name || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	if (errno != ENOENT)
		return -1;
	/* Nor where nothing can be made. */
	if (faccessat(dir, ".", W_OK, AT_EACCESS) < 0)
		return why_not(dir);
	if (n >= sizeof request->name) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(request->name, name, n + 1);
	outside = find_outside(prep, child, dir);
	return need_janitor(prep, child) < 0 ? -1 :
	    ask(child, request, outside >= 0 ? outside : dir);
}

int
nsrun_stub_make(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, const char *name, mode_t mode)
{
	struct nsrun_stub_request request = {
		.what = NSRUN_STUB_MAKE, .mode = mode,
	};

	return make(prep, child, dir, name, &request);
}

int
nsrun_stub_link(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, const char *name, const char *text)
{
	struct nsrun_stub_request request = {
		.what = NSRUN_STUB_MAKE, .mode = S_IFLNK,
	};
	size_t n = strlen(text);

	if (n >= sizeof request.text) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(request.text, text, n + 1);
	return make(prep, child, dir, name, &request);
}

/* More than itself and its parent? Who cannot tell says no. */
static bool
has_entries(int dir)
{
	_Alignas(struct sys_dirent) char buf[1024];
	int n = sys_getdents(dir, buf, sizeof buf), count = 0;

	for (int at = 0; at < n; count++)
		at += ((const struct sys_dirent *)(const void *)
		    (buf + at))->reclen;
	return count > 2;
}

/*
 * An empty file or directory of ours may be the mount point of another sandbox
 * whose janitor waits to remove it, and a mount on a removed name is gone. That
 * janitor holds a lock on it, taken right after it was made; what already has
 * something in it is older than that.
 */
int
nsrun_stub_share(const struct nsrun_prep *prep, struct nsrun_child *child,
    int fd)
{
	const struct nsrun_stub_request request = { .what = NSRUN_STUB_HOLD };
	nsrun_autoclose int file = -1;
	struct timespec now;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	if (st.st_uid != geteuid() ||
	    !(S_ISREG(st.st_mode) ? st.st_size == 0 && (st.st_mode & 07777) ==
	    0444 : S_ISDIR(st.st_mode) && st.st_nlink <= 2))
		return 0;
	file = nsrun_target_reopen(prep, fd, O_RDONLY | O_NONBLOCK);
	if (file < 0)
		return errno == EACCES ? 0 : -1;
	clock_gettime(CLOCK_REALTIME, &now);
	if (flock(file, LOCK_EX | LOCK_NB) == 0 &&
	    (now.tv_sec - st.st_ctim.tv_sec > YOUNG_S ||
	    (S_ISDIR(st.st_mode) && has_entries(file))))
		return 0;
	nsrun_fd_close(&file);
	return need_janitor(prep, child) < 0 ? -1 : ask(child, &request, fd);
}
