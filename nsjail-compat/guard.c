/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"
#include "nsjail.h"
#include "run/run.h"

enum { PASTA_PATIENCE_MS = 30000, JAIL_PATIENCE_MS = 5000, STEP_MS = 5 };

struct state {
	const struct nsjail *n;
	struct nsrun_run *run;		/* a copy of what the jail's is */
	int	fd;			/* to the supervisor */
	pid_t	pasta;			/* 0: none */
	int	pasta_fd;		/* its pidfd */
	int	words_fd;		/* what it says; or -1 */
	char	words[256];		/* a line of it, so far */
	char	last[112];		/* the last that tells something */
};

/* Nothing that is the caller's or the supervisor's stays open by us. */
static int
let_go(const struct state *s)
{
	const struct nsrun_cgroup *cg = &s->run->cgroup;
	int keep[] = {
		s->fd, s->run->pidfd, s->n->log.fd, cg->base_fd, cg->dir_fd,
		cg->self_fd,
	};
	const unsigned int count = sizeof keep / sizeof *keep;
	nsrun_autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (unsigned int i = 1; i < count; i++)
		for (unsigned int k = i; k > 0 && keep[k - 1] > keep[k]; k--) {
			int fd = keep[k];

			keep[k] = keep[k - 1];
			keep[k - 1] = fd;
		}
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			return -1;
	return nsrun_fd_close_others(keep, count);
}

/* In a process of its own, which enters the jail's network and is gone. */
static int
configure_inside(const struct state *s, struct nsrun_err *err)
{
	const struct nsjail_net *net = &s->n->net;
	int ends[2];
	pid_t pid;

	if (!net->macvlan.parent && !net->n_rules)
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "fork", NULL,
		    NULL);
	if (pid == 0) {
		if ((s->n->config.newuser &&
		    setns(s->run->pidfd, CLONE_NEWUSER) < 0) ||
		    setns(s->run->pidfd, CLONE_NEWNET) < 0)
			nsrun_err_sys(err, NSRUN_STEP_NETWORK, "setns",
			    "the jail's network", NULL);
		else
			nsjail_net_configure(net, err);
		_exit(write(ends[1], err, sizeof *err) != sizeof *err);
	}
	close(ends[1]);
	if (read(ends[0], err, sizeof *err) != sizeof *err)
		nsrun_err_rule(err, NSRUN_STEP_NETWORK, "who was to configure"
		    " it was killed", NULL, NULL);
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return err->step == NSRUN_STEP_NONE ? 0 : -1;
}

/* A session of its own: no terminal's signal is for it. */
static _Noreturn void
become_pasta(const struct state *s, int words, pid_t parent)
{
	const struct nsjail_net *net = &s->n->net;
	sigset_t none;

	sigemptyset(&none);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && setsid() >= 0 && dup2(words, 2) == 2 &&
	    sys_sigprocmask(SIG_SETMASK, &none, NULL) == 0)
		execv(net->pasta_file, net->pasta);
	dprintf(2, "%s: %s\n", net->pasta_file, strerror(errno));
	_exit(127);
}

static int
start_pasta(struct state *s, struct nsrun_err *err)
{
	const struct nsjail_net *net = &s->n->net;
	pid_t self = getpid();
	char pid[16];
	int ends[2];

	snprintf(pid, sizeof pid, "%d", (int)s->run->pid);
	net->pasta[net->n_pasta] = pid;
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "pipe2", NULL,
		    NULL);
	s->words_fd = ends[0];
	s->pasta = fork();
	if (s->pasta == 0)
		become_pasta(s, ends[1], self);
	close(ends[1]);
	s->pasta_fd = s->pasta > 0 ? sys_pidfd_open(s->pasta) : -1;
	return s->pasta_fd < 0 ? nsrun_err_sys(err, NSRUN_STEP_NETWORK, "fork",
	    "pasta", NULL) : 0;
}

/* A line of pasta's: for the log, and the last of them for an error. */
static void
take_line(struct state *s)
{
	/* Where there is no syslog, it says so once a line of its own. */
	if (*s->words && strncmp(s->words, "Failed to send ", 15)) {
		nsjail_log(s->n, NSJAIL_WARNING, "pasta", "%s", s->words);
		snprintf(s->last, sizeof s->last, "%.100s", s->words);
	}
	*s->words = '\0';
}

