/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process of ours enters the child's user namespace, which then owns the
 * network as if the child had made it, and hands it over. It lives as long as
 * that takes, has no other descriptor, and whatever goes wrong is the end of it
 * and of its socket: the child hears that and makes a network itself.
 */
#include "run/netns.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "run/run.h"

/* Who looks at the child first is to find its own network. */
static bool
is_possible(const struct nsrun_plan *plan)
{
	const struct nsrun_identity *who = &plan->identity;
	cpu_set_t cpus;

	return plan->namespaces & CLONE_NEWNET && plan->loopback &&
	    !plan->process.waits && !who->leaves_root && !who->asks_for_maps &&
	    !who->finds_maps && plan->join.user < 0 && plan->join.pid < 0 &&
	    sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
	    CPU_COUNT(&cpus) > 1;
}

void
nsrun_netns_prepare(struct nsrun_prep *prep)
{
	int ends[2];

	if (!is_possible(prep->plan) || socketpair(AF_UNIX,
	    SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return;
	if (nsrun_fd_raise(&ends[0]) < 0 || nsrun_fd_raise(&ends[1]) < 0) {
		nsrun_fd_close(&ends[0]);
		nsrun_fd_close(&ends[1]);
		return;
	}
	prep->net_fd = ends[0];
	prep->parent_fds[2] = ends[1];
}

static _Noreturn void
make(const struct nsrun_run *run, int socket_fd)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	int pidfd = run->pidfd, netlink = -1, net = -1;
	const int keep[] = {
		pidfd < socket_fd ? pidfd : socket_fd,
		pidfd < socket_fd ? socket_fd : pidfd,
	};

	if (nsrun_fd_close_others(keep, 2) == 0 &&
	    (!(run->plan->namespaces & CLONE_NEWUSER) ||
	    setns(pidfd, CLONE_NEWUSER) == 0) && unshare(CLONE_NEWNET) == 0)
		netlink = nsrun_loopback_raise(&err);
	if (netlink >= 0)
		net = ioctl(netlink, SIOCGSKNS);
	_exit(net < 0 || nsrun_child_pass(socket_fd, "", 1, net) < 0);
}

void
nsrun_netns_begin(struct nsrun_prep *prep, struct nsrun_run *run)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };

	if (prep->net_fd < 0)
		return;
	/* Then its end of the socket is the only one. */
	nsrun_fd_close(&prep->net_fd);
	run->maker = (pid_t)sys_clone3(&args);
	if (run->maker == 0)
		make(run, prep->parent_fds[2]);
	nsrun_fd_close(&prep->parent_fds[2]);
}

void
nsrun_netns_end(struct nsrun_run *run)
{
	while (run->maker > 0 && waitpid(run->maker, NULL, __WALL) < 0 &&
	    errno == EINTR)
		continue;
	run->maker = 0;
}
