/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_net: a network by way of pasta(1), whatever the backend says. nsjail's
 * own stack, NSTUN, is not here: what is said of it is told to pasta, and a
 * rule that pasta cannot keep is refused.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nsjail.h"

enum { MAX_WORDS = 48 };

struct words {
	char	**v;
	size_t	count;
};

static void
add(struct words *w, const char *word)
{
	w->v[w->count++] = (char *)(uintptr_t)word;
}

/* "--no-tcp", say, if not so. */
static void
add_unless(struct words *w, bool so, const char *word)
{
	if (!so)
		add(w, word);
}

static void
add_pair(struct words *w, const char *option, const char *value)
{
	if (*value) {
		add(w, option);
		add(w, value);
	}
}

/* Nothing that is an option, or that pasta would read as something else. */
static int
check_ports(struct nsjail *n, const char *field, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:/%~-_[]";

	return *text == '-' || text[strspn(text, letters)] ?
	    nsjail_refuse(n, field, "are no ports as pasta(1) has them",
	    text) : 0;
}

static int
check_address(struct nsjail *n, const char *field, int family,
    const char *text)
{
	unsigned char address[16];

	return *text && inet_pton(family, text, address) != 1 ?
	    nsjail_refuse(n, field, "is no address of its family", text) : 0;
}

static int
check(struct nsjail *n, const struct nsjail_user_net *u,
    const struct nsjail_pasta *p)
{
	if (u->backend == NSJAIL_NSTUN && u->pasta)
		return nsjail_refuse(n, "user_net", "pasta {} goes with"
		    " backend: PASTA", NULL);
	if (u->backend == NSJAIL_PASTA && (u->rule4.n || u->rule6.n))
		return nsjail_refuse(n, "user_net", "rule4 and rule6 go with"
		    " backend: NSTUN", NULL);
	if (!p->ip4 && !p->ip6)
		return nsjail_refuse(n, "user_net", "has neither IPv4 nor"
		    " IPv6", NULL);
	if (strcmp(p->mask6, "64"))
		return nsjail_refuse(n, "user_net", "mask6 is 64 with pasta(1)"
		    " always", p->mask6);
	if (*p->dns_forward && check_address(n, "user_net",
	    strchr(p->dns_forward, ':') ? AF_INET6 : AF_INET,
	    p->dns_forward) < 0)
		return -1;
	if (check_address(n, "user_net", AF_INET, u->ip4) < 0 ||
	    check_address(n, "user_net", AF_INET, u->gw4) < 0 ||
	    check_address(n, "user_net", AF_INET, p->mask4) < 0 ||
	    check_address(n, "user_net", AF_INET6, u->ip6) < 0 ||
	    check_address(n, "user_net", AF_INET6, u->gw6) < 0 ||
	    (*u->iface && nsjail_check_iface(n, "user_net", u->iface) < 0))
		return -1;
	if (check_ports(n, "user_net", p->tcp_in) < 0 ||
	    check_ports(n, "user_net", p->udp_in) < 0 ||
	    check_ports(n, "user_net", p->tcp_out) < 0)
		return -1;
	return check_ports(n, "user_net", p->udp_out);
}

/* "8080-8090:80-90" behind what is there; NULL: no memory. */
static const char *
add_forward(struct nsjail *n, const char *so_far,
    const struct nsjail_net_rule *r)
{
	uint32_t last = r->dport_end ? r->dport_end : r->dport;
	uint32_t to = r->redirect_port ? r->redirect_port : r->dport;
	const char *comma = strcmp(so_far, "none") ? "," : "";

	if (!*comma)
		so_far = "";
	return last == r->dport ? nsrun_arena_printf(&n->arena, "%s%s%u:%u",
	    so_far, comma, r->dport, to) : nsrun_arena_printf(&n->arena,
	    "%s%s%u-%u:%u-%u", so_far, comma, r->dport, last, to,
	    to + (last - r->dport));
}

/*
 * pasta passes whatever the jail begins, and no more than the named ports the
 * other way. So what a rule may say is that.
 */
static int
plan_rule(struct nsjail *n, const struct nsjail_net_rule *r, const char *guest,
    struct nsjail_pasta *p)
{
	bool plain = !*r->src_ip && !*r->dst_ip && !r->sport && !r->sport_end;
	uint32_t last = r->dport_end ? r->dport_end : r->dport;
	uint32_t to = r->redirect_port ? r->redirect_port : r->dport;

	if (r->direction == NSJAIL_GUEST_TO_HOST) {
		return r->action == NSJAIL_NET_ALLOW ? 0 : nsjail_refuse(n,
		    "user_net", "pasta(1) cannot keep a rule that drops,"
		    " rejects or redirects what the jail sends", NULL);
	}
	if (r->action != NSJAIL_NET_REDIRECT || !plain ||
	    r->proto == NSJAIL_ICMP || (*r->redirect_ip &&
	    strcmp(r->redirect_ip, guest)))
		return nsjail_refuse(n, "user_net", "of rules HOST_TO_GUEST,"
		    " pasta(1) can keep REDIRECT of ports to the jail's own"
		    " address, from anywhere", NULL);
	if (!r->dport || last < r->dport || last > UINT16_MAX ||
	    to > UINT16_MAX || last - r->dport > UINT16_MAX - to)
		return nsjail_refuse(n, "user_net", "the ports of a rule are"
		    " no range of 1 to 65535", NULL);
	if (r->proto != NSJAIL_UDP &&
	    !(p->tcp_in = add_forward(n, p->tcp_in, r)))
		return nsjail_nomem(n);
	if (r->proto != NSJAIL_TCP &&
	    !(p->udp_in = add_forward(n, p->udp_in, r)))
		return nsjail_nomem(n);
	return 0;
}

