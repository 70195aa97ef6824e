/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For scan.sh:
 *
 *	probe scan DIR ENTRIES DEPTH TIME_MS SETTLE_MS
 *		the scan with these limits; 0 clean, 1 hazards, 125 error
 *	probe race KIND DIR SWAPS
 *		scans while a hazard moves about: none may say "clean"
 *	probe swap DIR PATH OTHER
 *		a plan that shields, then PATH and OTHER exchanged: no start
 *	probe deep DIR LEVELS WIDTH
 *		a chain of directories, with WIDTH - 1 others in each
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/scan.h"

static int
die(const char *what)
{
	perror(what);
	exit(99);
}

static void
print_error(const struct nsrun_err *err)
{
	printf("error: %s: %s: %s\n", err->subject, err->call,
	    strerror(err->errnum));
}

/* 0, 1 or 125. */
static int
scan(const char *dir, const struct nsrun_scan_limits *limits,
    struct nsrun_err *err)
{
	const struct nsrun_scan_root root = {
		.path = dir,
		.fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
	const struct nsrun_scan_result *result;
	struct nsrun_scan *s;
	int rc = 125;

	if (root.fd < 0)
		die(dir);
	if (nsrun_scan_new(&s, &root, 1, limits, err) == 0) {
		if (nsrun_scan_judge(s, NULL, NULL, &result, err) == 0)
			rc = result->n_offenders ? 1 : 0;
		nsrun_scan_free(s);
	}
	close(root.fd);
	return rc;
}

static int
do_scan(char *argv[])
{
	const struct nsrun_scan_limits limits = {
		.entries = strtoull(argv[1], NULL, 10),
		.depth = strtoull(argv[2], NULL, 10),
		.time_ms = strtoull(argv[3], NULL, 10),
		.settle_ms = strtoull(argv[4], NULL, 10),
	};
	struct nsrun_err err = NSRUN_ERR_INIT;
	int rc = scan(argv[0], &limits, &err);

	if (rc == 125)
		print_error(&err);
	else
		puts(rc ? "hazards" : "clean");
	return rc;
}

/* Two places for one hazard, and what else is renamed to make it look busy. */
static const struct race {
	const char *kind;
	const char *places[2];
	unsigned int flags;
} races[] = {
	{ "fifo", { "a/x/fifo", "b/y/fifo" }, 0 },
	{ "alias", { "a/x/alias", "b/y/alias" }, 0 },
	{ "directory", { "a/x/dir", "b/y/dir" }, 0 },
	{ "ancestor", { "a/x", "c/moved" }, 0 },
	{ "exchange", { "a/x/dir", "b/y/plain" }, RENAME_EXCHANGE },
};

static void
make(const char *path, mode_t mode)
{
	if (mknod(path, mode, 0) < 0 && mkdir(path, mode & 07777) < 0)
		die(path);
}

static void
make_race(const struct race *race, const char *dir)
{
	static const char *const dirs[] = {
		"a", "b", "c", "a/x", "b/y", "b/y/plain", "b/y/plain/z",
	};

	if (chdir(dir) < 0)
		die(dir);
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		if (mkdir(dirs[i], 0755) < 0)
			die(dirs[i]);
	if (!strcmp(race->kind, "alias")) {
		make("../outside", S_IFREG | 0644);
		if (link("../outside", race->places[0]) < 0)
			die("link");
	} else if (!strcmp(race->kind, "fifo") ||
	    !strcmp(race->kind, "ancestor")) {
		make("a/x/fifo", S_IFIFO | 0600);
	} else {
		if (mkdir("a/x/dir", 0755) < 0 || mkdir("a/x/dir/e", 0755) < 0)
			die("mkdir");
		make("a/x/dir/e/fifo", S_IFIFO | 0600);
	}
}

/* Mostly at full speed, now and then with a rest in which a scan may end. */
static _Noreturn void
swapper(const struct race *race, int swaps)
{
	unsigned int seed = 1;

	for (int i = 0; i < swaps; i++) {
		const char *const *p = race->places;

		if (renameat2(AT_FDCWD, p[i & 1], AT_FDCWD, p[!(i & 1)],
		    race->flags) < 0)
			die("renameat2");
		seed = seed * 1103515245 + 12345;
		if (seed >> 16 & 7)
			continue;
		nanosleep(&(struct timespec){ .tv_nsec = (long)
		    (seed >> 20 & 15) * 30000 }, NULL);
		if (!(seed >> 24 & 15))
			nanosleep(&(struct timespec){ .tv_nsec = 12000000 },
			    NULL);
	}
	_exit(0);
}

static int
do_race(char *argv[])
{
	const struct nsrun_scan_limits limits = {
		.entries = 1000, .depth = 100, .time_ms = 10000,
		.settle_ms = 20,
	};
	const struct race *race = races;
	int n[3] = { 0 }, status = -1, swaps = atoi(argv[2]);
	pid_t pid;

	while (strcmp(race->kind, argv[0]))
		race++;
	make_race(race, argv[1]);
	pid = fork();
	if (pid == 0)
		swapper(race, swaps);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		int rc = scan(argv[1], &limits, &err);

		if (rc == 125 && !strstr(err.call, "changes all the time"))
			print_error(&err);
		n[rc == 125 ? 2 : rc]++;
	}
	printf("%s: %d swaps: %d clean, %d found, %d unsettled\n", race->kind,
	    swaps, n[0], n[1], n[2]);
	return n[0] || !n[1] || status ? 1 : 0;
}

