/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The probe: an attacker's program. It runs inside the sandbox, and outside
 * or in a weakened one as the positive control, and says what it saw; it never
 * judges. checks.rows says what should have been seen where.
 *
 * One check is one attack. It runs in a process of its own and ends by calling
 * one of the functions below, which print `ID RESULT ERRNO DETAIL`:
 *
 *	open		the attack worked
 *	blocked		it was refused, with this errno ("-": nothing there)
 *	contained	it worked, and reached nothing but the sandbox
 *	n/a		it cannot be tried here, and why
 *	killed		by the runner: a signal ended the process
 *	hung		by the runner: it took longer than ten seconds
 *
 * Nothing here writes a setting of the machine: those are only opened.
 */
#ifndef TESTS_ESCAPE_PROBE_H
#define TESTS_ESCAPE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct probe_check {
	const char	*id;		/* "PROC-05.environ" */
	void		(*run)(void);
};

/* One system call and nothing else. */
struct probe_call {
	const char	*id;
	long		nr;
	long		arg[6];
};

/* Each ends with an entry without id. */
extern const struct probe_check probe_dev[], probe_env[], probe_fd[],
    probe_fs[], probe_limits[], probe_mnt[], probe_net[], probe_net_unix[],
    probe_ns[], probe_proc[], probe_proc_one[], probe_res[], probe_sec[],
    probe_setid[], probe_xp[];
extern const struct probe_call probe_calls[];

_Noreturn void probe_open(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void probe_blocked(int errnum, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void probe_contained(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
_Noreturn void probe_skip(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* What a system call returned: open, or blocked with errno. */
_Noreturn void probe_result(long rc, const char *what);

/* A word `name=value` of the command line; without it the check is n/a. */
const char *probe_param(const char *name);
long probe_number(const char *name);
bool probe_has(const char *name);

/*
 * The process that stands for the sandbox's pid 1: the word pid1=, which
 * outside names a process of the test's. Never the host's pid 1.
 */
pid_t probe_pid1(void);
/* /proc/<pid>/<name>, in a buffer of its own. */
const char *probe_proc_path(long pid, const char *name);

/* Are we in the initial user namespace? */
bool probe_on_host(void);
/* Text of a file, NUL-terminated, cut to size. -1 and errno, or its length. */
ssize_t probe_read(const char *path, char *buf, size_t size);
/* Open and close: 0, or -1 and errno. */
int probe_try_open(const char *path, int flags);

/* The sum of a walk below a directory that opens every file. */
struct probe_walk {
	unsigned long	n_files, n_opened;
	int		errnum;		/* of the first that was refused */
	int		others;		/* how many had another errno */
	char		first[512];	/* that opened */
	const char	*skip;		/* not below this one; NULL: all */
};
void probe_walk(struct probe_walk *walk, const char *dir, int flags,
    unsigned int depth);

/* fork(2), or the end of the check. A child dies with its parent. */
pid_t probe_fork(void);
/* A child that does nothing, until it is killed. */
pid_t probe_idle_child(void);

#endif
