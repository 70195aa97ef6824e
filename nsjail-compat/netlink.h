/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One request of rtnetlink(7) and the kernel's answer. Written out here rather
 * than taken from libmnl, which there is no static musl build of.
 */
#ifndef NSJAIL_NETLINK_H
#define NSJAIL_NETLINK_H

#include <stddef.h>
#include <stdint.h>

/* What does not fit makes the sending fail, with EMSGSIZE. */
struct nsjail_request {
	size_t	n;
	_Alignas(uint64_t) char buf[1024];
};

/* A socket in the network namespace of the caller; -1 with errno set. */
int nsjail_netlink_open(void);

/* RTM_*, NLM_F_*, and the struct that this type begins with. */
void nsjail_request_begin(struct nsjail_request *r, uint16_t type,
    uint16_t flags, const void *body, size_t size);
void nsjail_request_put(struct nsjail_request *r, uint16_t type,
    const void *data, size_t size);
/* Attributes within another one: from nest() to its unnest(). */
size_t nsjail_request_nest(struct nsjail_request *r, uint16_t type);
void nsjail_request_unnest(struct nsjail_request *r, size_t start);

/* Send it and wait for the verdict; -1 with errno as the kernel says. */
int nsjail_request_send(struct nsjail_request *r, int fd);

#endif
