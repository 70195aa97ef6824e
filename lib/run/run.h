/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A run: one sandbox from clone to its end, and what belongs to it outside.
 *
 *	launch		makes the child: returns while that is setting up;
 *	supervise	one poll loop for everything after, until a state.
 *
 * nsrun_start() and nsrun_wait() of nsrun.h are these two; the program uses
 * them directly, since it also forwards signals and reports.
 */
#ifndef NSRUN_RUN_RUN_H
#define NSRUN_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include "apply/prep.h"
#include "nsrun.h"
#include "run/budget.h"
#include "run/cgroup.h"

struct nsrun_plan;

enum nsrun_run_state {
	NSRUN_STATE_NEW,
	NSRUN_STATE_STARTING,	/* cloned */
	NSRUN_STATE_RUNNING,	/* the command was exec'ed */
	NSRUN_STATE_ENDED,	/* everything inside is gone, result is set */
};

/* Copies bytes from one descriptor to another, without ever blocking. */
struct nsrun_relay {
	int	from_fd, to_fd;		/* -1: this side is finished */
	bool	owns_from, owns_to;
	bool	to_socket;
	bool	refused;		/* who was to take it is gone */
	enum nsrun_relay_source {
		NSRUN_RELAY_STREAM,	/* what is read is gone */
		NSRUN_RELAY_FILE,	/* what nobody took is given back */
		NSRUN_RELAY_PIPE,	/* and is only looked at before */
	}	source;
	size_t	shown;			/* PIPE: copied to to_fd, still there */
	int	file_fd;		/* FILE: the file, or -1 */
	int	peek_fd;		/* and the pipe's other end, to see
					   what nobody took */
	uint64_t cap_bytes;		/* 0: none */
	uint64_t passed, dropped;
	size_t	start, end;		/* unwritten part of buf */
	char	*buf;			/* NULL: unused */
};

enum {
	NSRUN_RELAY_SIZE = 65536,
	NSRUN_RELAY_PAGE = 4096,
	NSRUN_N_RELAYS = 3,
};

struct nsrun_run {
	const struct nsrun_plan *plan;
	enum nsrun_run_state state;
	pid_t	pid;			/* of pid 1, as the host sees it */
	int	pidfd;
	int	channel_fd;		/* from pid 1: struct nsrun_message */
	int	control_fd;		/* to pid 1: orders; closing it kills */
	int	watch_fd;		/* pidfd of the caller, or -1 */
	int	signal_fd;		/* signals to pass on; borrowed */
	void	(*on_signal)(struct nsrun_run *run, int signal);
					/* NULL: they go to the command */
	void	*on_signal_data;
	int	stop_fd;		/* eventfd of nsrun_stop() */
	int	userns_fd;		/* the first one, until the second has
					   its maps; or -1 */
	int	janitor_fd;		/* its pidfd, if there is one; or -1 */
	int	report_fd;		/* what it has to say; or -1 */
	struct nsrun_cgroup cgroup;	/* of this launch */
	struct nsrun_cgroup_used used;	/* of it, as of the last look */
	struct nsrun_budget budget;	/* of what it writes */
	bool	bound_met;		/* of these two, which ends it */
	int	command_fd;		/* the command's; or -1: not known */
	int	return_fds[NSRUN_RETURNS_MAX];	/* memory, see prep.h; or -1 */
	pid_t	maker;			/* of the network; 0: none */
	const sigset_t *caller_mask;	/* before we blocked signal_fd's; NULL:
					   the thread's own; borrowed */
	char	*own_strings;		/* the process's argv and environment */
	size_t	n_own_strings;		/* as laid out; NULL: to be found */
	struct nsrun_witness witness;
	pid_t	command_pid;		/* as the host sees it; 0: not known */
	bool	reported;
	struct nsrun_report report;
	struct nsrun_relay relays[NSRUN_N_RELAYS];	/* as 0, 1, 2 */

	int	terminal_fd;		/* master of the sandbox's, or -1 */
	int	tty_fd;			/* the caller's terminal, or -1 */
	bool	tty_raw;		/* and must be restored */
	struct termios tty_saved;

	int64_t	started_ns;		/* CLOCK_MONOTONIC */
	int64_t	grace_ns;		/* end it then; 0: no such */
	int64_t	kill_ns;		/* by force then; 0: no such */
	bool	deadline_hit;
	bool	cancelled;
	int	stop_signal;		/* that asked for the end */
	struct nsrun_result result;
};

void nsrun_run_init(struct nsrun_run *run, const struct nsrun_plan *plan);
/* Kills what still runs, waits for it, releases everything. */
void nsrun_run_deinit(struct nsrun_run *run);

/* End it now: the result is "cancelled", by `signal` if that is not 0. */
void nsrun_run_cancel(struct nsrun_run *run, int signal);

/* Let a child go on that waits for that; -1: it is gone. */
int nsrun_release(struct nsrun_run *run);

/* Make the child. run->watch_fd and signal_fd are set by the caller, before. */
int nsrun_launch(struct nsrun_run *run, struct nsrun_err *err);

/*
 * Poll until the run has reached `until`, or failed: -1 then means that the
 * command never ran, and nothing is left.
 */
int nsrun_supervise(struct nsrun_run *run, enum nsrun_run_state until,
    struct nsrun_err *err);

/*
 * Close every descriptor of this process above 2 that is neither the run's nor
 * `more`: pipes of the caller's are to end with the command, not with us. What
 * the plan had open is closed with them.
 */
int nsrun_run_close_others(const struct nsrun_run *run, int more);

/*
 * The command has ended: wait until the mount points that were made for it are
 * gone too, unless somebody may still need them.
 */
void nsrun_run_wait_janitor(const struct nsrun_run *run);

/* After that: the next mask that did not hold, and how. NULL: no more. */
struct nsrun_violation;
const char *nsrun_run_violation(const struct nsrun_run *run,
    struct nsrun_violation *v);

#endif
