/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "net.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <string.h>

#include "base/err.h"
#include "base/fd.h"
#include "netlink.h"

static const char vs[] = "vs";		/* nsjail's name for it */

static int
failed(struct nsrun_err *err, const char *call, const char *subject)
{
	if (errno == EPERM)
		return nsrun_err_rule(err, NSRUN_STEP_NETWORK, "takes"
		    " CAP_NET_ADMIN in the network that has the interface",
		    subject, NULL);
	return nsrun_err_sys(err, NSRUN_STEP_NETWORK, call, subject, NULL);
}

static int
move(int fd, const char *name, int pid, struct nsrun_err *err)
{
	struct ifinfomsg body = {
		.ifi_family = AF_UNSPEC, .ifi_index = (int)if_nametoindex(name),
	};
	uint32_t to = (uint32_t)pid;
	struct nsjail_request r;

	if (!body.ifi_index)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "if_nametoindex",
		    name, NULL);
	nsjail_request_begin(&r, RTM_NEWLINK, 0, &body, sizeof body);
	nsjail_request_put(&r, IFLA_NET_NS_PID, &to, sizeof to);
	return nsjail_request_send(&r, fd) < 0 ? failed(err,
	    "RTM_NEWLINK netns", name) : 0;
}

/* Made there at once: its name need not be free here. */
static int
make_macvlan(int fd, const struct nsjail_macvlan *m, int pid,
    struct nsrun_err *err)
{
	const struct ifinfomsg body = { .ifi_family = AF_UNSPEC };
	uint32_t to = (uint32_t)pid, parent = if_nametoindex(m->parent);
	struct nsjail_request r;
	size_t info, data;

	if (!parent)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "if_nametoindex",
		    m->parent, NULL);
	nsjail_request_begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &body,
	    sizeof body);
	nsjail_request_put(&r, IFLA_IFNAME, vs, sizeof vs);
	nsjail_request_put(&r, IFLA_LINK, &parent, sizeof parent);
	nsjail_request_put(&r, IFLA_NET_NS_PID, &to, sizeof to);
	if (m->has_mac)
		nsjail_request_put(&r, IFLA_ADDRESS, m->mac, sizeof m->mac);
	info = nsjail_request_nest(&r, IFLA_LINKINFO);
	nsjail_request_put(&r, IFLA_INFO_KIND, "macvlan", 8);
	data = nsjail_request_nest(&r, IFLA_INFO_DATA);
	nsjail_request_put(&r, IFLA_MACVLAN_MODE, &m->mode, sizeof m->mode);
	nsjail_request_unnest(&r, data);
	nsjail_request_unnest(&r, info);
	return nsjail_request_send(&r, fd) < 0 ? failed(err,
	    "RTM_NEWLINK macvlan", m->parent) : 0;
}

int
nsjail_net_move(const struct nsjail_net *net, int pid, struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;

	if (!net->n_move && !net->macvlan.parent)
		return 0;
	fd = nsjail_netlink_open();
	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "socket",
		    "netlink", NULL);
	for (size_t i = 0; i < net->n_move; i++)
		if (move(fd, net->move[i], pid, err) < 0)
			return -1;
	return net->macvlan.parent ? make_macvlan(fd, &net->macvlan, pid,
	    err) : 0;
}

static int
add_address(int fd, const struct nsjail_macvlan *m, uint32_t index)
{
	const struct ifaddrmsg body = {
		.ifa_family = AF_INET, .ifa_prefixlen = m->prefix,
		.ifa_index = index,
	};
	struct in_addr broadcast = m->ip;
	struct nsjail_request r;

	nsjail_request_begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body,
	    sizeof body);
	nsjail_request_put(&r, IFA_LOCAL, &m->ip, sizeof m->ip);
	nsjail_request_put(&r, IFA_ADDRESS, &m->ip, sizeof m->ip);
	/* A net of two or one has none. */
	if (m->prefix < 31) {
		broadcast.s_addr |= htonl(UINT32_MAX >> m->prefix);
		nsjail_request_put(&r, IFA_BROADCAST, &broadcast,
		    sizeof broadcast);
	}
	return nsjail_request_send(&r, fd);
}

