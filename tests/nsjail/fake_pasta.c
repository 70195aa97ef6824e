/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * In place of pasta(1), for network.sh: writes its arguments and its pid to the
 * file $FAKE_PASTA, then does as $FAKE_PASTA_DOES says:
 *
 *	serve	locks itself up as pasta does when ready, and stays
 *	end	the same, and ends when $FAKE_PASTA.end appears
 *	hang	stays, and is never ready
 *	fail	complains and ends at once
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static int
lock_up(void)
{
	struct sock_filter allow[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 1, allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -1 :
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int
main(int argc, char *argv[])
{
	const struct timespec tick = { .tv_nsec = 20000000 };
	const char *path = getenv("FAKE_PASTA"), *does;
	char end[4096];
	FILE *out = path ? fopen(path, "w") : NULL;

	does = getenv("FAKE_PASTA_DOES");
	if (!out || !does)
		return 99;
	fprintf(out, "%d", (int)getpid());
	/* The last is the jail's pid. */
	for (int i = 1; i < argc - 1; i++)
		fprintf(out, " %s", argv[i]);
	fputc('\n', out);
	if (fclose(out) != 0)
		return 99;
	if (!strcmp(does, "fail")) {
		fputs("Failed to send 3 bytes to syslog\n"
		    "fake: cannot\n", stderr);
		return 1;
	}
	if (strcmp(does, "hang") && lock_up() < 0)
		return 99;
	snprintf(end, sizeof end, "%s.end", path);
	while (strcmp(does, "end") || access(end, F_OK) < 0)
		nanosleep(&tick, NULL);
	return 0;
}
