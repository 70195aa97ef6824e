/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PER_DIR = 9 };	/* as in node_modules */

static struct bench_contestant find = { .name = "find" };
static struct bench_contestant scan = { .name = "scan" };
static struct bench_contestant *const both[] = { &find, &scan };

/* n files, nine a directory, twenty directories in each of two levels. */
static void
make_tree(const char *dir, int n)
{
	char path[256];

	for (int i = 0; i * PER_DIR < n; i++) {
		if (i % 400 == 0) {
			snprintf(path, sizeof path, "%s/p%d", dir, i / 400);
			if (mkdir(path, 0755) < 0)
				bench_die(path);
		}
		if (i % 20 == 0) {
			snprintf(path, sizeof path, "%s/p%d/m%d", dir, i / 400,
			    i / 20 % 20);
			if (mkdir(path, 0755) < 0)
				bench_die(path);
		}
		snprintf(path, sizeof path, "%s/p%d/m%d/d%d", dir, i / 400,
		    i / 20 % 20, i % 20);
		if (mkdir(path, 0755) < 0)
			bench_die(path);
		for (int k = 0; k < PER_DIR && i * PER_DIR + k < n; k++) {
			snprintf(path, sizeof path,
			    "%s/p%d/m%d/d%d/file-%d.js", dir, i / 400,
			    i / 20 % 20, i % 20, k);
			if (mknod(path, S_IFREG | 0644, 0) < 0)
				bench_die(path);
		}
	}
}

static void
drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	sync();
	if (fd < 0 || write(fd, "3", 1) != 1)
		bench_die("drop_caches");
	close(fd);
}

/* What they print goes nowhere: it would be measured, too. */
static int64_t
once(const struct bench_contestant *c, int null)
{
	int64_t start = bench_now_ns();
	pid_t pid = bench_spawn(c, (const int[]){ null, null, 2 });
	int status;

	if (waitpid(pid, &status, 0) < 0 || status)
		bench_die(c->name);
	return bench_now_ns() - start;
}

static void
compare(int files, const char *how, int n, void (*before)(void), int null)
{
	double ms[2];

	for (int k = 0; k < 2; k++)
		both[k]->n = 0;
	for (int i = before ? 0 : -2; i < n; i++)
		for (int k = 0; k < 2; k++) {
			int64_t ns;

			if (before)
				before();
			ns = once(both[k], null);
			if (i >= 0)
				both[k]->ns[both[k]->n++] = ns;
		}
	for (int k = 0; k < 2; k++)
		ms[k] = (double)bench_quantile(both[k]->ns, n, 0.5) / 1e6;
	printf("  %7d %-5s %9.1f %9.1f %9.3f %9.3f\n", files, how, ms[0], ms[1],
	    ms[1] / ms[0], (double)both[1]->ns[0] / (double)both[0]->ns[0]);
}

void
bench_scan(const char *program, const char *dir, int n)
{
	static const int sizes[] = { 1000, 20000, 200000 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char tree[128];
	char *find_argv[] = {
		(char[]){ "/usr/bin/find" }, tree, (char[]){ "-links" },
		(char[]){ "+1" },
		(char[]){ "-o" }, (char[]){ "-type" }, (char[]){ "s" },
		(char[]){ "-o" }, (char[]){ "-type" }, (char[]){ "p" },
		(char[]){ "-o" }, (char[]){ "-type" }, (char[]){ "b" },
		(char[]){ "-o" }, (char[]){ "-type" }, (char[]){ "c" }, NULL,
	};
	char *scan_argv[] = {
		(char *)(uintptr_t)program, (char[]){ "scan" }, tree, NULL,
	};

	find.argv = find_argv;
	scan.argv = scan_argv;
	printf("\nscan (ms)  median: find      scan     ratio   of best\n");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		snprintf(tree, sizeof tree, "%s/tree%d", dir, sizes[i]);
		if (mkdir(tree, 0755) < 0)
			bench_die(tree);
		make_tree(tree, sizes[i]);
		compare(sizes[i], "warm", n, NULL, null);
		if (getenv("NSRUN_BENCH_COLD"))
			compare(sizes[i], "cold", 3, drop_caches, null);
	}
	close(null);
}