static int
raise_link(int fd, uint32_t index)
{
	const struct ifinfomsg body = {
		.ifi_family = AF_UNSPEC, .ifi_index = (int)index,
		.ifi_flags = IFF_UP, .ifi_change = IFF_UP,
	};
	struct nsjail_request r;

	nsjail_request_begin(&r, RTM_NEWLINK, 0, &body, sizeof body);
	return nsjail_request_send(&r, fd);
}

static int
add_default_route(int fd, const struct in_addr *gw, uint32_t index)
{
	const struct rtmsg body = {
		.rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
	};
	struct nsjail_request r;

	nsjail_request_begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL,
	    &body, sizeof body);
	nsjail_request_put(&r, RTA_GATEWAY, gw, sizeof *gw);
	nsjail_request_put(&r, RTA_OIF, &index, sizeof index);
	return nsjail_request_send(&r, fd);
}

static int
configure_macvlan(int fd, const struct nsjail_macvlan *m,
    struct nsrun_err *err)
{
	uint32_t index = if_nametoindex(vs);

	if (!m->ip.s_addr)
		return 0;
	if (add_address(fd, m, index) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "RTM_NEWADDR", vs,
		    NULL);
	if (raise_link(fd, index) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "RTM_NEWLINK up",
		    vs, NULL);
	if (m->gw.s_addr && add_default_route(fd, &m->gw, index) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "RTM_NEWROUTE",
		    "--macvlan_vs_gw", NULL);
	return 0;
}

/* Where the kernel puts it, as nsjail does: before all that were there. */
static int
add_rule(int fd, const struct nsjail_fib_rule *rule)
{
	const struct fib_rule_hdr body = {
		.family = rule->family, .action = rule->action,
		.src_len = rule->src_bits, .dst_len = rule->dst_bits,
		.table = rule->action == FR_ACT_TO_TBL ? RT_TABLE_MAIN : 0,
	};
	size_t size = rule->family == AF_INET ? 4 : 16;
	const struct fib_rule_port_range sport = {
		rule->sport[0], rule->sport[1],
	}, dport = { rule->dport[0], rule->dport[1] };
	struct nsjail_request r;

	nsjail_request_begin(&r, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, &body,
	    sizeof body);
	if (rule->src_bits)
		nsjail_request_put(&r, FRA_SRC, rule->src, size);
	if (rule->dst_bits)
		nsjail_request_put(&r, FRA_DST, rule->dst, size);
	if (*rule->iif)
		nsjail_request_put(&r, FRA_IIFNAME, rule->iif,
		    strlen(rule->iif) + 1);
	if (*rule->oif)
		nsjail_request_put(&r, FRA_OIFNAME, rule->oif,
		    strlen(rule->oif) + 1);
	if (rule->proto)
		nsjail_request_put(&r, FRA_IP_PROTO, &rule->proto, 1);
	if (sport.end)
		nsjail_request_put(&r, FRA_SPORT_RANGE, &sport, sizeof sport);
	if (dport.end)
		nsjail_request_put(&r, FRA_DPORT_RANGE, &dport, sizeof dport);
	return nsjail_request_send(&r, fd);
}

int
nsjail_net_configure(const struct nsjail_net *net, struct nsrun_err *err)
{
	nsrun_autoclose int fd = nsjail_netlink_open();

	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NETWORK, "socket",
		    "netlink", NULL);
	for (size_t i = 0; i < net->n_rules; i++)
		if (add_rule(fd, &net->rules[i]) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_NETWORK,
			    "RTM_NEWRULE", "traffic_rule", NULL);
	return net->macvlan.parent ? configure_macvlan(fd, &net->macvlan,
	    err) : 0;
}
