/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RES: bounds on what the whole sandbox takes. Each attack stops by itself a
 * little above the bound it expects (the word max=), for it also runs where
 * there is none.
 */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* Tasks in this pid namespace, ours and everybody's. */
static long
count_tasks(void)
{
	const struct dirent *entry, *task;
	DIR *proc = opendir("/proc"), *tasks;
	char path[300];
	long n = 0;

	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
		tasks = opendir(path);
		while (tasks && (task = readdir(tasks)))
			n += task->d_name[0] != '.';
		if (tasks)
			closedir(tasks);
	}
	if (proc)
		closedir(proc);
	return n;
}

/* Exactly at the limit there is no further one, and the reason is said. */
static _Noreturn void
bounded(long n, int errnum, const char *what)
{
	long max = probe_number("processes"), all = count_tasks();

	if (n >= 2 * max)
		probe_open("%ld %s at a limit of %ld", n, what, max);
	if (all != max)
		probe_open("%ld tasks at a limit of %ld", all, max);
	probe_blocked(errnum, "%ld tasks, %ld %s", all, n, what);
}

/* At the limit only because the last check's children are not quite gone? */
static bool
may_retry(int *retries)
{
	if (++*retries > 100 || count_tasks() >= probe_number("processes"))
		return false;
	usleep(20000);
	return true;
}

static void
fork_bomb(void)
{
	long n = 0, max = probe_number("processes");
	int errnum = 0, retries = 0;

	while (n < 2 * max) {
		pid_t pid = fork();

		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		errnum = errno;
		if (pid > 0)
			n++;
		else if (!may_retry(&retries))
			break;
	}
	bounded(n, errnum, "children");
}

static void *
wait_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void
thread_bomb(void)
{
	long n = 0, max = probe_number("processes");
	pthread_attr_t attr;
	pthread_t thread;
	int rc = 0, retries = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	while (n < 2 * max) {
		rc = pthread_create(&thread, &attr, wait_for_ever, NULL);
		if (rc == 0)
			n++;
		else if (!may_retry(&retries))
			break;
	}
	bounded(n, rc, "threads");
}

/* Private directories: one file system, one bound. */
static void
one_bound(void)
{
	const char *dirs[] = { "/tmp", "/var/tmp", "/run", "/dev/shm",
		probe_param("home") };
	struct statvfs first, fs;

	for (size_t i = 0; i < 5; i++) {
		if (statvfs(dirs[i], i ? &fs : &first) < 0)
			probe_blocked(errno, "%s", dirs[i]);
		if (i && fs.f_fsid != first.f_fsid)
			probe_open("%s has a bound of its own", dirs[i]);
	}
	if (first.f_blocks * first.f_frsize > 1UL << 30 ||
	    first.f_files > 262144 || !first.f_files)
		probe_open("%lu bytes, %lu inodes",
		    first.f_blocks * first.f_frsize, first.f_files);
	probe_blocked(0, "%lu bytes, %lu inodes in all",
	    first.f_blocks * first.f_frsize, first.f_files);
}

/* Fill them in turn, up to twice of what there should be: the word bytes=. */
static void
fill_bytes(void)
{
	const char *dirs[] = { "/tmp", "/var/tmp", "/run", "/dev/shm",
		probe_param("home") };
	long size = probe_number("bytes"), done = 0, chunk = 1 << 18;
	char path[4200];
	int fds[5];

	for (size_t i = 0; i < 5; i++) {
		snprintf(path, sizeof path, "%s/nsrun-escape-fill", dirs[i]);
		fds[i] = open(path, O_WRONLY | O_CREAT, 0600);
		unlink(path);
		if (fds[i] < 0)
			probe_skip("%s: %s", path, strerror(errno));
	}
	for (size_t i = 0; done < 2 * size; i = (i + 1) % 5, done += chunk)
		if (fallocate(fds[i], 0, done, chunk) < 0)
			break;
	if (done >= 2 * size)
		probe_open("%ld bytes with a bound of %ld", done, size);
	if (done > size)
		probe_open("%ld bytes, and then %s", done, strerror(errno));
	probe_blocked(errno, "after %ld bytes", done);
}

static void
fill_inodes(void)
{
	const char *dirs[] = { "/tmp", "/var/tmp", "/run", "/dev/shm",
		probe_param("home") };
	long max = probe_number("inodes"), n = 0;
	char path[4200];
	int saved = 0;

	for (; n < 2 * max && !saved; n++) {
		snprintf(path, sizeof path, "%s/nsrun-escape-%ld", dirs[n % 5],
		    n);
		if (mkdir(path, 0700) < 0)
			saved = errno;
	}
	for (long i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/nsrun-escape-%ld", dirs[i % 5],
		    i);
		rmdir(path);
	}
	if (!saved)
		probe_open("%ld inodes with a bound of %ld", n, max);
	probe_blocked(saved, "after %ld inodes", n - 1);
}

static _Noreturn void
count_inotify(long max)
{
	long n = 0;

	while (n < 2 * max && inotify_init() >= 0)
		n++;
	if (n >= 2 * max)
		probe_open("%ld instances", n);
	if (n > max)
		probe_open("%ld instances, and then %s", n, strerror(errno));
	probe_blocked(errno, "after %ld instances", n);
}

static void
inotify(void)
{
	count_inotify(64);
}

/* No page is touched: a segment that is never attached costs nothing. */
static void
shm_all(void)
{
	int ids[8], n = 0, saved;

	for (; n < 8; n++) {
		ids[n] = shmget(IPC_PRIVATE, 60UL << 20, 0600 | SHM_NORESERVE);
		if (ids[n] < 0)
			break;
	}
	saved = errno;
	for (int i = 0; i < n; i++)
		shmctl(ids[i], IPC_RMID, NULL);
	if (n == 8)
		probe_open("480 MiB in segments");
	probe_blocked(saved, "after %d MiB", n * 60);
}

static void
semaphores(void)
{
	int ids[40], n = 0, saved;

	for (; n < 40; n++) {
		ids[n] = semget(IPC_PRIVATE, 250, 0600);
		if (ids[n] < 0)
			break;
	}
	saved = errno;
	for (int i = 0; i < n; i++)
		semctl(ids[i], 0, IPC_RMID);
	if (n == 40)
		probe_open("10000 semaphores");
	probe_blocked(saved, "after %d semaphores", n * 250);
}

static void
messages(void)
{
	int ids[100], n = 0, saved;

	for (; n < 100; n++) {
		ids[n] = msgget(IPC_PRIVATE, 0600);
		if (ids[n] < 0)
			break;
	}
	saved = errno;
	for (int i = 0; i < n; i++)
		msgctl(ids[i], IPC_RMID, NULL);
	if (n == 100)
		probe_open("%d queues", n);
	probe_blocked(saved, "after %d queues", n);
}

const struct probe_check probe_res[] = {
	{ "RES-01.fork", fork_bomb },
	{ "RES-02.thread", thread_bomb },
	{ "RES-04.shm_all", shm_all },
	{ "RES-08.one", one_bound },
	{ "RES-08.bytes", fill_bytes },
	{ "RES-08.inodes", fill_inodes },
	{ "RES-12.inotify", inotify },
	{ "RES-16.sem", semaphores },
	{ "RES-16.msg", messages },
	{ NULL, NULL }
};