static int
do_swap(char *argv[])
{
	char *const command[] = { (char[]){ "true" }, NULL };
	struct nsrun_request *request = nsrun_request_new();
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_plan *plan;
	struct nsrun_run *run = NULL;
	int rc;

	if (nsrun_request_set(request, "project", argv[0], &err) < 0 ||
	    nsrun_request_set(request, "on-hazard", "shield", &err) < 0 ||
	    nsrun_request_set_command(request, command, &err) < 0 ||
	    nsrun_plan_new(&plan, request, &err) < 0) {
		print_error(&err);
		return 99;
	}
	if (strcmp(argv[1], argv[2]) && renameat2(AT_FDCWD, argv[1], AT_FDCWD,
	    argv[2], RENAME_EXCHANGE) < 0)
		die("renameat2");
	rc = nsrun_start(&run, plan, &err);
	if (rc < 0)
		print_error(&err);
	nsrun_run_free(run);
	nsrun_plan_free(plan);
	nsrun_request_free(request);
	return rc < 0 ? 125 : 0;
}

static int
do_deep(char *argv[])
{
	int fd = open(argv[0], O_PATH | O_DIRECTORY), levels = atoi(argv[1]);
	int width = atoi(argv[2]);

	for (int i = 0; i < levels; i++) {
		int next;

		for (int k = 1; k < width; k++) {
			char name[16];

			snprintf(name, sizeof name, "s%d", k);
			if (mkdirat(fd, name, 0755) < 0)
				die("mkdirat");
		}
		if (mkdirat(fd, "deeper", 0755) < 0)
			die("mkdirat");
		next = openat(fd, "deeper", O_PATH | O_DIRECTORY);
		if (next < 0)
			die("openat");
		close(fd);
		fd = next;
	}
	return mknodat(fd, "fifo", S_IFIFO | 0600, 0) < 0 ? die("mknodat") : 0;
}

int
main(int argc, char *argv[])
{
	static const struct {
		const char *name;
		int n;
		int (*run)(char *argv[]);
	} modes[] = {
		{ "scan", 5, do_scan }, { "race", 3, do_race },
		{ "swap", 3, do_swap }, { "deep", 3, do_deep },
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (argc > 1 && !strcmp(argv[1], modes[i].name) &&
		    argc == modes[i].n + 2)
			return modes[i].run(argv + 2);
	return 99;
}
