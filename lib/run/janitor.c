/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end is that of pid 1. Without a pid namespace it sees the end of the
 * mount namespace by inotify(7): the tmpfs that is its root is mounted nowhere
 * else, so IN_UNMOUNT comes when the last process is out. Neither a pidfd nor a
 * pipe would tell.
 *
 * A mount point that is removed takes the mount along in every namespace. Two
 * sandboxes may share one, so each janitor holds a shared lock on what its
 * sandbox uses, and who made it removes it under an exclusive one. The lock is
 * on the object itself, which lies beneath the mount where nothing inside can
 * reach it.
 */
#include "run/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apply/prep.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "run/absent.h"
#include "run/run.h"
#include "run/watch.h"

enum { MAX_STUBS = 65536, MAX_TRIES = 8 };

struct stub {
	int	dir_fd;		/* -1: only held */
	int	fd;
	bool	is_link;	/* which nobody shares */
	char	name[256];
};

struct janitor {
	int	socket_fd;
	int	inotify_fd;
	int	report_fd;	/* what happened to masks */
	unsigned int n;
	struct stub *stubs;	/* room for MAX_STUBS, taken as it is used */
	struct nsrun_absents absents;
	struct nsrun_watch watch;
};

/* Everything is by way of /proc/self/fd: what comes is O_PATH. */
static int
reopen(int fd, int flags)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";

	nsrun_fd_path(path + sizeof "/proc/" - 1, fd);
	return open(path, flags | O_CLOEXEC);
}

static int
watch_root(struct janitor *j, int fd)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";
	int rc;

	nsrun_fd_path(path + sizeof "/proc/" - 1, fd);
	j->inotify_fd = inotify_init1(IN_CLOEXEC);
	if (j->inotify_fd >= 0 && inotify_add_watch(j->inotify_fd, path,
	    IN_DELETE_SELF) >= 0)
		return 0;
	rc = errno;
	/* Without a watch it would be waited on for ever. */
	nsrun_fd_close(&j->inotify_fd);
	return rc;
}

static int
make(struct janitor *j, int *dir, const struct nsrun_stub_request *request)
{
	struct stub *stub = &j->stubs[j->n];
	bool is_link = S_ISLNK(request->mode);
	int rc = S_ISDIR(request->mode) ?
	    mkdirat(*dir, request->name, request->mode & 07777) : is_link ?
	    symlinkat(request->text, *dir, request->name) :
	    mknodat(*dir, request->name, request->mode, 0);

	if (rc < 0)
		return errno;
	memcpy(stub->name, request->name, sizeof stub->name);
	stub->is_link = is_link;
	stub->fd = openat(*dir, request->name, O_NOFOLLOW | O_CLOEXEC |
	    (is_link ? O_PATH : O_RDONLY | O_NONBLOCK));
	if (stub->fd < 0 || (!is_link && flock(stub->fd, LOCK_SH) < 0)) {
		rc = errno;
		nsrun_fd_close(&stub->fd);
		unlinkat(*dir, request->name, S_ISDIR(request->mode) ?
		    AT_REMOVEDIR : 0);
		return rc;
	}
	stub->dir_fd = nsrun_fd_take(dir);
	j->n++;
	return 0;
}

static int
hold(struct janitor *j, int fd)
{
	struct stub *stub = &j->stubs[j->n];
	struct stat st;

	stub->dir_fd = -1;
	stub->fd = reopen(fd, O_RDONLY | O_NONBLOCK);
	if (stub->fd < 0)
		return errno;
	j->n++;
	if (flock(stub->fd, LOCK_SH) < 0 || fstat(stub->fd, &st) < 0)
		return errno;
	/* Its janitor was faster; a directory keeps two links to the end. */
	return st.st_nlink == 0 ? ESTALE : 0;
}

static int
take(int *to, int *fd)
{
	nsrun_fd_close(to);
	*to = nsrun_fd_take(fd);
	return 0;
}

