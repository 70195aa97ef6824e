/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that want to survive, and deaths at bad moments. */
#include "aide.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* pause MARKER: ignores what can be ignored, for five minutes. */
int
aide_pause(char *argv[])
{
	(void)argv;
	for (int i = 1; i <= SIGRTMAX; i++)
		signal(i, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, 0);
	for (int i = 0; i < 300; i++)
		sleep(1);
	return 0;
}

/* One that left its parent, its session and its standard streams. */
static void
daemonize(const char *marker, int variant)
{
	char argument[256];
	pid_t pid = fork();

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	setsid();
	if (variant % 3 == 1)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (variant % 3 == 2)
		pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0,
		    0, 0);
	else
		pid = fork();
	if (pid != 0)
		_exit(0);
	setsid();
	snprintf(argument, sizeof argument, "%s-in", marker);
	if (variant % 2)
		for (int i = 0; i < 3; i++)
			close(i);
	execl("/proc/self/exe", "aide", "pause", argument, (char *)NULL);
	_exit(1);
}

/* daemons N MARKER SECONDS: then a line, and wait. */
int
aide_daemons(char *argv[])
{
	if (!argv[0] || !argv[1] || !argv[2])
		aide_fail("daemons N MARKER SECONDS");
	for (int i = 0; i < atoi(argv[0]); i++)
		daemonize(argv[1], i);
	puts("ready");
	fflush(stdout);
	for (unsigned int left = (unsigned int)atoi(argv[2]); left; )
		left = sleep(left);
	return 0;
}

/* zombies N: as many orphans, each dead at once; then status 7. */
int
aide_zombies(char *argv[])
{
	for (int i = 0; argv[0] && i < atoi(argv[0]); i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				_exit(1);
			_exit(0);
		}
		/* The sandbox's bound on processes may be hit for a moment. */
		if (pid < 0)
			usleep(1000);
		while (waitpid(-1, NULL, pid < 0 ? WNOHANG : 0) > 0 &&
		    pid < 0)
			continue;
	}
	return 7;
}

static pid_t started;

static void *
start_in_thread(void *argument)
{
	started = fork();
	if (started == 0)
		aide_exec(argument);
	/* Time to arm PR_SET_PDEATHSIG, for those who do. */
	usleep(300000);
	return NULL;
}

/*
 * thread MS -- CMD: a thread starts the command and ends; "alive" or "dead" is
 * what the command is MS later. Then it is killed.
 */
int
aide_thread(char *argv[])
{
	pthread_t thread;
	int rc;

	if (!argv[0] || !argv[1] || !argv[2] || pthread_create(&thread, NULL,
	    start_in_thread, argv + 2) || pthread_join(thread, NULL))
		aide_fail("thread MS -- CMD");
	usleep((useconds_t)atoi(argv[0]) * 1000);
	rc = waitpid(started, NULL, WNOHANG);
	puts(rc == 0 ? "alive" : "dead");
	if (rc == 0) {
		kill(started, SIGKILL);
		waitpid(started, NULL, 0);
	}
	return 0;
}

/* random N USEC -- CMD: start it and SIGKILL it, N times, within USEC. */
int
aide_random(char *argv[])
{
	int n, max;

	if (!argv[0] || !argv[1] || !argv[2] || !argv[3])
		aide_fail("random N USEC -- CMD");
	n = atoi(argv[0]);
	max = atoi(argv[1]);
	srandom((unsigned int)getpid() ^ (unsigned int)time(NULL));
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			aide_exec(argv + 3);
		if (pid < 0)
			aide_fail("fork");
		usleep((useconds_t)(random() % (max + 1)));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return 0;
}

static int
line_is(const char *text, const char *key, const char *value)
{
	const char *s = strstr(text, key);

	return s && !strncmp(s + strlen(key), value, strlen(value));
}

/*
 * confined FILE: append "confined" or what is missing, in one write; the
 * command of launches that are killed half-way.
 */
int
aide_confined(char *argv[])
{
	char text[8192] = "", line[128];
	int fd = open("/proc/self/status", O_RDONLY), n;
	const char *what = "confined";

	if (!argv[0] || fd < 0 || read(fd, text, sizeof text - 1) <= 0)
		aide_fail("confined FILE");
	close(fd);
	if (!line_is(text, "\nSeccomp:\t", "2"))
		what = "no filter";
	else if (!line_is(text, "\nNoNewPrivs:\t", "1"))
		what = "new privileges";
	else if (!line_is(text, "\nCapEff:\t", "0000000000000000") ||
	    !line_is(text, "\nCapBnd:\t", "0000000000000000"))
		what = "capabilities";
	else if (access("/sys", F_OK) == 0 || open("/proc/1/environ",
	    O_RDONLY | O_CLOEXEC) >= 0)
		what = "the host's files";
	else if (open("/proc/sys/kernel/shmmax", O_WRONLY | O_CLOEXEC) >= 0)
		what = "writable settings";
	fd = open(argv[0], O_WRONLY | O_APPEND | O_CREAT, 0666);
	n = snprintf(line, sizeof line, "%s\n", what);
	return fd < 0 || write(fd, line, (size_t)n) != n;
}
