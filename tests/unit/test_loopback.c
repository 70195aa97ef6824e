/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our one netlink message is what libmnl would make of the same wish. */
#include "table.h"

#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "apply/apply.h"

static void
test_message(void **state)
{
	char buf[256];
	struct nlmsghdr *header = mnl_nlmsg_put_header(buf);
	struct ifinfomsg *link;

	(void)state;
	header->nlmsg_type = RTM_NEWLINK;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	header->nlmsg_seq = 1;
	link = mnl_nlmsg_put_extra_header(header, sizeof *link);
	link->ifi_family = AF_UNSPEC;
	link->ifi_index = 1;
	link->ifi_flags = link->ifi_change = IFF_UP;
	assert_int_equal(header->nlmsg_len, sizeof nsrun_loopback_up);
	assert_memory_equal(&nsrun_loopback_up, buf, header->nlmsg_len);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message),
	};

	return cmocka_run_group_tests_name("loopback", tests, NULL, NULL);
}