static int
add_tree(struct nsrun_watch *w, size_t mount, int *fd)
{
	if (w->n_trees == NSRUN_WATCH_TREES || mount >= w->plan->mounts.n)
		return E2BIG;
	w->trees[w->n_trees++] = (struct nsrun_watch_tree){
		.mount = mount, .fd = nsrun_fd_take(fd),
	};
	return 0;
}

static int
serve(struct janitor *j, struct nsrun_stub_request *request, int *fd)
{
	if (request->what == NSRUN_STUB_ROOT)
		return watch_root(j, *fd);
	if (request->what == NSRUN_STUB_INIT)
		return take(&j->watch.init_fd, fd);
	if ((j->inotify_fd < 0 && j->watch.init_fd < 0) ||
	    memchr(request->name, '/', sizeof request->name) ||
	    !memchr(request->name, '\0', sizeof request->name) ||
	    !memchr(request->text, '\0', sizeof request->text))
		return EINVAL;
	if (request->what == NSRUN_STUB_USER)
		return take(&j->watch.user_fd, fd);
	if (request->what == NSRUN_STUB_MOUNTS)
		return take(&j->watch.mounts_fd, fd);
	if (request->what == NSRUN_STUB_MASKS)
		return take(&j->watch.masks_fd, fd);
	if (request->what == NSRUN_STUB_TREE)
		return add_tree(&j->watch, request->mount, fd);
	if (request->what == NSRUN_STUB_ABSENT)
		return nsrun_absents_make(&j->absents, &request->mount,
		    request->end, fd);
	if (j->n == MAX_STUBS)
		return E2BIG;
	return request->what == NSRUN_STUB_MAKE ? make(j, fd, request) :
	    hold(j, *fd);
}

/* One request and its descriptor; false: there will be no more. */
static bool
answer(struct janitor *j)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct nsrun_stub_request request = { .mount = 0 };
	struct iovec iov = { &request, sizeof request };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(j->socket_fd, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	struct nsrun_stub_answer answer = { .errnum = EINVAL };
	nsrun_autoclose int fd = -1;

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	if (n == sizeof request && fd >= 0)
		answer.errnum = serve(j, &request, &fd);
	else if (msg.msg_flags & MSG_CTRUNC)
		answer.errnum = EMFILE;
	answer.mount = request.mount;
	return send(j->socket_fd, &answer, sizeof answer, MSG_NOSIGNAL) ==
	    sizeof answer;
}

/* Still what we made, and still empty? Then it goes. */
static void
clear(const struct stub *stub)
{
	struct stat made, now;

	if (fstat(stub->fd, &made) < 0 || fstatat(stub->dir_fd, stub->name,
	    &now, AT_SYMLINK_NOFOLLOW) < 0 || made.st_dev != now.st_dev ||
	    made.st_ino != now.st_ino)
		return;
	if (S_ISDIR(now.st_mode))
		unlinkat(stub->dir_fd, stub->name, AT_REMOVEDIR);
	else if ((stub->is_link || now.st_size == 0) && now.st_nlink == 1)
		unlinkat(stub->dir_fd, stub->name, 0);
}

/* Clear what nobody else holds, the inner before the outer; is there more? */
static bool
clear_free(struct janitor *j, int lock)
{
	bool more = false;

	for (unsigned int i = j->n; i-- > 0; ) {
		struct stub *stub = &j->stubs[i];

		if (stub->fd < 0)
			continue;
		if (stub->dir_fd >= 0 && !stub->is_link &&
		    flock(stub->fd, lock) < 0) {
			more = true;
			continue;
		}
		if (stub->dir_fd >= 0)
			clear(stub);
		nsrun_fd_close(&stub->fd);
	}
	return more;
}

/*
 * For other sandboxes a process waits that nobody waits for: the end of ours
 * is known now.
 */
static void
clear_all(struct janitor *j)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };

	if (clear_free(j, LOCK_EX | LOCK_NB) && sys_clone3(&args) <= 0)
		clear_free(j, LOCK_EX);
}

