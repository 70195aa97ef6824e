/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mode LISTEN: a process of ours, and by it a jail, for each connection. The
 * jail has pipes for 0, 1 and 2, never the socket. A client that goes ends its
 * jail: an input that ends is told to the command first, which has a second.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "nsjail.h"

enum { BACKLOG = 1024, MAX_CONNS = 65536 };

struct connection {
	pid_t	pid;			/* 0: free */
	struct in6_addr address;
};

struct listener {
	struct nsjail *n;
	const struct nsrun_plan *plan;
	sigset_t mask;			/* the caller's */
	int	fd, signal_fd;
	struct connection *v;
	size_t	n_v;
	bool	ends;
};

static int
failed(struct nsjail *n, const char *call)
{
	return nsrun_err_sys(&n->err, NSRUN_STEP_NETWORK, call,
	    n->config.bindhost, NULL);
}

/* An address of IPv4 is one of IPv6 that says so. */
static int
parse_address(struct nsjail *n, struct sockaddr_in6 *to)
{
	char mapped[64];

	*to = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
	snprintf(mapped, sizeof mapped, "::ffff:%.40s", n->config.bindhost);
	if (n->config.port > UINT16_MAX)
		return nsjail_refuse(n, "port", "is larger than 65535", NULL);
	to->sin6_port = htons((uint16_t)n->config.port);
	if (inet_pton(AF_INET6, n->config.bindhost, &to->sin6_addr) != 1 &&
	    inet_pton(AF_INET6, mapped, &to->sin6_addr) != 1)
		return nsjail_refuse(n, "bindhost", "is no address",
		    n->config.bindhost);
	return 0;
}

static int
open_listener(struct listener *l)
{
	const int on = 1, off = 0;
	struct sockaddr_in6 at;
	socklen_t size = sizeof at;

	if (parse_address(l->n, &at) < 0)
		return -1;
	l->fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	if (l->fd < 0)
		return failed(l->n, "socket");
	if (setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
	    setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
	    sizeof off) < 0)
		return failed(l->n, "setsockopt");
	if (bind(l->fd, (struct sockaddr *)&at, sizeof at) < 0)
		return failed(l->n, "bind");
	if (listen(l->fd, BACKLOG) < 0 ||
	    getsockname(l->fd, (struct sockaddr *)&at, &size) < 0)
		return failed(l->n, "listen");
	nsjail_log(l->n, NSJAIL_INFO, NULL, "Listening on [%s]:%u",
	    l->n->config.bindhost, (unsigned int)ntohs(at.sin6_port));
	return 0;
}

static int
open_signals(struct listener *l)
{
	static const int watched[] = {
		SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGQUIT, SIGCHLD,
	};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
		sigaddset(&set, watched[i]);
	l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signal_fd < 0 ||
	    sys_sigprocmask(SIG_BLOCK, &set, &l->mask) < 0)
		return failed(l->n, "signalfd");
	return 0;
}

/* Of this address, or of all (NULL). */
static size_t
count(const struct listener *l, const struct in6_addr *address)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_v; i++)
		n += l->v[i].pid && (!address || !memcmp(address,
		    &l->v[i].address, sizeof *address));
	return n;
}

static void
reap(struct listener *l, int flags)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, flags)) > 0)
		for (size_t i = 0; i < l->n_v; i++)
			if (l->v[i].pid == pid)
				l->v[i].pid = 0;
}

static struct connection *
find_free(struct listener *l)
{
	struct connection *v;

	for (size_t i = 0; i < l->n_v; i++)
		if (!l->v[i].pid)
			return &l->v[i];
	if (l->n_v == MAX_CONNS)
		return NULL;
	v = nsrun_arena_grow(&l->n->arena, l->v, l->n_v, sizeof *v);
	if (!v)
		return NULL;
	l->v = v;
	return &v[l->n_v++];
}

/* The last words reach a client that had more to say: no reset before them. */
static void
finish(int fd)
{
	char rest[4096];

	shutdown(fd, SHUT_WR);
	while (recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0)
		continue;
}

