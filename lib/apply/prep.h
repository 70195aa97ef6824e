/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the child reads between clone and exec, all of it made before.
 *
 * The parent allocates, formats and opens (run/prep.c); the child only reads,
 * makes system calls and keeps its few notes in struct nsrun_child, on its
 * stack. Descriptors here are the parent's and have the same numbers in the
 * child.
 */
#ifndef NSRUN_APPLY_PREP_H
#define NSRUN_APPLY_PREP_H

#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "nsrun.h"
#include "plan/plan.h"

enum { NSRUN_MAP_SIZE = 32 };

struct nsrun_prep {
	const struct nsrun_plan *plan;

	int	channel_fd;	/* SEQPACKET: what the child has to say */
	int	control_fd;	/* read end: orders; EOF: the supervisor died */
	int	watch_fd;	/* pidfd of the caller's process, or -1 */
	int	cgroup_fd;	/* where the child is born; -1: with us */
	int	net_fd;		/* a network namespace comes; -1: cloned */
	int	parent_fds[3];	/* the other ends: not the child's */
	int	proc_fd;	/* the host's /proc, verified */
	int	stdio_fds[3];	/* what becomes 0, 1, 2; -1: made inside */
	int	return_fds[NSRUN_RETURNS_MAX];	/* memory, shared; see below */
	int	keep_fds[4 + NSRUN_RETURNS_MAX];	/* what survives
						   closing, ascending */
	unsigned int n_keep;

	char	*own_strings;	/* our argv and environment in memory */
	size_t	n_own_strings;

	/* Of the first user namespace, and of the second. */
	char	uid_maps[2][NSRUN_MAP_SIZE], gid_maps[2][NSRUN_MAP_SIZE];

	int		*tree_fds;	/* per mount: the parent's clone; and
					   again: what an overlay is kept in */
	struct nsrun_tmpfs_text {
		char	size[24], inodes[24], mode[8];
	}		*tmpfs;		/* per mount: options as text */
	dev_t		*own_devs;	/* room for two per mount */
	struct { int resource; struct rlimit value; } limits[NSRUN_N_LIMITS];
	unsigned int	n_limits;
	struct sock_fprog *programs;
	unsigned int	n_programs;

	char *const	*exec_paths;	/* tried in order; NULL at the end */
	char *const	*script_argv;	/* /bin/sh, room for a path, the rest;
					   NULL: what is no program is none */
	cpu_set_t	cpus;		/* where the plan has max_cpus */
	char		oom_score[8];	/* ""; or what to write */
	const char	**pwds;		/* "PWD=DIR" of cwd and of each else */
	size_t		pwd_slot;	/* of env; n_env: the plan has none */
	sigset_t	signals;	/* blocked, when the caller called */
	int		*close_fds;	/* ours, beside the command's */
	unsigned int	n_close;
};

/* What the child says, one SEQPACKET message each; `kind` first. */
enum nsrun_message_kind {
	NSRUN_MESSAGE_ERROR,	/* and nothing more: the child is gone */
	NSRUN_MESSAGE_MAP,	/* write the maps of my user namespace */
	NSRUN_MESSAGE_TERMINAL,	/* with the terminal's master, SCM_RIGHTS */
	NSRUN_MESSAGE_JANITOR,	/* start one on this socket, SCM_RIGHTS */
	NSRUN_MESSAGE_USERNS,	/* my user namespace, SCM_RIGHTS */
	NSRUN_MESSAGE_COMMAND,	/* said by the command, whose pid is seen */
	NSRUN_MESSAGE_READY,	/* the command was exec'ed */
	NSRUN_MESSAGE_REPORT,	/* everything inside is dead and reaped */
};

/* The namespaces it runs in, as inode numbers; 0: the host's. */
struct nsrun_witness {
	uint64_t	inodes[NSRUN_N_NAMESPACES];
};

struct nsrun_report {
	int		status;		/* the command's, as of waitpid */
	bool		alone;		/* nothing inside is left */
	unsigned int	n_killed;
	uint64_t	cpu_us;
	uint64_t	peak_kib;
};

struct nsrun_message {
	enum nsrun_message_kind	kind;
	union {
		struct nsrun_err	err;
		int			map;	/* 0: the first, 1: the next */
		struct nsrun_witness	ready;
		struct nsrun_report	report;
	};
};

/* At the start of a return_fds; the content follows. */
struct nsrun_returned {
	uint32_t	told;		/* 0: nothing of this was written */
	int32_t		errnum;		/* why there is none; or 0 */
	uint32_t	size;
};

/*
 * What the child asks of the janitor, with a descriptor: first of all pid 1's
 * pidfd or, without a pid namespace, the new root's tmpfs; then the directory
 * where to make `name`, or what to hold.
 */
struct nsrun_stub_request {
	enum {
		NSRUN_STUB_ROOT,
		NSRUN_STUB_MAKE,
		NSRUN_STUB_HOLD,
		NSRUN_STUB_INIT,	/* the descriptor is pid 1's pidfd */
		NSRUN_STUB_USER,	/* its first user namespace */
		NSRUN_STUB_MOUNTS,	/* its mount namespace */
		NSRUN_STUB_MASKS,	/* what is mounted over masks */
		NSRUN_STUB_TREE,	/* mount's, a root that is written */
		NSRUN_STUB_ABSENT,	/* the directory of mounts' names */
	}		what;
	mode_t		mode;		/* with S_IFDIR, S_IFREG or
					   S_IFLNK */
	size_t		mount, end;	/* of the plan: from, and up to */
	char		name[256];
	char		text[1024];	/* of a link */
};
struct nsrun_stub_answer {
	int		errnum;		/* or 0 */
	size_t		mount;		/* which it is about */
};

/*
 * The supervisor's orders: one byte each on the control pipe. A signal's
 * number: send it to the command's process group. KILL: end everything. GO:
 * what was asked for is done (MAP, TERMINAL); only before the command runs.
 */
enum { NSRUN_ORDER_GO = 0, NSRUN_ORDER_KILL = 255 };

#endif
