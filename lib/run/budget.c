/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "plan/plan.h"
#include "run/run.h"

enum { TICK_MS = 50, SHARE = 4, SELDOM = 10, SELDOM_MS = 1000 };

/* What the watcher says; first of all, what there was or why it cannot tell. */
struct word {
	bool		final;
	int		errnum;
	struct nsrun_usage grown;
	char		where[NSRUN_USAGE_WHERE];
};

/* What it is told, with the user namespace: go. */
struct start {
	uint64_t	pid_namespace;
};

struct watcher {
	int		socket_fd;
	struct nsrun_usage_roots roots;
	struct nsrun_usage before, now;
	struct nsrun_usage limit;	/* UINT64_MAX: none */
	struct nsrun_usage ours;	/* mount points for what is to be
					   absent, made while it runs */
	uint64_t	pid_namespace;
	uint64_t	fingerprint;
	int64_t		looked_ms;	/* when, the last time, and how long */
	int64_t		took_ms;
	char		where[NSRUN_USAGE_WHERE];
};

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Who cannot be told must not wait: our end of the socket goes with us. */
static void
say(const struct watcher *w, bool final, int errnum)
{
	struct word word = { .final = final, .errnum = errnum };

	if (errnum)
		memcpy(word.where, w->where, sizeof word.where);
	if (w->now.bytes > w->before.bytes)
		word.grown.bytes = w->now.bytes - w->before.bytes;
	if (w->now.inodes > w->before.inodes)
		word.grown.inodes = w->now.inodes - w->before.inodes;
	if (send(w->socket_fd, &word, sizeof word, MSG_NOSIGNAL) < 0)
		_exit(1);
}

static int
look(struct watcher *w)
{
	int64_t began = now_ms();
	int rc;

	w->fingerprint = nsrun_usage_fingerprint(&w->roots);
	rc = nsrun_usage_measure(&w->roots, &w->now, w->where);
	if (rc == 0 && w->pid_namespace)
		nsrun_usage_add_nameless(&w->roots, w->pid_namespace, &w->now);
	w->looked_ms = now_ms();
	w->took_ms = w->looked_ms - began;
	return rc;
}

static bool
is_over(const struct watcher *w)
{
	return (w->now.bytes > w->before.bytes && w->now.bytes -
	    w->before.bytes > w->limit.bytes) ||
	    (w->now.inodes > w->before.inodes && w->now.inodes -
	    w->before.inodes > w->limit.inodes);
}

/* Not every file system tells of a change before it is on the disk. */
static bool
is_due(const struct watcher *w)
{
	int64_t since = now_ms() - w->looked_ms;

	if (since < SHARE * w->took_ms)
		return false;
	return nsrun_usage_fingerprint(&w->roots) != w->fingerprint ||
	    since >= SELDOM_MS + SELDOM * w->took_ms;
}

/* Wait to be told; false: there is nothing to watch any more. */
static bool
wait_for_start(struct watcher *w)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct start start;
	struct iovec iov = { &start, sizeof start };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	nsrun_autoclose int fd = -1;
	const struct cmsghdr *c;

	if (recvmsg(w->socket_fd, &msg, MSG_CMSG_CLOEXEC) != sizeof start)
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	w->pid_namespace = start.pid_namespace;
	/* Root may look everywhere; if this fails, a closed directory tells. */
	if (geteuid() != 0 && fd >= 0)
		(void)setns(fd, CLONE_NEWUSER);
	return true;
}

/* Until the sandbox is over the budget, or is at its end. */
static void
watch(struct watcher *w)
{
	struct pollfd fds = { w->socket_fd, POLLIN, 0 };

	/* Its end is the end of ours: of the other side of the socket. */
	while (poll(&fds, 1, TICK_MS) <= 0) {
		if (!is_due(w))
			continue;
		if (look(w) < 0) {
			say(w, false, errno);
			break;
		}
		if (is_over(w)) {
			say(w, false, 0);
			break;
		}
	}
	while (poll(&fds, 1, -1) <= 0)
		continue;
	say(w, true, look(w) < 0 ? errno : 0);
}