/* In a process of its own: the connection is its 0, 1 and 2. */
static _Noreturn void
serve(struct listener *l, int fd, pid_t parent)
{
	int status = NSJAIL_FAILED;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(status);
	nsrun_fd_close(&l->fd);
	nsrun_fd_close(&l->signal_fd);
	sys_sigprocmask(SIG_SETMASK, &l->mask, NULL);
	if (dup2(fd, 0) == 0 && dup2(fd, 1) == 1 && dup2(fd, 2) == 2)
		status = nsjail_run(l->n, l->plan);
	finish(fd);
	_exit(status);
}

/* Who may not come is not told. */
static void
take(struct listener *l, int fd, const struct sockaddr_in6 *from)
{
	const struct nsjail_config *c = &l->n->config;
	char text[INET6_ADDRSTRLEN] = "", peer[80];
	pid_t self = getpid(), pid = -1;
	struct connection *slot;

	inet_ntop(AF_INET6, &from->sin6_addr, text, sizeof text);
	snprintf(peer, sizeof peer, "[%s]:%u", text,
	    (unsigned int)ntohs(from->sin6_port));
	nsjail_log(l->n, NSJAIL_INFO, NULL, "New connection from: %s", peer);
	if ((c->max_conns && count(l, NULL) >= c->max_conns) ||
	    (c->max_conns_per_ip && count(l, &from->sin6_addr) >=
	    c->max_conns_per_ip)) {
		nsjail_log(l->n, NSJAIL_WARNING, NSJAIL_WHERE("limitConns"),
		    "Rejecting connection from '%s', the limit is reached",
		    peer);
		return;
	}
	slot = find_free(l);
	if (slot) {
		l->n->peer = peer;
		pid = fork();
	}
	if (pid == 0)
		serve(l, fd, self);
	if (pid < 0) {
		nsjail_log(l->n, NSJAIL_ERROR, NSJAIL_WHERE("fork"),
		    "no process for '%s': %s", peer, strerror(errno));
		return;
	}
	*slot = (struct connection){ pid, from->sin6_addr };
}

static void
accept_one(struct listener *l)
{
	struct sockaddr_in6 from;
	socklen_t size = sizeof from;
	nsrun_autoclose int fd = accept4(l->fd, (struct sockaddr *)&from,
	    &size, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (nsrun_fd_raise(&fd) == 0)
		take(l, fd, &from);
}

static void
read_signal(struct listener *l)
{
	struct signalfd_siginfo info;

	if (read(l->signal_fd, &info, sizeof info) != sizeof info)
		return;
	if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGQUIT)
		nsjail_log(l->n, NSJAIL_INFO, NULL,
		    "Total number of spawned namespaces: %zu",
		    count(l, NULL));
	else if (info.ssi_signo != SIGCHLD)
		l->ends = true;
}

int
nsjail_listen(struct nsjail *n, const struct nsrun_plan *plan)
{
	struct listener l = {
		.n = n, .plan = plan, .fd = -1, .signal_fd = -1,
	};
	struct pollfd fds[2];

	if (n->log.fd <= 2)
		nsjail_log_set_fd(n, n->log.fd);
	if (open_signals(&l) < 0 || open_listener(&l) < 0) {
		nsjail_log_err(n, NSJAIL_WHERE("getRecvSocket"));
		return NSJAIL_FAILED;
	}
	while (!l.ends) {
		fds[0] = (struct pollfd){ l.fd, POLLIN, 0 };
		fds[1] = (struct pollfd){ l.signal_fd, POLLIN, 0 };
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			read_signal(&l);
		reap(&l, WNOHANG);
		if (fds[0].revents && !l.ends)
			accept_one(&l);
	}
	nsrun_fd_close(&l.fd);
	for (size_t i = 0; i < l.n_v; i++)
		if (l.v[i].pid)
			kill(l.v[i].pid, SIGTERM);
	reap(&l, 0);
	nsrun_fd_close(&l.signal_fd);
	return l.ends ? 0 : NSJAIL_FAILED;
}
