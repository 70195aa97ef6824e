/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench OC-NSRUN NULL [RUNS [homes]]: launches against Debian's bwrap with the
 * first seed's command line, interleaved, so that what else the machine does
 * hits both. Times are medians with p10 and p99; what counts are the ratios.
 * With `homes`, what homes add to a launch and no more.
 */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct bench_contestant bare = { .name = "no sandbox" };
static struct bench_contestant bwrap, nsrun;
static struct bench_contestant *const all[] = { &bare, &bwrap, &nsrun };
enum { N_ALL = 3 };
static bool is_launcher;	/* a child: the project is not its to remove */

static char root[] = "/tmp/nsrun-bench.XXXXXX";
static char project[96], payload[128], home[64];

/* A project as the seed knows it: a repository, and what it hides. */
static void
make_project(const char *null)
{
	char command[1024];

	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		bench_die(root);
	snprintf(home, sizeof home, "%s/home", root);
	snprintf(project, sizeof project, "%s/project", home);
	snprintf(payload, sizeof payload, "%s/null", project);
	snprintf(command, sizeof command, "mkdir -p %s/.git/objects"
	    " %s/.git/refs %s/.claude %s/tmp && echo ref >%s/.git/HEAD &&"
	    " cp %s %s && chmod 755 %s", project, project, project, project,
	    project, null, payload, payload);
	if (system(command) != 0 || setenv("HOME", home, 1) < 0)
		bench_die("project");
}

static void
remove_project(void)
{
	char command[128];

	if (is_launcher)
		return;
	snprintf(command, sizeof command, "rm -rf --one-file-system %s", root);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", root);
}

/* Launches per second by j launchers at once, two seconds. */
static double
throughput(const struct bench_contestant *c, int j)
{
	int64_t start = bench_now_ns(), end = start + 2000000000;
	int pipes[2], total = 0, done;

	if (pipe(pipes) < 0)
		bench_die("pipe");
	for (int i = 0; i < j; i++)
		if (fork() == 0) {
			int n = 0;

			is_launcher = true;
			for (; bench_now_ns() < end; n++)
				bench_once(c);
			_exit(write(pipes[1], &n, sizeof n) != sizeof n);
		}
	close(pipes[1]);
	for (int i = 0; i < j; i++) {
		if (read(pipes[0], &done, sizeof done) != sizeof done)
			bench_die("launcher");
		total += done;
	}
	while (wait(NULL) > 0)
		continue;
	close(pipes[0]);
	return total / ((double)(bench_now_ns() - start) / 1e9);
}

static void
throughputs(void)
{
	printf("\nlaunches/s    launchers: 1        2        8\n");
	for (int k = 1; k < N_ALL; k++) {
		if (!all[k]->argv)
			continue;
		printf("  %-16s", all[k]->name);
		for (int j = 1; j <= 8; j *= j == 2 ? 4 : 2)
			printf(" %8.0f", throughput(all[k], j));
		putchar('\n');
	}
}

/* From SIGKILL for the launcher to the end of the last process inside. */
static int64_t
kill_to_gone(const struct bench_contestant *c)
{
	int ends[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int64_t start;
	char byte;
	pid_t pid;

	if (null < 0 || pipe2(ends, O_CLOEXEC) < 0)
		bench_die("pipe");
	pid = bench_spawn(c, (const int[]){ null, ends[1], null });
	close(ends[1]);
	usleep(20000);
	start = bench_now_ns();
	kill(pid, SIGKILL);
	/* End of file: nobody holds the other end any more. */
	while (read(ends[0], &byte, 1) > 0)
		continue;
	start = bench_now_ns() - start;
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(null);
	return start;
}

static void
kills(int n)
{
	for (int k = 0; k < N_ALL; k++)
		all[k]->n = 0;
	for (int i = 0; i < n; i++)
		for (int k = 1; k < N_ALL; k++)
			if (all[k]->argv)
				all[k]->ns[all[k]->n++] = kill_to_gone(all[k]);
	bench_print("kill to gone", all, N_ALL, &bwrap);
}

int
main(int argc, char *argv[])
{
	int n = argc > 3 ? atoi(argv[3]) : 300;
	char *dynamic[] = { (char *)(uintptr_t)"/usr/bin/true", NULL };
	char *quick[] = { payload, NULL };
	char *waits[] = { payload, (char *)(uintptr_t)"wait", NULL };

	if (argc < 3 || n < 0 || n > BENCH_MAX_RUNS)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_project(argv[2]);
	atexit(remove_project);
	if (n == 0) {
		bench_masks(argv[1], getenv("NSRUN_BENCH_BEFORE"), root, 15);
		bench_scan(argv[1], root, 15);
		return 0;
	}
	if (argc > 4) {
		bench_homes(argv[1], root, project, home, payload, n);
		return 0;
	}
	bare.argv = quick;
	bench_make_bwrap(&bwrap, project, home, quick);
	bench_make_nsrun(&nsrun, argv[1], project, quick);
	if (!bwrap.argv)
		printf("bwrap is not installed: no ratios\n");
	bench_compare("static (us)", all, N_ALL, &bwrap, n);
	bare.argv = dynamic;
	bench_make_bwrap(&bwrap, project, home, dynamic);
	bench_make_nsrun(&nsrun, argv[1], project, dynamic);
	bench_compare("dynamic (us)", all, N_ALL, &bwrap, n);
	bench_make_bwrap(&bwrap, project, home, waits);
	bench_make_nsrun(&nsrun, argv[1], project, waits);
	bare.n = 0;
	kills(n / 3 + 1);
	bench_make_bwrap(&bwrap, project, home, quick);
	bench_make_nsrun(&nsrun, argv[1], project, quick);
	throughputs();
	bench_masks(argv[1], getenv("NSRUN_BENCH_BEFORE"), root, n / 30 + 3);
	bench_homes(argv[1], root, project, home, payload, n);
	bench_scan(argv[1], root, n / 10 + 3);
	return 0;
}
