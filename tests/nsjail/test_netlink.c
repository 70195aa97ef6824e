/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our messages of netlink are what libmnl would make of the same wish. */
#include "tests/unit/table.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "netlink.h"

static void
test_nested(void **state)
{
	const struct ifinfomsg body = {
		.ifi_family = AF_UNSPEC, .ifi_index = 7,
	};
	const uint32_t parent = 42, mode = MACVLAN_MODE_BRIDGE;
	static const uint8_t mac[6] = { 2, 0, 0, 0, 0, 9 };
	_Alignas(struct nlmsghdr) char buf[1024] = "";
	struct nlmsghdr *header = mnl_nlmsg_put_header(buf);
	struct nlattr *info, *data;
	struct nsjail_request r;
	size_t i, k;

	(void)state;
	header->nlmsg_type = RTM_NEWLINK;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
	header->nlmsg_seq = 1;
	memcpy(mnl_nlmsg_put_extra_header(header, sizeof body), &body,
	    sizeof body);
	mnl_attr_put_strz(header, IFLA_IFNAME, "vs");
	mnl_attr_put_u32(header, IFLA_LINK, parent);
	mnl_attr_put(header, IFLA_ADDRESS, sizeof mac, mac);
	info = mnl_attr_nest_start(header, IFLA_LINKINFO);
	mnl_attr_put(header, IFLA_INFO_KIND, 8, "macvlan");
	data = mnl_attr_nest_start(header, IFLA_INFO_DATA);
	mnl_attr_put_u32(header, IFLA_MACVLAN_MODE, mode);
	mnl_attr_nest_end(header, data);
	mnl_attr_nest_end(header, info);
	/* The flag that says so came later than these attributes. */
	info->nla_type &= NLA_TYPE_MASK;
	data->nla_type &= NLA_TYPE_MASK;

	nsjail_request_begin(&r, RTM_NEWLINK, NLM_F_CREATE, &body, sizeof body);
	nsjail_request_put(&r, IFLA_IFNAME, "vs", 3);
	nsjail_request_put(&r, IFLA_LINK, &parent, sizeof parent);
	nsjail_request_put(&r, IFLA_ADDRESS, mac, sizeof mac);
	i = nsjail_request_nest(&r, IFLA_LINKINFO);
	nsjail_request_put(&r, IFLA_INFO_KIND, "macvlan", 8);
	k = nsjail_request_nest(&r, IFLA_INFO_DATA);
	nsjail_request_put(&r, IFLA_MACVLAN_MODE, &mode, sizeof mode);
	nsjail_request_unnest(&r, k);
	nsjail_request_unnest(&r, i);
	((struct nlmsghdr *)(void *)r.buf)->nlmsg_len = (uint32_t)r.n;
	assert_int_equal(r.n, header->nlmsg_len);
	assert_memory_equal(r.buf, buf, r.n);
}

static void
test_full(void **state)
{
	static const char much[600];
	const struct ifinfomsg body = { 0 };
	struct nsjail_request r;
	size_t start;

	(void)state;
	nsjail_request_begin(&r, RTM_NEWLINK, 0, &body, sizeof body);
	nsjail_request_put(&r, IFLA_IFNAME, much, sizeof much);
	start = nsjail_request_nest(&r, IFLA_LINKINFO);
	nsjail_request_put(&r, IFLA_IFNAME, much, sizeof much);
	nsjail_request_unnest(&r, start);
	/* Nothing fits behind it, either. */
	nsjail_request_put(&r, IFLA_IFNAME, "", 1);
	assert_int_equal(nsjail_request_send(&r, -1), -1);
	assert_int_equal(errno, EMSGSIZE);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("netlink", tests, NULL, NULL);
}
