/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

int
nsjail_netlink_open(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

/* Zeroed up to what comes next; n is beyond buf once something did not fit. */
static void *
reserve(struct nsjail_request *r, size_t size)
{
	size_t at = r->n, padded = NLMSG_ALIGN(size);

	if (at > sizeof r->buf || padded > sizeof r->buf - at) {
		r->n = sizeof r->buf + 1;
		return NULL;
	}
	r->n += padded;
	return memset(r->buf + at, 0, padded);
}

void
nsjail_request_begin(struct nsjail_request *r, uint16_t type, uint16_t flags,
    const void *body, size_t size)
{
	struct nlmsghdr *header;
	void *at;

	r->n = 0;
	header = reserve(r, sizeof *header);
	*header = (struct nlmsghdr){
		.nlmsg_type = type,
		.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags),
		.nlmsg_seq = 1,
	};
	at = reserve(r, size);
	if (at)
		memcpy(at, body, size);
}

void
nsjail_request_put(struct nsjail_request *r, uint16_t type, const void *data,
    size_t size)
{
	struct rtattr *attr = reserve(r, RTA_LENGTH(size));

	if (!attr)
		return;
	attr->rta_type = type;
	attr->rta_len = (uint16_t)RTA_LENGTH(size);
	if (size)
		memcpy(RTA_DATA(attr), data, size);
}

size_t
nsjail_request_nest(struct nsjail_request *r, uint16_t type)
{
	size_t start = r->n;

	nsjail_request_put(r, type, NULL, 0);
	return start;
}

void
nsjail_request_unnest(struct nsjail_request *r, size_t start)
{
	if (r->n <= sizeof r->buf)
		((struct rtattr *)(void *)(r->buf + start))->rta_len =
		    (uint16_t)(r->n - start);
}

/* 0, or -1 with errno as *it* says, not as we left it. */
static int
read_ack(int fd)
{
	_Alignas(struct nlmsghdr) char buf[2048];
	const struct nlmsghdr *header = (const void *)buf;
	const struct nlmsgerr *ack = (const void *)(buf + NLMSG_HDRLEN);
	ssize_t n;

	do
		n = recv(fd, buf, sizeof buf, 0);
	while (n < 0 && errno == EINTR);
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
nsjail_request_send(struct nsjail_request *r, int fd)
{
	struct nlmsghdr *header = (void *)r->buf;

	if (r->n > sizeof r->buf) {
		errno = EMSGSIZE;
		return -1;
	}
	header->nlmsg_len = (uint32_t)r->n;
	if (send(fd, r->buf, r->n, 0) < 0)
		return -1;
	return read_ack(fd);
}
