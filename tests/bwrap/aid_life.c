/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is left of a command that is killed. All of its descendants become
 * children of ours, since we are their subreaper: the kernel itself says by
 * ECHILD that there is none.
 */
#include "aid.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { AT_ONCE = 8, SPAN_US = 10000, PATIENCE_S = 10, TOLD_FD = 9 };

static long
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static pid_t
start(char **words)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* What is left holds no pipe of whoever reads us. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(words[0], words);
		_exit(99);
	}
	if (pid < 0)
		die("fork");
	return pid;
}

/*
 * A parent for it, which does nothing else. Nobody can know who was its parent
 * before it looked, so it says by a record on descriptor 9 that it did.
 */
static pid_t
start_parent(char **words)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid == 0) {
		if (dup2(ends[1], TOLD_FD) < 0)
			die("dup2");
		start(words);
		for (;;)
			pause();
	}
	if (pid < 0)
		die("fork");
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		die("no record");
	close(ends[0]);
	return pid;
}

/* Reap to the last; false: somebody is still there after a long time. */
static bool
reap_all(void)
{
	long deadline = now_us() + PATIENCE_S * 1000000L;

	for (;;) {
		const struct timespec moment = { 0, 200000 };
		pid_t pid = waitpid(-1, NULL, WNOHANG | __WALL);

		if (pid < 0 && errno == ECHILD)
			return true;
		if (pid == 0 && now_us() > deadline)
			return false;
		if (pid == 0)
			nanosleep(&moment, NULL);
	}
}

/* Whose parent ends is our child: this reaches all of them in the end. */
static void
kill_left(void)
{
	char path[64], pids[4096];

	snprintf(path, sizeof path, "/proc/self/task/%d/children",
	    (int)getpid());
	do {
		FILE *f = fopen(path, "re");
		size_t n = f ? fread(pids, 1, sizeof pids - 1, f) : 0;

		pids[n] = '\0';
		for (char *s = pids, *end; strtol(s, &end, 10) > 0; s = end)
			kill((pid_t)strtol(s, NULL, 10), SIGKILL);
		if (f)
			fclose(f);
	} while (waitpid(-1, NULL, __WALL) > 0);
}

/*
 * kills N WHO CMD: WHO is "it" or "parent". Stops at the first that leaves
 * something.
 */
int
run_kills(char **words)
{
	int n = atoi(words[0]), done = 0;
	bool parent = strcmp(words[1], "parent") == 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while (done < n) {
		pid_t pids[AT_ONCE];
		long due[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++) {
			pids[i] = parent ? start_parent(words + 2) :
			    start(words + 2);
			/* All of the span is visited, in no order. */
			due[i] = now_us() + (done + i) * 7919L % SPAN_US;
		}
		for (int left = AT_ONCE; left > 0;)
			for (int i = 0; i < AT_ONCE; i++) {
				if (pids[i] == 0 || now_us() < due[i])
					continue;
				kill(pids[i], SIGKILL);
				pids[i] = 0;
				left--;
			}
		if (!reap_all()) {
			printf("something is left after %d kills\n", done);
			kill_left();
			return 1;
		}
		done += AT_ONCE;
	}
	puts("nothing is left");
	return 0;
}

static pid_t threads_child;

static void *
start_and_end(void *words)
{
	threads_child = start(words);
	return NULL;
}

int
run_thread(char **words)
{
	pthread_t thread;
	int status;

	if (pthread_create(&thread, NULL, start_and_end, words) != 0 ||
	    pthread_join(thread, NULL) != 0)
		die("thread");
	if (waitpid(threads_child, &status, 0) < 0)
		die("wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}
