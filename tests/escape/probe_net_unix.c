/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NET: local sockets, System V and POSIX IPC: who else is reached by them. */
#include "probe.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t
abstract(struct sockaddr_un *at, const char *suffix)
{
	int n;

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "%s%s",
	    probe_param("abstract"), suffix);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	    (size_t)n);
}

/* socket= is a directory in the project where the sentinel listens. */
static socklen_t
pathname(struct sockaddr_un *at, const char *name)
{
	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof at->sun_path, "%s/%s",
	    probe_param("sockets"), name);
	return sizeof *at;
}

static _Noreturn void
reach(int fd, const struct sockaddr_un *at, socklen_t n)
{
	if (connect(fd, (const void *)at, n) < 0)
		probe_blocked(errno, "connect");
	probe_result(send(fd, "escape", 6, MSG_NOSIGNAL), "send");
}

static int
open_socket(int type)
{
	int fd = socket(AF_UNIX, type, 0);

	if (fd < 0)
		probe_blocked(errno, "socket");
	return fd;
}

/* Half of a pair: a socket that was not made by socket(2). */
static int
half(int type)
{
	int fds[2];

	if (socketpair(AF_UNIX, type, 0, fds) < 0)
		probe_blocked(errno, "socketpair");
	return fds[0];
}

static void
abstract_stream(void)
{
	struct sockaddr_un at;
	socklen_t n = abstract(&at, "");

	reach(open_socket(SOCK_STREAM), &at, n);
}

static void
abstract_dgram(void)
{
	struct sockaddr_un at;
	socklen_t n = abstract(&at, ".dgram");

	reach(open_socket(SOCK_DGRAM), &at, n);
}

static void
pair_sendto(void)
{
	struct sockaddr_un at;
	socklen_t n = abstract(&at, ".dgram");

	probe_result(sendto(half(SOCK_DGRAM), "escape", 6, 0,
	    (const void *)&at, n), "sendto");
}

static void
pair_sendmsg(void)
{
	struct sockaddr_un at;
	struct iovec iov = { (void *)(size_t)"escape", 6 };
	struct msghdr msg = {
		.msg_name = &at, .msg_namelen = abstract(&at, ".dgram"),
		.msg_iov = &iov, .msg_iovlen = 1,
	};

	probe_result(sendmsg(half(SOCK_DGRAM), &msg, 0), "sendmsg");
}

static void
pair_raw(void)
{
	/* For AF_UNIX the kernel turns SOCK_RAW into SOCK_DGRAM. */
	half(SOCK_RAW);
	probe_open("a pair of datagram sockets by another name");
}

static void
pair_flags(void)
{
	half(SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
	probe_open("a pair of datagram sockets with flags");
}

/* A stream pair must not be taken apart and connected elsewhere. */
static void
pair_connect(void)
{
	struct sockaddr_un at;
	socklen_t n = abstract(&at, "");

	reach(half(SOCK_STREAM), &at, n);
}

static void
path_stream(void)
{
	struct sockaddr_un at;
	socklen_t n = pathname(&at, "stream");

	reach(open_socket(SOCK_STREAM), &at, n);
}

static void
path_dgram(void)
{
	struct sockaddr_un at;
	socklen_t n = pathname(&at, "dgram");

	probe_result(sendto(half(SOCK_DGRAM), "escape", 6, 0,
	    (const void *)&at, n), "sendto");
}

static void
inet_pair(void)
{
	int fds[2];

	probe_result(socketpair(AF_TIPC, SOCK_STREAM, 0, fds), "socketpair");
}

static void
listen_pair(void)
{
	probe_result(listen(half(SOCK_STREAM), 1), "listen");
}

static void
bind_pair(void)
{
	struct sockaddr_un at;
	socklen_t n = abstract(&at, ".mine");

	probe_result(bind(half(SOCK_STREAM), (const void *)&at, n), "bind");
}

static void
oob_send(void)
{
	probe_result(send(half(SOCK_STREAM), "x", 1, MSG_OOB), "send OOB");
}

/* Without an urgent byte the kernel says EINVAL; one is there outside. */
static void
oob_sendmsg(void)
{
	struct iovec iov = { (void *)(size_t)"x", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	probe_result(sendmsg(half(SOCK_STREAM), &msg, MSG_OOB), "sendmsg OOB");
}

static void
oob_receive(void)
{
	char byte;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		probe_skip("socketpair: %s", strerror(errno));
	send(fds[1], "x", 1, MSG_OOB);
	probe_result(recv(fds[0], &byte, 1, MSG_OOB | MSG_DONTWAIT),
	    "recv OOB");
}

static void
shm(void)
{
	probe_result(shmget((key_t)probe_number("ipckey"), 1, 0), "shmget");
}

static void
sem(void)
{
	probe_result(semget((key_t)probe_number("ipckey"), 1, 0), "semget");
}

static void
msg_queue(void)
{
	probe_result(msgget((key_t)probe_number("ipckey"), 0), "msgget");
}

const struct probe_check probe_net_unix[] = {
	{ "NET-04.stream", abstract_stream },
	{ "NET-04.dgram", abstract_dgram },
	{ "NET-04.pair_sendto", pair_sendto },
	{ "NET-04.pair_sendmsg", pair_sendmsg },
	{ "NET-04.pair_raw", pair_raw },
	{ "NET-04.pair_flags", pair_flags },
	{ "NET-04.pair_connect", pair_connect },
	{ "NET-04.listen", listen_pair },
	{ "NET-04.bind", bind_pair },
	{ "NET-04.family", inet_pair },
	{ "NET-05.stream", path_stream },
	{ "NET-05.dgram", path_dgram },
	{ "K-11.send", oob_send },
	{ "K-11.sendmsg", oob_sendmsg },
	{ "K-11.receive", oob_receive },
	{ "NET-17.shm", shm },
	{ "NET-17.sem", sem },
	{ "NET-17.msg", msg_queue },
	{ NULL, NULL }
};