static int
plan_rules(struct nsjail *n, const struct nsjail_user_net *u,
    struct nsjail_pasta *p)
{
	const struct nsjail_net_rule *v4 = u->rule4.v, *v6 = u->rule6.v;

	for (size_t i = 0; i < u->rule4.n; i++)
		if (plan_rule(n, &v4[i], u->ip4, p) < 0)
			return -1;
	for (size_t i = 0; i < u->rule6.n; i++)
		if (plan_rule(n, &v6[i], u->ip6, p) < 0)
			return -1;
	return 0;
}

/* What has to do with addresses; without "nat" only ports are joined. */
static void
add_nat(struct words *w, const struct nsjail_user_net *u,
    const struct nsjail_pasta *p)
{
	add_unless(w, p->dhcp, "--no-dhcp");
	add_unless(w, p->dhcpv6, "--no-dhcpv6");
	add_unless(w, p->ra, "--no-ra");
	add_unless(w, p->dhcp || p->dhcpv6, "--config-net");
	add_unless(w, !p->dns, "--dhcp-dns");
	add_pair(w, "--dns-forward", p->dns_forward);
	add_unless(w, p->tcp, "--no-tcp");
	add_unless(w, p->udp, "--no-udp");
	add_unless(w, p->icmp, "--no-icmp");
	add_unless(w, p->map_gw, "--no-map-gw");
	if (p->ip4 && *u->ip4) {
		add_pair(w, "-a", u->ip4);
		add_pair(w, "-n", p->mask4);
		add_pair(w, "-g", u->gw4);
	}
	if (p->ip6 && *u->ip6) {
		add_pair(w, "-a", u->ip6);
		add_pair(w, "-g", u->gw6);
	}
	add_unless(w, p->ip4, "-6");
	add_unless(w, p->ip6, "-4");
	add_pair(w, "-I", u->iface);
}

static int
make_words(struct nsjail *n, struct nsjail_net *net,
    const struct nsjail_user_net *u, const struct nsjail_pasta *p)
{
	struct words w = { .v = NULL };

	/* With room for the pid, and zeroed. */
	w.v = nsrun_arena_alloc(&n->arena, MAX_WORDS * sizeof *w.v);
	if (!w.v)
		return nsjail_nomem(n);
	add(&w, "pasta");
	add(&w, "-f");
	add(&w, "-q");
	/* As nobody, which it would become, it may not enter the jail. */
	if (geteuid() == 0)
		add_pair(&w, "--runas", "0");
	if (p->nat)
		add_nat(&w, u, p);
	add_pair(&w, "-t", p->tcp_in);
	add_pair(&w, "-u", p->udp_in);
	add_pair(&w, "-T", p->tcp_out);
	add_pair(&w, "-U", p->udp_out);
	if (!p->nat)
		add(&w, "--splice-only");
	net->pasta = w.v;
	net->n_pasta = w.count;
	return 0;
}

/* As execvp(3) would; NULL: it is nowhere. */
static const char *
find_pasta(struct nsjail *n)
{
	const char *named = getenv("NSJAIL_PASTA_PATH");
	const char *dirs = getenv("PATH"), *file;

	if (named)
		return access(named, X_OK) == 0 ? named : NULL;
	if (!dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (size_t k; *dirs; dirs += k + (dirs[k] == ':')) {
		k = strcspn(dirs, ":");
		file = nsrun_arena_printf(&n->arena, "%.*s/pasta", (int)k,
		    dirs);
		if (*dirs == '/' && file && access(file, X_OK) == 0)
			return file;
	}
	return NULL;
}

int
nsjail_plan_user_net(struct nsjail *n, struct nsjail_net *net)
{
	const struct nsjail_user_net *u = n->config.user_net;
	struct nsjail_pasta p;

	if (!u)
		return 0;
	/* Its rights there are all that pasta keeps of its own. */
	if (!n->config.newuser)
		return nsjail_refuse(n, "user_net", "takes a user namespace for"
		    " the jail", NULL);
	nsjail_message_init(&nsjail_pasta_message, &p);
	if (u->pasta)
		p = *u->pasta;
	else if (u->backend == NSJAIL_NSTUN)
		p.map_gw = false;	/* nobody asked for the host's own */
	if (check(n, u, &p) < 0 || plan_rules(n, u, &p) < 0 ||
	    make_words(n, net, u, &p) < 0)
		return -1;
	net->pasta_file = find_pasta(n);
	if (!net->pasta_file)
		return nsjail_refuse(n, "user_net", "takes pasta(1), which is"
		    " not installed (Debian: passt), or not in PATH",
		    getenv("NSJAIL_PASTA_PATH"));
	return 0;
}
