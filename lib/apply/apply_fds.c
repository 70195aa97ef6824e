/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Descriptors: the terminal that the sandbox gets as its own, what becomes 0,
 * 1 and 2, and the end of everything else.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

/*
 * A terminal in the sandbox's own devpts, so that ttyname(3) works inside and
 * TIOCSTI can reach nobody's terminal but the sandbox's own.
 */
int
nsrun_apply_terminal(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const struct nsrun_message message = { .kind = NSRUN_MESSAGE_TERMINAL };
	nsrun_autoclose int master = -1;
	int unlock = 0;

	if (prep->plan->stdio[0] != NSRUN_STDIO_TERMINAL &&
	    prep->plan->stdio[1] != NSRUN_STDIO_TERMINAL &&
	    prep->plan->stdio[2] != NSRUN_STDIO_TERMINAL)
		return 0;
	master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "open", "/dev/ptmx",
		    NULL);
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "TIOCSPTLCK",
		    "/dev/ptmx", NULL);
	child->terminal_fd = ioctl(master, TIOCGPTPEER,
	    O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (child->terminal_fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "TIOCGPTPEER",
		    "/dev/ptmx", NULL);
	if (nsrun_child_pass(prep->channel_fd, &message, sizeof message,
	    master) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "sendmsg",
		    "terminal", NULL);
	/* Its size and modes are the caller's before anybody can ask. */
	if (nsrun_child_wait(prep) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "connect",
		    "terminal", NULL);
	return 0;
}

static int
place_stdio(const struct nsrun_prep *prep, const struct nsrun_child *child,
    int i)
{
	int fd = prep->stdio_fds[i], null;

	switch (prep->plan->stdio[i]) {
	case NSRUN_STDIO_INHERIT:
	case NSRUN_STDIO_RELAY:
	case NSRUN_STDIO_SAME:
		break;
	case NSRUN_STDIO_TERMINAL:
		fd = child->terminal_fd;
		break;
	case NSRUN_STDIO_NULL:
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null < 0)
			return -1;
		return null == i ? fcntl(i, F_SETFD, 0) : dup2(null, i);
	case NSRUN_N_STDIOS:
		errno = EINVAL;
		return -1;
	}
	/* dup2() onto itself would leave close-on-exec set. */
	return fd == i ? fcntl(i, F_SETFD, 0) : dup2(fd, i);
}

/*
 * Where the command inherits what the caller left open, ours are closed one by
 * one: pid 1 must hold nothing that /proc/1/fd would show to it.
 */
static int
close_ours(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	int sync = prep->plan->process.sync_fd;

	for (unsigned int i = 0; i < prep->n_close; i++)
		close(prep->close_fds[i]);
	nsrun_fd_close(&child->terminal_fd);
	nsrun_fd_close(&child->janitor_fd);
	if (sync >= 0 && !prep->plan->process.in_place &&
	    fcntl(sync, F_SETFD, FD_CLOEXEC) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_FD, "fcntl", "--sync-fd",
		    NULL);
	return 0;
}

int
nsrun_apply_fds(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };

	for (int i = 0; i < 3; i++)
		if (place_stdio(prep, child, i) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_STDIO, "dup2",
			    names[i], NULL);
	if (prep->plan->process.keeps_fds)
		return close_ours(prep, child, err);
	child->terminal_fd = -1;	/* as a number; 0 to 2 keep it open */
	if (nsrun_fd_close_others(prep->keep_fds, prep->n_keep) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_FD, "close_range", NULL,
		    NULL);
	return 0;
}
