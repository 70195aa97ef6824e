/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tree that does not hold still. */
#include "aide.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void
write_number(const char *path, unsigned long n)
{
	FILE *out = fopen(path, "w");

	if (!out)
		aide_fail(path);
	fprintf(out, "%lu\n", n);
	fclose(out);
}

/*
 * swap A B PID COUNT: they are exchanged until SIGTERM; the files get our pid
 * and, at the end, how often. Every now and then it rests, so that what wants
 * to see one of the two can.
 */
int
aide_swap(char *argv[])
{
	const struct timespec rest = { .tv_nsec = 300000 };
	struct sigaction sa = { .sa_handler = stop };
	unsigned long n = 0;

	for (int i = 0; i < 4; i++)
		if (!argv[i])
			aide_fail("swap A B PID COUNT");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGTERM, &sa, NULL);
	write_number(argv[2], (unsigned long)getpid());
	while (!stopped) {
		if (renameat2(AT_FDCWD, argv[0], AT_FDCWD, argv[1],
		    RENAME_EXCHANGE) < 0)
			aide_fail("renameat2");
		if (++n % 16 == 0)
			nanosleep(&rest, NULL);
	}
	/* As it was. */
	if (n % 2 && renameat2(AT_FDCWD, argv[0], AT_FDCWD, argv[1],
	    RENAME_EXCHANGE) < 0)
		aide_fail("renameat2");
	write_number(argv[3], n);
	return 0;
}
