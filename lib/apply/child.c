/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of what happens between clone and exec, in the order the kernel
 * demands. Must: be pid 1 of new namespaces with every signal blocked.
 * Mustn't: return, allocate, or run the command when any step failed.
 */
#include "apply/apply.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"

typedef int step(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);

static step reset_signals;
static step root_cgroup;
static step *const steps[] = {
	nsrun_apply_release,	/* somebody looks at us first */
	nsrun_apply_oom_score,	/* the file is the caller's until ids are not */
	reset_signals,		/* nothing of the caller's is ignored */
	root_cgroup,		/* what clone3 could not do */
	nsrun_apply_idmap,	/* without ids nothing is ours */
	nsrun_apply_mounts,	/* host paths still resolve here */
	nsrun_apply_pivot,	/* now they do not */
	nsrun_apply_network,	/* needs the first namespace's rights */
	nsrun_apply_hostname,	/* likewise */
	nsrun_apply_terminal,	/* in the devpts of the new root */
	nsrun_apply_lock,	/* leaves the first user namespace */
	nsrun_apply_witness,	/* while /proc of the host is still open */
	nsrun_apply_fds,	/* the last host descriptors go */
	nsrun_apply_core_limit,	/* the filter takes this one away */
	nsrun_apply_caps,	/* from here on nothing above can be undone */
	nsrun_apply_cwd,	/* with the command's rights, not with ours */
	nsrun_apply_privacy,	/* pid 1 turns opaque */
	nsrun_apply_scheduling,	/* slow only from here on */
	nsrun_apply_gate,	/* ready, as soon as it may */
	nsrun_apply_filter,	/* last: it forbids most of the above */
};

int
nsrun_child_say(const struct nsrun_prep *prep,
    const struct nsrun_message *message)
{
	ssize_t n;

	do
		n = write(prep->channel_fd, message, sizeof *message);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

int
nsrun_child_wait(const struct nsrun_prep *prep)
{
	unsigned char order = NSRUN_ORDER_KILL;
	ssize_t n;

	do
		n = read(prep->control_fd, &order, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && order == NSRUN_ORDER_GO)
		return 0;
	/* End of file: the supervisor is dead. */
	errno = n < 0 ? errno : ECANCELED;
	return -1;
}

int
nsrun_child_pass(int socket_fd, const void *data, size_t n, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)data, n };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	return sendmsg(socket_fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int
nsrun_apply_release(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	if (prep->plan->process.waits && nsrun_child_wait(prep) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "release", NULL,
		    NULL);
	return 0;
}

/* Everything is there; somebody else says when. */
int
nsrun_apply_gate(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	int fd = prep->plan->process.block_fd;
	char byte;
	ssize_t n;

	(void)child;
	if (fd < 0)
		return 0;
	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return nsrun_err_sys(err, NSRUN_STEP_FD, "read", "--block-fd",
		    NULL);
	close(fd);
	return 0;
}

/*
 * Handlers went with CLONE_CLEAR_SIGHAND; what was ignored goes here. By system
 * call, since the C library does not let anybody touch two signals of its own,
 * which a posix_spawn(3) somewhere above may have ignored. Zeroes mean SIG_DFL.
 */
static int
reset_signals(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const unsigned long defaults[4];

	(void)child;
	for (int i = 1; i < NSIG; i++)
		if ((!prep->plan->process.keeps_signals || i == SIGCHLD) &&
		    i != SIGKILL && i != SIGSTOP &&
		    syscall(SYS_rt_sigaction, i, defaults, NULL, 8) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_INIT,
			    "rt_sigaction", NULL, NULL);
	return 0;
}

/* Born into a cgroup, we are the root of a namespace only when in there. */
static int
root_cgroup(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	if (prep->cgroup_fd >= 0 && prep->plan->namespaces & CLONE_NEWCGROUP &&
	    unshare(CLONE_NEWCGROUP) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "unshare", NULL,
		    NULL);
	return 0;
}

/*
 * The second line of defence against the supervisor's death; the first is the
 * control pipe, which also covers a death before this call. It fires when our
 * parent's *thread* ends, hence the condition; and it is armed again later,
 * since every change of ids or capabilities may take it away.
 */
bool
nsrun_child_follow_parent(const struct nsrun_prep *prep)
{
	struct pollfd fds = { prep->control_fd, POLLIN, 0 };

	if (prep->plan->process.outlives)
		return true;
	if (prep->plan->supervision.thread_is_process)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return poll(&fds, 1, 0) == 0 || !(fds.revents & (POLLHUP | POLLERR));
}

/* The child itself is to be the command. */
static _Noreturn void
become_command(const struct nsrun_prep *prep, const struct nsrun_child *child,
    struct nsrun_message *failed)
{
	if (nsrun_apply_limits(prep, &failed->err) == 0 &&
	    nsrun_child_follow_parent(prep)) {
		umask(child->umask);
		if (sys_sigprocmask(SIG_SETMASK, &prep->signals, NULL) < 0)
			nsrun_err_sys(&failed->err, NSRUN_STEP_INIT,
			    "sigprocmask", NULL, NULL);
		else
			nsrun_exec_command(prep, child, &failed->err);
	}
	nsrun_child_say(prep, failed);
	_exit(125);
}

void
nsrun_child_main(const struct nsrun_prep *prep)
{
	struct nsrun_child child = {
		.root_fd = -1, .base_fd = -1, .janitor_fd = -1, .dir_fd = -1,
		.shade_fd = -1,
		.masks_fd = -1, .pins_fd = -1,
		.sys_fd = -1, .terminal_fd = -1, .umask = umask(0),
	};
	struct nsrun_message failed = { .kind = NSRUN_MESSAGE_ERROR };

	/* While we hold the write end ourselves, nobody's death is seen. */
	for (int i = 0; i < 3; i++)
		if (prep->parent_fds[i] >= 0)
			close(prep->parent_fds[i]);
	if (!nsrun_child_follow_parent(prep))
		_exit(125);
	for (unsigned int i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i](prep, &child, &failed.err) < 0) {
			nsrun_child_say(prep, &failed);
			_exit(125);
		}
	if (prep->plan->process.in_place)
		become_command(prep, &child, &failed);
	nsrun_init_main(prep, &child);
}
