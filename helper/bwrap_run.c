/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program: a command line becomes a plan, a plan a run, a run a status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "bwrap.h"
#include "helper.h"
#include "run/run.h"

extern char **environ;

/*
 * The signals that --forward-signals passes on, as a descriptor; -1 is none.
 * *saved is the mask that the command gets. Fails with a message.
 */
static int
open_signals(struct bwrap *b, sigset_t *saved, int *fd)
{
	static const int passed[] = {
		SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH,
		SIGCONT,
	};
	struct sigaction now;
	sigset_t set;

	/* Ignored, it would take the status of the command along. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR)
		return bwrap_die_errno(b, "signal");
	sigemptyset(&set);
	for (size_t i = 0; b->forward_signals &&
	    i < sizeof passed / sizeof *passed; i++)
		if (sigaction(passed[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(&set, passed[i]);
	if (b->pty) {
		sigaddset(&set, SIGWINCH);
		sigaddset(&set, SIGCONT);
	}
	if (b->pty || b->forward_signals) {
		*fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
		if (*fd < 0)
			return bwrap_die_errno(b, "signalfd");
	}
	/* Not ignored, which the command would inherit: only not for us. */
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGTTOU);
	return sys_sigprocmask(SIG_BLOCK, &set, saved) < 0 ?
	    bwrap_die_errno(b, "sigprocmask") : 0;
}

static int
open_parent(struct bwrap *b)
{
	pid_t parent = getppid();
	int fd;

	if (!b->die_with_parent)
		return -1;
	/* Outside our pid namespace, where no descriptor of it is to be had. */
	if (parent == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			bwrap_die_errno(b, "prctl(PR_SET_PDEATHSIG)");
		return -1;
	}
	fd = sys_pidfd_open(parent);
	if (fd < 0 && errno != ESRCH)
		return bwrap_die_errno(b, "pidfd_open");
	if (fd < 0 || getppid() != parent)
		return bwrap_die(b, "the parent is gone already");
	return fd;
}

/* Tell who asked, wait for the maps, let it go on. */
static int
announce(struct bwrap *b, struct nsrun_run *run)
{
	char byte;

	if (!run->plan->process.waits)
		return 0;
	if (bwrap_write_info(b, run) < 0)
		return bwrap_die_errno(b, "Write to info_fd");
	if (b->userns_block_fd >= 0) {
		while (read(b->userns_block_fd, &byte, 1) < 0)
			if (errno != EINTR)
				return bwrap_die_errno(b, "read "
				    "--userns-block-fd");
		close(b->userns_block_fd);
	}
	/* One that died meanwhile says so itself. */
	return nsrun_release(run) < 0 && errno != EPIPE ?
	    bwrap_die_errno(b, "Write to the sandbox") : 0;
}

/* The child has its copies: what is open here besides would only be held. */
static int
let_go(struct bwrap *b, const struct nsrun_run *run)
{
	struct nsrun_mounts *mounts = &b->plan->mounts;

	for (size_t i = 0; i < mounts->n; i++)
		mounts->v[i].pin.fd = -1;
	if (nsrun_run_close_others(run, b->json_fd) < 0)
		return bwrap_die_errno(b, "close_range");
	return 0;
}

static int
execute(struct bwrap *b, struct nsrun_run *run)
{
	if (nsrun_launch(run, &b->err) < 0)
		return bwrap_die_err(b);
	if (announce(b, run) < 0 || let_go(b, run) < 0)
		return -1;
	if (nsrun_supervise(run, NSRUN_STATE_RUNNING, &b->err) < 0)
		return bwrap_die_err(b);
	if (b->extended && bwrap_write_command(b, run->plan->process.in_place ?
	    run->pid : run->command_pid) < 0)
		return bwrap_die_errno(b, "Write to json_status_fd");
	if (nsrun_supervise(run, NSRUN_STATE_ENDED, &b->err) < 0)
		return bwrap_die_err(b);
	/* Whoever does not listen any more is not told. */
	(void)bwrap_write_exit(b, run);
	return 0;
}

/* An interactive shell inside may have left the terminal to itself. */
static void
take_back_terminal(int tty, pid_t foreground)
{
	if (foreground > 0 && tcgetpgrp(tty) != foreground)
		tcsetpgrp(tty, foreground);
}

static int
run(struct bwrap *b)
{
	pid_t foreground = isatty(0) ? tcgetpgrp(0) : -1;
	nsrun_autoclose int signal_fd = -1, watch_fd = -1;
	struct nsrun_run run;
	sigset_t saved;
	int rc;

	watch_fd = open_parent(b);
	if (*b->message)
		return 1;
	if (open_signals(b, &saved, &signal_fd) < 0)
		return 1;
	nsrun_run_init(&run, b->plan);
	run.signal_fd = signal_fd;
	run.watch_fd = watch_fd;
	run.caller_mask = &saved;
	run.own_strings = helper_strings;
	run.n_own_strings = helper_n_strings;
	rc = execute(b, &run);
	if (foreground == getpgrp())
		take_back_terminal(0, foreground);
	nsrun_run_wait_janitor(&run);
	nsrun_run_deinit(&run);
	return rc < 0 ? 1 : run.result.status;
}

static int
parse(struct bwrap *b, int argc, char *argv[])
{
	if (bwrap_plan_begin(b) < 0)
		return -1;
	if (bwrap_env_init(b, environ) < 0)
		return bwrap_nomem(b);
	if (bwrap_parse(b, argc - 1, argv + 1) < 0)
		return -1;
	if (b->wants_help || b->wants_version)
		return 0;
	if (!*b->command)
		return 0;
	return bwrap_plan_finish(b);
}

static int
finish(struct bwrap *b, int status)
{
	if (*b->message) {
		/* One line, whatever a word of the command line held. */
		for (char *s = b->message; *s; s++)
			if ((unsigned char)*s < ' ' || *s == 0x7f)
				*s = '?';
		fprintf(stderr, "%sbwrap: %s\n", b->level_prefix ? "<3>" : "",
		    b->message);
		status = 1;
	}
	nsrun_plan_deinit(b->plan);
	return status;
}

int
bwrap_main(int argc, char *argv[])
{
	struct nsrun_plan plan;
	struct bwrap b = { .plan = &plan };
	int status = 1;

	nsrun_plan_init(&plan);
	if (parse(&b, argc, argv) == 0) {
		status = 0;
		if (b.wants_version)
			puts("bubblewrap 0.11.1");
		else if (b.wants_help)
			bwrap_usage(stdout, argv[0]);
		else if (!*b.command)
			bwrap_usage(stderr, argv[0]);
		else
			status = run(&b);
		if (!b.wants_version && !b.wants_help && !*b.command)
			status = 1;
	}
	return finish(&b, status);
}

int
bwrap_explain_main(int argc, char *argv[], bool json)
{
	struct nsrun_plan plan;
	struct bwrap b = { .plan = &plan };
	int status = 1;

	nsrun_plan_init(&plan);
	if (parse(&b, argc, argv) == 0) {
		if (!b.command || !*b.command)
			bwrap_die(&b, "no command to explain");
		else if (nsrun_plan_print(&plan, json ? NSRUN_FORMAT_JSON :
		    NSRUN_FORMAT_ROWS, STDOUT_FILENO, &b.err) < 0)
			bwrap_die_err(&b);
		else
			status = 0;
	}
	return finish(&b, status);
}
