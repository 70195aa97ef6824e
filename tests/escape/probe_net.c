/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NET: internet sockets and the families nobody asked for. */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In isolation four families are allowed, by type and protocol. */
static bool
is_allowed(int family, int type)
{
	if (strcmp(probe_param("net"), "isolated"))
		return false;
	return (family == AF_UNIX && (type == SOCK_STREAM ||
	    type == SOCK_DGRAM || type == SOCK_SEQPACKET)) ||
	    ((family == AF_INET || family == AF_INET6) &&
	    (type == SOCK_STREAM || type == SOCK_DGRAM)) ||
	    (family == AF_NETLINK && (type == SOCK_RAW || type == SOCK_DGRAM));
}

static void
families(void)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW,
		SOCK_SEQPACKET };
	int first = 0, others = 0;

	for (int family = 0; family <= 47; family++)
		for (size_t i = 0; i < 4; i++) {
			if (is_allowed(family, types[i]))
				continue;
			if (socket(family, types[i], 0) >= 0)
				probe_open("family %d, type %d", family,
				    types[i]);
			first = first ? first : errno;
			others += errno != first;
		}
	/* Of the allowed families another type has another errno. */
	probe_blocked(first, "%d with another errno", others);
}

static _Noreturn void
create(int family, int type, int protocol)
{
	probe_result(socket(family, type, protocol), "socket");
}

#define FAMILY(function, family, type, protocol)	\
static void						\
function(void)						\
{							\
	create(family, type, protocol);			\
}

FAMILY(alg, 38, SOCK_SEQPACKET, 0)
FAMILY(packet, 17, SOCK_RAW, 0)
FAMILY(netfilter, AF_NETLINK, SOCK_RAW, 12)
FAMILY(xfrm, AF_NETLINK, SOCK_RAW, 6)
FAMILY(uevent, AF_NETLINK, SOCK_RAW, 15)
FAMILY(audit, AF_NETLINK, SOCK_RAW, 9)
FAMILY(generic, AF_NETLINK, SOCK_RAW, 16)
FAMILY(raw4, AF_INET, SOCK_RAW, 1)
FAMILY(raw6, AF_INET6, SOCK_RAW, 58)
FAMILY(ping, AF_INET, SOCK_DGRAM, 1)
FAMILY(mptcp, AF_INET, SOCK_STREAM, 262)
FAMILY(sctp, AF_INET, SOCK_STREAM, 132)
FAMILY(udplite, AF_INET, SOCK_DGRAM, 136)
FAMILY(vsock, 40, SOCK_STREAM, 0)
FAMILY(key, 15, SOCK_RAW, 2)
FAMILY(rxrpc, 33, SOCK_DGRAM, AF_INET)
FAMILY(tipc, 30, SOCK_STREAM, 0)
FAMILY(can, 29, SOCK_RAW, 1)
FAMILY(bluetooth, 31, SOCK_RAW, 1)
FAMILY(smc, 43, SOCK_STREAM, 0)
FAMILY(xdp, 44, SOCK_RAW, 0)
FAMILY(ax25, 3, SOCK_DGRAM, 0)

/* The kernel looks at the low 32 bits of the family: netlink, not allowed. */
static void
uevent32(void)
{
	probe_result(syscall(SYS_socket, 1L << 32 | AF_NETLINK,
	    (long)SOCK_RAW, 15L), "socket with bit 32");
}

static _Noreturn void
reach(const char *address, int type)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };
	bool is6 = strchr(address, ':');
	int fd = socket(is6 ? AF_INET6 : AF_INET, type, 0);
	const char *port = type == SOCK_STREAM ? "port" : "udpport";
	ssize_t n;

	if (fd < 0)
		probe_blocked(errno, "socket");
	four.sin_port = six.sin6_port = htons((uint16_t)probe_number(port));
	inet_pton(is6 ? AF_INET6 : AF_INET, address, is6 ?
	    (void *)&six.sin6_addr : (void *)&four.sin_addr);
	if (connect(fd, is6 ? (const void *)&six : (const void *)&four,
	    is6 ? sizeof six : sizeof four) < 0)
		probe_blocked(errno, "connect %s", address);
	n = send(fd, "escape", 6, 0);
	/* What a closed UDP port says comes with the next call. */
	if (n > 0 && type == SOCK_DGRAM) {
		usleep(50000);
		n = send(fd, "escape", 6, 0);
	}
	probe_result(n, address);
}

#define REACH(function, address, type)			\
static void						\
function(void)						\
{							\
	reach(address, type);				\
}

REACH(tcp4, "127.0.0.1", SOCK_STREAM)
REACH(tcp6, "::1", SOCK_STREAM)
REACH(mapped, "::ffff:127.0.0.1", SOCK_STREAM)
REACH(any, "0.0.0.0", SOCK_STREAM)
REACH(udp4, "127.0.0.1", SOCK_DGRAM)
REACH(udp6, "::1", SOCK_DGRAM)