/* Two descriptors a mount point: as many as we may have. */
static int
make_room(struct janitor *j)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/* By the kernel: another thread may have held malloc(3)'s lock. */
	j->stubs = mmap(NULL, MAX_STUBS * sizeof *j->stubs,
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);
	return j->stubs == MAP_FAILED ? -1 : 0;
}

/* Until nobody is inside any more. */
static void
wait_for_end(struct janitor *j)
{
	char event[sizeof(struct inotify_event) + 256];

	if (j->watch.init_fd >= 0) {
		nsrun_watch_start(&j->watch);
		nsrun_watch_until_end(&j->watch);
		return;
	}
	/* Too early, what is still mounted on would be left. */
	for (int tries = 0; j->inotify_fd >= 0 && tries < MAX_TRIES &&
	    read(j->inotify_fd, event, sizeof event) < 0; tries++)
		continue;
}

static _Noreturn void
janitor(const struct nsrun_plan *plan, int socket_fd, int report_fd)
{
	/* Not on the stack of a thread: too large for some. */
	static struct janitor j;
	int keep[] = { socket_fd, report_fd }, null;
	sigset_t all;

	/* Nothing of the caller's: no session, no directory, no descriptor. */
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	umask(0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			close(i);
	j.socket_fd = socket_fd;
	j.inotify_fd = -1;
	nsrun_watch_init(&j.watch, plan, &j.absents);
	j.report_fd = report_fd;
	if (keep[0] > keep[1]) {
		keep[0] = report_fd;
		keep[1] = socket_fd;
	}
	if (chdir("/") < 0 || nsrun_fd_close_others(keep, 2) < 0 ||
	    make_room(&j) < 0 ||
	    nsrun_absents_init(&j.absents, plan) != 0)
		_exit(1);
	while (answer(&j))
		continue;
	nsrun_fd_close(&j.socket_fd);
	wait_for_end(&j);
	/* With its mounts it would be seen what is on the names, not them. */
	nsrun_fd_close(&j.watch.mounts_fd);
	nsrun_absents_clear(&j.absents, j.report_fd);
	nsrun_watch_report(&j.watch, j.report_fd);
	clear_all(&j);
	_exit(0);
}

int
nsrun_janitor_start(struct nsrun_run *run, int socket_fd,
    struct nsrun_err *err)
{
	/* Nobody's child: it is not waited for, and outlives us. */
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&run->janitor_fd,
	};
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    nsrun_fd_raise(&report[0]) < 0 || nsrun_fd_raise(&report[1]) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "pipe2",
		    "janitor", NULL);
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		janitor(run->plan, socket_fd, report[1]);
	if (pid < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "clone3", "janitor",
		    NULL);
	nsrun_fd_close(&report[1]);
	run->report_fd = report[0];
	return pid < 0 ? -1 : 0;
}

void
nsrun_run_wait_janitor(const struct nsrun_run *run)
{
	struct pollfd fds = { run->janitor_fd, POLLIN, 0 };
	int patience_ms = 5000;

	if (run->janitor_fd < 0)
		return;
	/* Without a pid namespace nobody knows who else is inside. */
	if (!(run->plan->namespaces & CLONE_NEWPID))
		patience_ms = 200;
	else if (run->plan->process.lingers && run->reported &&
	    !run->report.alone)
		return;
	while (poll(&fds, 1, patience_ms) < 0 && errno == EINTR)
		continue;
}

const char *
nsrun_run_violation(const struct nsrun_run *run, struct nsrun_violation *v)
{
	ssize_t n = -1;

	if (run->report_fd >= 0)
		do
			n = read(run->report_fd, v, sizeof *v);
		while (n < 0 && errno == EINTR);
	return n != sizeof *v || v->mount >= run->plan->mounts.n ? NULL :
	    run->plan->mounts.v[v->mount].target;
}