static void
read_words(struct state *s)
{
	char buf[512];
	ssize_t n;

	while (s->words_fd >= 0 && (n = read(s->words_fd, buf,
	    sizeof buf)) != -1) {
		size_t len = strlen(s->words);

		if (n == 0)
			nsrun_fd_close(&s->words_fd);
		for (ssize_t i = 0; i < n; i++) {
			if (buf[i] == '\n') {
				take_line(s);
				len = 0;
			} else if (len + 1 < sizeof s->words) {
				s->words[len++] = buf[i];
				s->words[len] = '\0';
			}
		}
		if (n == 0)
			take_line(s);
	}
}

/* How many programs filter pid's system calls, as proc(5) has it; -1. */
static long
count_filters(pid_t pid)
{
	static const char key[] = "Seccomp_filters:";
	char path[40], *text, *at;
	long count = -1;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	text = nsrun_file_read(path, 1 << 16);
	at = text ? strstr(text, key) : NULL;
	if (at)
		count = strtol(at + sizeof key - 1, NULL, 10);
	free(text);
	return count;
}

static int
say_why(const struct state *s, struct nsrun_err *err)
{
	if (access("/dev/net/tun", R_OK | W_OK) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "access",
		    "/dev/net/tun", NULL);
	return nsrun_err_rule(err, NSRUN_STEP_NETWORK, *s->last ? s->last :
	    "ended without a word", "pasta", NULL);
}

/*
 * pasta(1) locks itself up when the jail's network is done, and serves from
 * then on. It tells nobody when run in the foreground, but the kernel does.
 */
static int
wait_pasta(struct state *s, struct nsrun_err *err)
{
	long before = count_filters(getpid());

	for (int waited = 0; waited < PASTA_PATIENCE_MS; waited += STEP_MS) {
		struct pollfd fds[] = {
			{ s->pasta_fd, POLLIN, 0 }, { s->fd, POLLIN, 0 },
		};

		poll(fds, 2, STEP_MS);
		read_words(s);
		if (fds[0].revents)
			return say_why(s, err);
		if (fds[1].revents)
			return nsrun_err_rule(err, NSRUN_STEP_NETWORK,
			    "cancelled", NULL, NULL);
		if (count_filters(s->pasta) > before)
			return 0;
	}
	return nsrun_err_rule(err, NSRUN_STEP_NETWORK, "was not ready in 30"
	    " seconds", "pasta", NULL);
}

static int
make_all(struct state *s, struct nsrun_err *err)
{
	if (nsjail_cgroups1_make(s->n, s->run->pid, err) < 0 ||
	    nsjail_net_move(&s->n->net, s->run->pid, err) < 0 ||
	    configure_inside(s, err) < 0)
		return -1;
	if (!s->n->net.pasta)
		return 0;
	return start_pasta(s, err) < 0 ? -1 : wait_pasta(s, err);
}

/* True: the jail has ended and the supervisor lives. */
static bool
watch(struct state *s)
{
	for (;;) {
		struct pollfd fds[] = {
			{ s->fd, POLLIN, 0 }, { s->pasta_fd, POLLIN, 0 },
			{ s->words_fd, POLLIN, 0 },
		};
		char byte;

		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[2].revents)
			read_words(s);
		if (fds[0].revents)
			return recv(s->fd, &byte, 1, 0) == 1;
		if (!fds[1].revents)
			continue;
		/* A jail without its network is none: as nsjail does. */
		nsjail_log(s->n, NSJAIL_WARNING, NSJAIL_WHERE("reapProc"),
		    "pasta ended: killing the jail, pid=%d",
		    (int)s->run->pid);
		sys_pidfd_send_signal(s->run->pidfd, SIGKILL);
		nsrun_fd_close(&s->pasta_fd);
	}
}

static void
undo_all(struct state *s, bool orphaned)
{
	struct pollfd jail = { s->run->pidfd, POLLIN, 0 };

	if (s->pasta > 0) {
		if (s->pasta_fd >= 0)
			sys_pidfd_send_signal(s->pasta_fd, SIGKILL);
		waitpid(s->pasta, NULL, 0);
	}
	if (orphaned) {
		sys_pidfd_send_signal(s->run->pidfd, SIGKILL);
		poll(&jail, 1, JAIL_PATIENCE_MS);
		nsrun_cgroup_deinit(&s->run->cgroup);
	}
	nsjail_cgroups1_remove(s->n, s->run->pid);
}

