/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "run/relay.h"

/*
 * Raw, so that each key and Ctrl-C reaches the sandbox's terminal, which gives
 * them their meaning. Only while we are in the foreground: from the background
 * tcsetattr(3) would stop us, and the terminal is somebody else's.
 */
static void
make_raw(struct nsrun_run *run)
{
	struct termios raw;

	if (run->tty_raw || run->relays[0].from_fd < 0 ||
	    tcgetpgrp(run->tty_fd) != getpgrp() ||
	    tcgetattr(run->tty_fd, &run->tty_saved) < 0)
		return;
	raw = run->tty_saved;
	cfmakeraw(&raw);
	run->tty_raw = tcsetattr(run->tty_fd, TCSADRAIN, &raw) == 0;
}

/* The keys are somebody else's while we are in the background. */
bool
nsrun_tty_has_keys(const struct nsrun_run *run)
{
	return run->tty_fd < 0 ||
	    run->plan->stdio[0] != NSRUN_STDIO_TERMINAL ||
	    tcgetpgrp(run->tty_fd) == getpgrp();
}

void
nsrun_tty_refresh(struct nsrun_run *run)
{
	struct winsize size;

	if (run->tty_fd < 0 || run->terminal_fd < 0)
		return;
	if (ioctl(run->tty_fd, TIOCGWINSZ, &size) == 0)
		ioctl(run->terminal_fd, TIOCSWINSZ, &size);
	make_raw(run);
}

void
nsrun_tty_restore(struct nsrun_run *run)
{
	if (run->tty_raw)
		tcsetattr(run->tty_fd, TCSADRAIN, &run->tty_saved);
	run->tty_raw = false;
}

static int
connect_relay(struct nsrun_relay *relay, const struct nsrun_run *run,
    int from, int to)
{
	*relay = (struct nsrun_relay){
		.from_fd = from, .to_fd = to, .file_fd = -1, .peek_fd = -1,
		.owns_from = from == run->terminal_fd,
		.owns_to = to == run->terminal_fd,
		.buf = malloc(NSRUN_RELAY_SIZE + 64),
	};
	/* The master is ours; each relay closes its own copy of it. */
	if (relay->owns_from)
		relay->from_fd = fcntl(from, F_DUPFD_CLOEXEC, 3);
	if (relay->owns_to)
		relay->to_fd = fcntl(to, F_DUPFD_CLOEXEC, 3);
	nsrun_relay_unblock(relay);
	return relay->buf && relay->from_fd >= 0 && relay->to_fd >= 0 ? 0 : -1;
}

int
nsrun_tty_connect(struct nsrun_run *run, int *master, struct nsrun_err *err)
{
	const enum nsrun_stdio *stdio = run->plan->stdio;
	struct termios modes;
	int out = -1;

	run->terminal_fd = nsrun_fd_take(master);
	for (int i = 0; i < 3; i++)
		if (stdio[i] == NSRUN_STDIO_TERMINAL) {
			run->tty_fd = i;
			out = i;
		}
	if (stdio[1] == NSRUN_STDIO_TERMINAL)
		out = 1;
	if (tcgetattr(run->tty_fd, &modes) == 0) {
		/* With no keys to translate, the caller's does the output. */
		if (stdio[0] != NSRUN_STDIO_TERMINAL)
			modes.c_oflag &= ~(tcflag_t)OPOST;
		tcsetattr(run->terminal_fd, TCSANOW, &modes);
	}
	if (stdio[0] == NSRUN_STDIO_TERMINAL &&
	    connect_relay(&run->relays[0], run, 0, run->terminal_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "terminal", "stdin",
		    NULL);
	if (connect_relay(&run->relays[1], run, run->terminal_fd, out) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "terminal",
		    "stdout", NULL);
	run->relays[1].cap_bytes = run->plan->supervision.max_output_bytes;
	nsrun_tty_refresh(run);
	return 0;
}