static int
write_text(const char *path, const char *text)
{
	nsrun_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/* In a new user namespace, as who we are: what is ours opens to us. */
static _Noreturn void
look_as_owner(struct watcher *w, uid_t uid, gid_t gid)
{
	char text[32];

	snprintf(text, sizeof text, "%u %u 1", (unsigned int)uid,
	    (unsigned int)uid);
	if (write_text("/proc/self/uid_map", text) < 0 ||
	    write_text("/proc/self/setgroups", "deny") < 0)
		_exit(1);
	snprintf(text, sizeof text, "%u %u 1", (unsigned int)gid,
	    (unsigned int)gid);
	if (write_text("/proc/self/gid_map", text) < 0 || look(w) < 0)
		_exit(1);
	_exit(0);
}

/*
 * A command of before may have closed a directory to its own owner, in a home
 * that is kept. For what this one does there is the sandbox's user namespace.
 */
static int
take_stock(struct watcher *w)
{
	struct clone_args args = {
		.flags = CLONE_NEWUSER | CLONE_CLEAR_SIGHAND,
	};
	struct watcher *shared;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int status = 1;
	pid_t pid;

	if (look(w) == 0)
		return 0;
	if (errno != EACCES || uid == 0)
		return -1;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return -1;
	*shared = *w;
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		look_as_owner(shared, uid, gid);
	while (pid > 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		continue;
	if (status == 0)
		*w = *shared;
	else if (*shared->where)
		memcpy(w->where, shared->where, sizeof w->where);
	munmap(shared, sizeof *shared);
	errno = EACCES;
	return status == 0 ? 0 : -1;
}

static _Noreturn void
watcher(struct watcher *w)
{
	int keep[NSRUN_USAGE_ROOTS + 1] = { w->socket_fd };
	unsigned int n = 1;
	struct rlimit files;
	sigset_t all;

	sigfillset(&all);
	sys_sigprocmask(SIG_SETMASK, &all, NULL);
	for (unsigned int i = 0; i < w->roots.n; i++) {
		unsigned int at = n++;

		for (; at > 0 && keep[at - 1] > w->roots.v[i].fd; at--)
			keep[at] = keep[at - 1];
		keep[at] = w->roots.v[i].fd;
	}
	/* A descriptor a level: as deep as may be. */
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (nsrun_fd_close_others(keep, n) < 0)
		_exit(1);
	say(w, false, take_stock(w) < 0 ? errno : 0);
	w->before.bytes = w->now.bytes + w->ours.bytes;
	w->before.inodes = w->now.inodes + w->ours.inodes;
	if (wait_for_start(w))
		watch(w);
	_exit(0);
}

/* What it writes there is on the host, and stays. */
static const char *
writable_dir(const struct nsrun_mount *m)
{
	if (m->kind == NSRUN_MOUNT_OVERLAY)
		return m->flags & NSRUN_MOUNT_RDONLY ? NULL : m->source;
	return m->kind == NSRUN_MOUNT_BIND && !(m->flags &
	    (NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_DEVICES)) &&
	    (m->type == S_IFDIR || m->pin.type == S_IFDIR) ? m->source : NULL;
}

/*
 * The very directory that was pinned, where it was. Of an overlay that has both
 * in one place, what is written: the kernel's own part is closed to everybody.
 */
static int
open_dir(const struct nsrun_mount *m, const char *path)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	nsrun_autoclose int both = -1;

	if (m->kind == NSRUN_MOUNT_OVERLAY && !m->work) {
		both = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return both < 0 ? -1 : openat(both, "upper",
		    flags | O_NOFOLLOW);
	}
	return m->kind == NSRUN_MOUNT_BIND && m->flags & NSRUN_MOUNT_PINNED &&
	    m->pin.fd >= 0 ? openat(m->pin.fd, ".", flags) : open(path, flags);
}

static int
open_roots(struct nsrun_usage_roots *roots, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	for (size_t i = 0; i < plan->mounts.n; i++) {
		const struct nsrun_mount *m = &plan->mounts.v[i];
		const char *path = writable_dir(m);
		nsrun_autoclose int fd = -1;
		struct sys_statx st;

		if (!path)
			continue;
		if (roots->n == NSRUN_USAGE_ROOTS)
			return nsrun_err_rule(err, NSRUN_STEP_LIMIT,
			    "too many writable roots to watch", path, NULL);
		fd = open_dir(m, path);
		if (fd < 0 || nsrun_fd_raise(&fd) < 0 || sys_statx(fd, "",
		    AT_EMPTY_PATH, SYS_STATX_INO, &st) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "open",
			    path, NULL);
		roots->v[roots->n].ino = st.ino;
		roots->v[roots->n].dev_major = st.dev_major;
		roots->v[roots->n].dev_minor = st.dev_minor;
		roots->v[roots->n++].fd = nsrun_fd_take(&fd);
	}
	return 0;
}

static int
start_watcher(struct nsrun_budget *budget, struct watcher *w,
    struct nsrun_err *err)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	struct word word = { 0 };
	int ends[2];
	ssize_t n = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "socketpair", NULL,
		    NULL);
	budget->socket_fd = ends[0];
	w->socket_fd = ends[1];
	if (nsrun_fd_raise(&budget->socket_fd) == 0 &&
	    nsrun_fd_raise(&w->socket_fd) == 0)
		budget->pid = (pid_t)sys_clone3(&args);
	else
		budget->pid = -1;
	if (budget->pid == 0)
		watcher(w);
	if (budget->pid < 0)
		nsrun_err_sys(err, NSRUN_STEP_LIMIT, "clone3", NULL, NULL);
	nsrun_fd_close(&w->socket_fd);
	if (budget->pid < 0)
		return -1;
	do
		n = recv(budget->socket_fd, &word, sizeof word, 0);
	while (n < 0 && errno == EINTR);
	errno = n == sizeof word ? word.errnum : n < 0 ? errno : EPIPE;
	return errno ? nsrun_err_sys(err, NSRUN_STEP_LIMIT, "look at",
	    *word.where ? word.where : "the writable roots", NULL) : 0;
}