/* To an address of TEST-NET: connect(2) of a datagram socket sends nothing. */
static void
route(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(53) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		probe_blocked(errno, "socket");
	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	probe_result(connect(fd, (const void *)&to, sizeof to), "192.0.2.1");
}

static void
interfaces(void)
{
	char text[16384], *save = NULL;
	int n = 0;

	if (probe_read("/proc/self/net/dev", text, sizeof text) < 0)
		probe_blocked(errno, "/proc/self/net/dev");
	for (char *line = strtok_r(text, "\n", &save); line;
	    line = strtok_r(NULL, "\n", &save)) {
		char name[64] = "";

		if (!strchr(line, ':') || sscanf(line, " %63[^:]", name) != 1)
			continue;
		n++;
		if (strcmp(name, "lo"))
			probe_open("%s", name);
	}
	probe_blocked(0, "%d interface, lo", n);
}

/* RTM_NEWLINK: take lo down. */
static void
link_down(void)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
	} message = {
		.header = { .nlmsg_len = sizeof message,
		    .nlmsg_type = RTM_NEWLINK,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_index = 1, .ifi_change = IFF_UP },
	};
	struct {
		struct nlmsghdr header;
		struct nlmsgerr err;
		char rest[256];
	} answer;
	int fd;

	if (probe_on_host())
		probe_skip("never on the host itself");
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (fd < 0)
		probe_blocked(errno, "socket");
	if (send(fd, &message, sizeof message, 0) < 0 ||
	    recv(fd, &answer, sizeof answer, 0) < 0)
		probe_blocked(errno, "netlink");
	errno = -answer.err.error;
	probe_result(answer.err.error ? -1 : 0, "RTM_NEWLINK");
}

static _Noreturn void
option(int level, int number, const void *value, socklen_t n)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		probe_blocked(errno, "socket");
	probe_result(setsockopt(fd, level, number, value, n), "setsockopt");
}

static void
mark(void)
{
	option(SOL_SOCKET, SO_MARK, &(int){ 1 }, sizeof(int));
}

static void
transparent(void)
{
	option(SOL_IP, 19, &(int){ 1 }, sizeof(int));
}

static void
low_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(987) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		probe_blocked(errno, "socket");
	inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
	probe_result(bind(fd, (const void *)&at, sizeof at), "port 987");
}

static void
resolver(void)
{
	char text[512];

	if (probe_read("/etc/resolv.conf", text, sizeof text) < 0)
		probe_blocked(errno, "/etc/resolv.conf");
	probe_open("%.100s", text);
}

/* A server and a client of our own: what isolation is for. */
static void
loopback(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof at;
	int server = socket(AF_INET, SOCK_STREAM, 0), client;

	inet_pton(AF_INET, "127.0.0.1", &at.sin_addr);
	if (server < 0)
		probe_blocked(errno, "socket");
	if (bind(server, (const void *)&at, n) < 0 || listen(server, 1) < 0 ||
	    getsockname(server, (void *)&at, &n) < 0)
		probe_blocked(errno, "listen");
	client = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(client, (const void *)&at, n) < 0 ||
	    accept(server, NULL, NULL) < 0)
		probe_blocked(errno, "connect");
	probe_contained("127.0.0.1 answers");
}

const struct probe_check probe_net[] = {
	{ "NET-01.families", families },
	{ "NET-02.tcp4", tcp4 },
	{ "NET-02.tcp6", tcp6 },
	{ "NET-02.mapped", mapped },
	{ "NET-02.any", any },
	{ "NET-02.udp4", udp4 },
	{ "NET-02.udp6", udp6 },
	{ "NET-09.vsock", vsock },
	{ "NET-10.alg", alg },
	{ "NET-10.packet", packet },
	{ "NET-10.netfilter", netfilter },
	{ "NET-10.xfrm", xfrm },
	{ "NET-10.uevent", uevent },
	{ "NET-10.audit", audit },
	{ "NET-10.generic", generic },
	{ "NET-10.raw4", raw4 },
	{ "NET-10.raw6", raw6 },
	{ "NET-10.ping", ping },
	{ "NET-10.mptcp", mptcp },
	{ "NET-10.sctp", sctp },
	{ "NET-10.udplite", udplite },
	{ "NET-10.key", key },
	{ "NET-10.uevent32", uevent32 },
	{ "NET-10.rxrpc", rxrpc },
	{ "NET-10.tipc", tipc },
	{ "NET-10.can", can },
	{ "NET-10.bluetooth", bluetooth },
	{ "NET-10.smc", smc },
	{ "NET-10.xdp", xdp },
	{ "NET-10.ax25", ax25 },
	{ "NET-12.link", link_down },
	{ "NET-13.route", route },
	{ "NET-13.resolver", resolver },
	{ "NET-14.interfaces", interfaces },
	{ "NET-15.loopback", loopback },
	{ "NET-16.port", low_port },
	{ "NET-16.mark", mark },
	{ "NET-16.transparent", transparent },
	{ NULL, NULL }
};
