/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Networks: what is asked for, checked, and parsed for net.c. */
#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "nsjail.h"

int
nsjail_check_iface(struct nsjail *n, const char *field, const char *name)
{
	return !*name || strlen(name) >= IFNAMSIZ || strpbrk(name, "/ \t\n") ?
	    nsjail_refuse(n, field, "is no name of an interface", name) : 0;
}

static int
parse_ip4(struct nsjail *n, const char *field, const char *text,
    struct in_addr *to)
{
	return inet_pton(AF_INET, text, to) == 1 ? 0 :
	    nsjail_refuse(n, field, "is no IPv4 address", text);
}

static int
parse_netmask(struct nsjail *n, const char *text, uint8_t *prefix)
{
	struct in_addr mask;
	uint32_t bits;

	if (parse_ip4(n, "macvlan_vs_nm", text, &mask) < 0)
		return -1;
	bits = ntohl(mask.s_addr);
	if (~bits & (~bits + 1))
		return nsjail_refuse(n, "macvlan_vs_nm", "is no netmask: ones,"
		    " then zeroes", text);
	*prefix = (uint8_t)__builtin_popcount(bits);
	return 0;
}

/* Six bytes of two digits each; one that many share is none's. */
static int
parse_mac(struct nsjail *n, const char *text, uint8_t mac[6])
{
	const char *s = text;

	for (int i = 0; i < 6; i++) {
		size_t digits = strspn(s, "0123456789abcdefABCDEF");

		if (digits < 1 || digits > 2 || s[digits] != (i < 5 ? ':' :
		    '\0'))
			return nsjail_refuse(n, "macvlan_vs_ma", "is no MAC"
			    " address, as 02:00:00:00:00:01", text);
		mac[i] = (uint8_t)strtoul(s, NULL, 16);
		s += digits + 1;
	}
	return mac[0] & 1 ? nsjail_refuse(n, "macvlan_vs_ma",
	    "is a multicast address", text) : 0;
}

static int
parse_mode(struct nsjail *n, const char *text, uint32_t *mode)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} modes[] = {
		{ "private", MACVLAN_MODE_PRIVATE },
		{ "vepa", MACVLAN_MODE_VEPA },
		{ "bridge", MACVLAN_MODE_BRIDGE },
		{ "passthru", MACVLAN_MODE_PASSTHRU },
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].name, text)) {
			*mode = modes[i].mode;
			return 0;
		}
	return nsjail_refuse(n, "macvlan_vs_mo", "is none of private, vepa,"
	    " bridge, passthru", text);
}

static int
plan_macvlan(struct nsjail *n, struct nsjail_macvlan *m)
{
	const struct nsjail_config *c = &n->config;

	if (!*c->macvlan_iface)
		return 0;
	m->parent = c->macvlan_iface;
	m->has_mac = *c->vs_ma;
	if (nsjail_check_iface(n, "macvlan_iface", m->parent) < 0 ||
	    parse_ip4(n, "macvlan_vs_ip", c->vs_ip, &m->ip) < 0 ||
	    parse_netmask(n, c->vs_nm, &m->prefix) < 0 ||
	    parse_ip4(n, "macvlan_vs_gw", c->vs_gw, &m->gw) < 0 ||
	    (m->has_mac && parse_mac(n, c->vs_ma, m->mac) < 0))
		return -1;
	return parse_mode(n, c->vs_mo, &m->mode);
}

/* ADDRESS or ADDRESS/BITS; "" is any. */
static int
parse_cidr(struct nsjail *n, int family, const char *text, uint8_t to[16],
    uint8_t *bits)
{
	size_t k = strcspn(text, "/");
	uint64_t number = family == AF_INET ? 32 : 128;
	char address[INET6_ADDRSTRLEN];

	if (!*text)
		return 0;
	if (k < sizeof address) {
		memcpy(address, text, k);
		address[k] = '\0';
	}
	if (k >= sizeof address || inet_pton(family, address, to) != 1 ||
	    (text[k] && nsjail_number(text + k + 1, number, &number) < 0))
		return nsjail_refuse(n, "traffic_rule", "is no address of its"
		    " ip_family, or none with /BITS", text);
	*bits = (uint8_t)number;
	return 0;
}