/* Its own: the descriptors behind were let go. */
static _Noreturn void
guard_main(const struct nsjail *n, struct nsrun_run *run, int fd)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct state s = {
		.n = n, .run = run, .fd = fd, .pasta_fd = -1, .words_fd = -1,
	};
	bool made, told;
	sigset_t all;

	sigfillset(&all);
	sys_sigprocmask(SIG_SETMASK, &all, NULL);
	run->cgroup.memory_fd = run->cgroup.pids_fd = -1;
	if (let_go(&s) < 0)
		nsrun_err_sys(&err, NSRUN_STEP_FD, "close", NULL, NULL);
	made = err.step == NSRUN_STEP_NONE && make_all(&s, &err) == 0;
	told = send(fd, &err, sizeof err, MSG_NOSIGNAL) == sizeof err;
	undo_all(&s, !told || (made && !watch(&s)));
	_exit(0);
}

static void
read_signal(struct nsrun_run *run)
{
	struct signalfd_siginfo info;

	if (read(run->signal_fd, &info, sizeof info) == sizeof info)
		run->on_signal(run, (int)info.ssi_signo);
}

/* What the guard has to say; signals are heard meanwhile. */
static int
wait_guard(struct nsjail *n, struct nsrun_run *run, int guard_fd)
{
	struct pollfd fds[] = {
		{ guard_fd, POLLIN, 0 }, { run->signal_fd, POLLIN, 0 },
	};

	while (!run->cancelled) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			read_signal(run);
		if (!fds[0].revents)
			continue;
		if (recv(guard_fd, &n->err, sizeof n->err, 0) !=
		    sizeof n->err)
			return nsrun_err_rule(&n->err, NSRUN_STEP_SUPERVISE,
			    "the guard was killed", NULL, NULL);
		return n->err.step == NSRUN_STEP_NONE ? 0 : -1;
	}
	return nsrun_err_rule(&n->err, NSRUN_STEP_SUPERVISE,
	    "cancelled while the jail was made", NULL, NULL);
}

int
nsjail_guard_start(struct nsjail *n, struct nsrun_run *run,
    struct nsjail_guard *guard)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
		.pidfd = (uint64_t)(uintptr_t)&guard->pidfd,
	};
	int ends[2];

	if (!n->guarded)
		return 0;
	/* What it says is not to go where the command's output goes. */
	if (n->log.fd <= 2)
		nsjail_log_set_fd(n, n->log.fd);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return nsrun_err_sys(&n->err, NSRUN_STEP_SUPERVISE,
		    "socketpair", NULL, NULL);
	guard->fd = ends[0];
	guard->pid = (pid_t)sys_clone3(&args);
	if (guard->pid == 0)
		guard_main(n, run, ends[1]);
	close(ends[1]);
	if (guard->pid < 0) {
		guard->pid = 0;
		return nsrun_err_sys(&n->err, NSRUN_STEP_SUPERVISE, "clone3",
		    "guard", NULL);
	}
	if (wait_guard(n, run, guard->fd) < 0)
		return -1;
	run->watch_fd = guard->pidfd;
	if (!run->plan->process.waits || nsrun_release(run) == 0)
		return 0;
	return nsrun_err_rule(&n->err, NSRUN_STEP_SUPERVISE,
	    "the jail was killed while it waited", NULL, NULL);
}

void
nsjail_guard_end(const struct nsjail *n, struct nsrun_run *run,
    struct nsjail_guard *guard)
{
	int status = 0;

	run->watch_fd = -1;
	/* If that fails, it is gone already. */
	if (guard->fd >= 0)
		(void)send(guard->fd, "", 1, MSG_NOSIGNAL);
	nsrun_fd_close(&guard->fd);
	while (guard->pid > 0 && waitpid(guard->pid, &status, __WALL) < 0 &&
	    errno == EINTR)
		continue;
	/* pasta goes with it by itself. */
	if (WIFSIGNALED(status))
		nsjail_cgroups1_remove(n, run->pid);
	guard->pid = 0;
	nsrun_fd_close(&guard->pidfd);
}
