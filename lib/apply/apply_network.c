/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The new network namespace: loopback up, by one rtnetlink(7) message; the
 * kernel then gives it 127.0.0.1 and ::1 by itself. And the host name, which
 * lives in a namespace of its own too.
 */
#include "apply/apply.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

const struct nsrun_link_message nsrun_loopback_up = {
	.header = {
		.nlmsg_len = sizeof nsrun_loopback_up,
		.nlmsg_type = RTM_NEWLINK,
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.nlmsg_seq = 1,
	},
	.link = {
		.ifi_family = AF_UNSPEC,
		.ifi_index = 1,		/* lo is the first of each namespace */
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	},
};

/* The kernel's verdict: 0, or -1 with errno as *it* says, not as we left it. */
static int
read_ack(int fd)
{
	_Alignas(struct nlmsghdr) char buf[512];
	const struct nlmsghdr *header = (const void *)buf;
	const struct nlmsgerr *ack = (const void *)(buf + NLMSG_HDRLEN);
	ssize_t n = recv(fd, buf, sizeof buf, 0);

	if (n < 0)
		return -1;
	if ((size_t)n < NLMSG_HDRLEN + sizeof ack->error ||
	    header->nlmsg_type != NLMSG_ERROR) {
		errno = EPROTO;
		return -1;
	}
	errno = -ack->error;
	return ack->error ? -1 : 0;
}

int
nsrun_loopback_raise(struct nsrun_err *err)
{
	nsrun_autoclose int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
	    NETLINK_ROUTE);

	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "socket",
		    "netlink", NULL);
	if (send(fd, &nsrun_loopback_up, sizeof nsrun_loopback_up, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "send",
		    "loopback", NULL);
	if (read_ack(fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "RTM_NEWLINK",
		    "loopback", NULL);
	return nsrun_fd_take(&fd);
}

/* A namespace from run/netns.c; -1: none comes. */
static int
receive(int socket_fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	const struct cmsghdr *c;
	ssize_t n;
	int fd = -1;

	do
		n = recvmsg(socket_fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

/* Mustn't: end in the network that we were cloned in. */
int
nsrun_apply_network(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	nsrun_autoclose int made = -1, netlink = -1;

	(void)child;
	if (prep->net_fd >= 0) {
		made = receive(prep->net_fd);
		close(prep->net_fd);
		if (made >= 0 && setns(made, CLONE_NEWNET) == 0)
			return 0;
		if (unshare(CLONE_NEWNET) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE,
			    "unshare", "network", NULL);
	}
	if (!prep->plan->loopback)
		return 0;
	netlink = nsrun_loopback_raise(err);
	return netlink < 0 ? -1 : 0;
}

int
nsrun_apply_hostname(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const char *name = prep->plan->hostname;

	(void)child;
	if (name && sethostname(name, strlen(name)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_HOSTNAME, "sethostname",
		    name, NULL);
	return 0;
}