static int
parse_ports(struct nsjail *n, uint32_t first, uint32_t last,
    uint16_t ports[2])
{
	if (!last)
		last = first;
	if (last > UINT16_MAX || first > last || (last && !first))
		return nsjail_refuse(n, "traffic_rule", "its ports are no"
		    " range of 1 to 65535", NULL);
	ports[0] = (uint16_t)first;
	ports[1] = (uint16_t)last;
	return 0;
}

static int
plan_rule(struct nsjail *n, const struct nsjail_route_rule *from,
    struct nsjail_fib_rule *to)
{
	static const uint8_t actions[] = {
		[NSJAIL_RULE_DROP] = FR_ACT_BLACKHOLE,
		[NSJAIL_RULE_REJECT] = FR_ACT_UNREACHABLE,
		[NSJAIL_RULE_ALLOW] = FR_ACT_TO_TBL,
	};
	static const uint8_t protocols[] = {
		[NSJAIL_ANY] = 0, [NSJAIL_TCP] = IPPROTO_TCP,
		[NSJAIL_UDP] = IPPROTO_UDP, [NSJAIL_ICMP] = IPPROTO_ICMP,
		[NSJAIL_ICMPV6] = IPPROTO_ICMPV6,
	};
	int family = from->family ? AF_INET6 : AF_INET;

	*to = (struct nsjail_fib_rule){
		.family = (uint8_t)family, .action = actions[from->action],
		.proto = protocols[from->proto],
		.iif = from->iif, .oif = from->oif,
	};
	if (!from->action)
		return nsjail_refuse(n, "traffic_rule", "its action is none of"
		    " DROP, REJECT, ALLOW", NULL);
	if ((*from->iif && nsjail_check_iface(n, "traffic_rule",
	    from->iif) < 0) || (*from->oif && nsjail_check_iface(n,
	    "traffic_rule", from->oif) < 0))
		return -1;
	if (parse_cidr(n, family, from->src, to->src, &to->src_bits) < 0 ||
	    parse_cidr(n, family, from->dst, to->dst, &to->dst_bits) < 0 ||
	    parse_ports(n, from->sport, from->sport_end, to->sport) < 0)
		return -1;
	return parse_ports(n, from->dport, from->dport_end, to->dport);
}

static int
plan_rules(struct nsjail *n, struct nsjail_net *net)
{
	const struct nsjail_list *list = &n->config.traffic_rules;
	const struct nsjail_route_rule *v = list->v;

	if (!list->n)
		return 0;
	net->rules = nsrun_arena_alloc(&n->arena, list->n *
	    sizeof *net->rules);
	if (!net->rules)
		return nsjail_nomem(n);
	net->n_rules = list->n;
	for (size_t i = 0; i < list->n; i++)
		if (plan_rule(n, &v[i], &net->rules[i]) < 0)
			return -1;
	return 0;
}

/* What is asked for only makes sense in a network of the jail's own. */
static int
check_own_network(struct nsjail *n)
{
	const struct nsjail_config *c = &n->config;
	const char *field = c->iface_own.n ? "iface_own" :
	    *c->macvlan_iface ? "macvlan_iface" : c->traffic_rules.n ?
	    "traffic_rule" : c->user_net ? "user_net" : NULL;

	if (!field || c->newnet)
		return 0;
	return nsjail_refuse(n, field, "goes with no -N: the jail has the"
	    " caller's network", NULL);
}

int
nsjail_plan_net(struct nsjail *n, struct nsrun_plan *plan)
{
	struct nsjail_net *net = &n->net;

	*net = (struct nsjail_net){
		.move = n->config.iface_own.v, .n_move = n->config.iface_own.n,
	};
	if (check_own_network(n) < 0)
		return -1;
	for (size_t i = 0; i < net->n_move; i++)
		if (nsjail_check_iface(n, "iface_own", net->move[i]) < 0)
			return -1;
	if (plan_macvlan(n, &net->macvlan) < 0 || plan_rules(n, net) < 0 ||
	    nsjail_plan_user_net(n, net) < 0)
		return -1;
	/* Nothing of the jail's runs before its network is there. */
	if (net->n_move || net->macvlan.parent || net->n_rules || net->pasta)
		plan->process.waits = n->guarded = true;
	return 0;
}