int
nsrun_budget_open(struct nsrun_budget *budget, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	const struct nsrun_limit *bytes = &plan->limits[NSRUN_LIMIT_WRITE];
	const struct nsrun_limit *inodes = &plan->limits[NSRUN_LIMIT_INODES];
	struct watcher w = {
		.socket_fd = -1,
		.limit = {
			bytes->set ? bytes->value : UINT64_MAX,
			inodes->set ? inodes->value : UINT64_MAX,
		},
	};
	int rc;

	*budget = (struct nsrun_budget)NSRUN_BUDGET_INIT;
	if (!plan->supervision.watches_writes)
		return 0;
	for (size_t i = 0; i < plan->mounts.n; i++)
		if (plan->mounts.v[i].kind == NSRUN_MOUNT_ABSENT) {
			w.ours.bytes += 4096;
			w.ours.inodes++;
		}
	rc = open_roots(&w.roots, plan, err);
	if (rc == 0)
		rc = start_watcher(budget, &w, err);
	for (unsigned int i = 0; i < w.roots.n; i++)
		nsrun_fd_close(&w.roots.v[i].fd);
	if (rc < 0)
		nsrun_budget_deinit(budget);
	return rc;
}

int
nsrun_budget_watch(struct nsrun_run *run, struct nsrun_err *err)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct start start = { 0 };
	struct iovec iov = { &start, sizeof start };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	if (run->budget.socket_fd < 0)
		return 0;
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (nsrun_namespaces[i].flag == CLONE_NEWPID)
			start.pid_namespace = run->witness.inodes[i];
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &run->budget.userns_fd, sizeof(int));
	if (sendmsg(run->budget.socket_fd, &msg, MSG_NOSIGNAL) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_LIMIT, "sendmsg",
		    "the watcher of writes", NULL);
	nsrun_fd_close(&run->budget.userns_fd);
	return 0;
}

/* One word of the watcher's; false: that was the last. */
static bool
hear(struct nsrun_run *run, int flags)
{
	const struct nsrun_limit *limits = run->plan->limits;
	struct nsrun_budget *budget = &run->budget;
	struct word word;
	ssize_t n;

	do
		n = recv(budget->socket_fd, &word, sizeof word, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return true;
	/* Where nobody watches, nothing may go on. */
	if (n != sizeof word) {
		budget->errnum = budget->errnum ? budget->errnum : EPIPE;
		return false;
	}
	if (word.errnum && !budget->errnum) {
		budget->errnum = word.errnum;
		memcpy(budget->where, word.where, sizeof word.where);
	}
	/* What had no name is gone when its processes are. */
	if (word.grown.bytes > budget->grown.bytes)
		budget->grown.bytes = word.grown.bytes;
	if (word.grown.inodes > budget->grown.inodes)
		budget->grown.inodes = word.grown.inodes;
	budget->over_bytes |= limits[NSRUN_LIMIT_WRITE].set &&
	    word.grown.bytes > limits[NSRUN_LIMIT_WRITE].value;
	budget->over_inodes |= limits[NSRUN_LIMIT_INODES].set &&
	    word.grown.inodes > limits[NSRUN_LIMIT_INODES].value;
	return !word.final;
}

bool
nsrun_budget_is_spent(const struct nsrun_budget *budget)
{
	return budget->over_bytes || budget->over_inodes || budget->errnum;
}

void
nsrun_budget_read(struct nsrun_run *run)
{
	hear(run, MSG_DONTWAIT);
}

void
nsrun_budget_finish(struct nsrun_run *run)
{
	if (run->budget.socket_fd < 0)
		return;
	if (shutdown(run->budget.socket_fd, SHUT_WR) < 0)
		run->budget.errnum = errno;
	else
		while (hear(run, 0))
			continue;
	nsrun_budget_deinit(&run->budget);
}

void
nsrun_budget_deinit(struct nsrun_budget *budget)
{
	nsrun_fd_close(&budget->socket_fd);
	nsrun_fd_close(&budget->userns_fd);
	if (budget->pid <= 0)
		return;
	/* It may be in the middle of a long look. */
	kill(budget->pid, SIGKILL);
	while (waitpid(budget->pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	budget->pid = 0;
}
