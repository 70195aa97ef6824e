/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The list of what happens between clone and exec, in the order the kernel
 * demands. Must: be pid 1 of new namespaces with every signal blocked.
 * Mustn't: return, allocate, or run the command when any step failed.
 */
#include "apply/apply.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

typedef int step(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);

static step reset_signals;
static step *const steps[] = {
	reset_signals,		/* nothing of the caller's is ignored */
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

	(void)prep;
	(void)child;
	for (int i = 1; i < NSIG; i++)
		if (i != SIGKILL && i != SIGSTOP &&
		    syscall(SYS_rt_sigaction, i, defaults, NULL, 8) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_INIT,
			    "rt_sigaction", NULL, NULL);
	return 0;
}

void
nsrun_child_main(const struct nsrun_prep *prep)
{
	struct nsrun_child child = {
		.root_fd = -1, .dir_fd = -1, .sys_fd = -1, .terminal_fd = -1,
		.umask = umask(0),
	};
	struct nsrun_message failed = { .kind = NSRUN_MESSAGE_ERROR };

	/*
	 * The second line of defence against the supervisor's death; the first
	 * is the control pipe, which also covers a death before this call. It
	 * fires when our parent's *thread* ends, hence the condition.
	 */
	if (prep->plan->supervision.thread_is_process)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* While we hold the write end ourselves, nobody's death is seen. */
	close(prep->parent_fds[0]);
	close(prep->parent_fds[1]);
	for (unsigned int i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i](prep, &child, &failed.err) < 0) {
			nsrun_child_say(prep, &failed);
			_exit(125);
		}
	nsrun_init_main(prep, &child);
}
