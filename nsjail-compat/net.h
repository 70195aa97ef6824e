/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Networks for the jail's own network namespace: interfaces of ours that move
 * in, a macvlan "vs", rules of routing policy, and pasta(1), which lets the
 * jail use our sockets.
 *
 *	plan_net.c, plan_user_net.c	what is asked for, checked and parsed
 *	net.c				done, by the guard (guard.c)
 */
#ifndef NSJAIL_NET_H
#define NSJAIL_NET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nsrun_err;

struct nsjail_macvlan {
	const char	*parent;		/* NULL: none */
	struct in_addr	ip, gw;			/* 0.0.0.0: none */
	uint8_t		prefix;			/* of its netmask */
	bool		has_mac;
	uint8_t		mac[6];
	uint32_t	mode;			/* MACVLAN_MODE_* */
};

/* A rule for fib_rules; addresses in network order. */
struct nsjail_fib_rule {
	uint8_t		family, action, proto;
	uint8_t		src[16], dst[16], src_bits, dst_bits;
	const char	*iif, *oif;		/* "": any */
	uint16_t	sport[2], dport[2];	/* 0: any */
};

struct nsjail_net {
	struct nsjail_macvlan macvlan;
	const char *const *move;		/* interfaces */
	size_t		n_move;
	struct nsjail_fib_rule *rules;
	size_t		n_rules;
	char		**pasta;		/* its argv but the pid, for
						   which there is room; NULL */
	size_t		n_pasta;
	const char	*pasta_file;
};

/* Into the network namespace of pid, from ours. */
int nsjail_net_move(const struct nsjail_net *net, int pid,
    struct nsrun_err *err);
/* In that namespace: addresses, routes, rules. */
int nsjail_net_configure(const struct nsjail_net *net, struct nsrun_err *err);

#endif
