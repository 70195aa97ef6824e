/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rounds. In the first everything is read. In each later one everything
 * that was read is looked at again, and read again where it changed; the last
 * is the one in which nothing did. All directories then were, when that round
 * began, as they had been read: what moves about cannot have been missed.
 */
#include "host/scan_tree.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/name.h"
#include "base/path.h"
#include "host/roots.h"

enum {
	HELPER_STACK	= 262144,
	HELPER_WORTH	= 512,		/* entries that pay for a thread */
};

int64_t
nsrun_scan_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int
nsrun_scan_fail(struct nsrun_scan *scan, const char *call, int errnum,
    const struct nsrun_scan_dir *dir, const char *name)
{
	const char *path = nsrun_scan_path(scan, dir, name);
	char text[sizeof scan->err->subject];

	scan->failed = true;
	pthread_cond_broadcast(&scan->wake);
	if (!path)
		return nsrun_err_nomem(scan->err, "scan");
	nsrun_name_escape(text, sizeof text, path);
	errno = errnum;
	return errnum ? nsrun_err_sys(scan->err, NSRUN_STEP_PROJECT, call,
	    text, NULL) : nsrun_err_rule(scan->err, NSRUN_STEP_PROJECT, call,
	    text, NULL);
}

void
nsrun_scan_push(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    bool checks)
{
	if (dir->parent)
		dir->parent->users++;
	dir->checks = checks;
	dir->next = scan->jobs;
	scan->jobs = dir;
	if (scan->n_waiting)
		pthread_cond_signal(&scan->wake);
}

/* The helper waits for the next round, too; NULL is the end. Lock held. */
static struct nsrun_scan_dir *
take_job(struct nsrun_scan *scan, bool helper)
{
	struct nsrun_scan_dir *dir;

	for (;;) {
		if (scan->jobs && !scan->failed)
			break;
		if (helper ? scan->quit : !scan->n_busy)
			return NULL;
		scan->n_waiting++;
		pthread_cond_wait(&scan->wake, &scan->lock);
		scan->n_waiting--;
	}
	dir = scan->jobs;
	scan->jobs = dir->next;
	scan->n_busy++;
	return dir;
}

static void work(struct scan_worker *w, bool helper);

static void *
help(void *arg)
{
	struct scan_worker *w = malloc(sizeof *w);

	/* Without it the other one does it all. */
	if (w) {
		w->scan = arg;
		work(w, true);
	}
	free(w);
	return NULL;
}

/* No signal of the host's is handled in a thread of ours. Lock held. */
static void
start_helper(struct nsrun_scan *scan)
{
	pthread_attr_t attr;
	sigset_t all, saved;
	cpu_set_t cpus;

	scan->alone = true;
	if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 &&
	    CPU_COUNT(&cpus) < SCAN_THREADS)
		return;
	if (pthread_attr_init(&attr) != 0)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved);
	scan->has_helper = pthread_attr_setstacksize(&attr, HELPER_STACK) == 0
	    && pthread_create(&scan->helper, &attr, help, scan) == 0;
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
}

/* Has the time passed? Lock held. */
static void
check_time(struct nsrun_scan *scan, const struct nsrun_scan_dir *dir)
{
	if (!scan->failed && nsrun_scan_now_ms() >= scan->deadline_ms)
		nsrun_scan_fail(scan, "was not reached in the time that a scan"
		    " may take", 0, dir, NULL);
}

static void
work(struct scan_worker *w, bool helper)
{
	struct nsrun_scan *scan = w->scan;
	struct nsrun_scan_dir *dir;

	pthread_mutex_lock(&scan->lock);
	while ((dir = take_job(scan, helper))) {
		check_time(scan, dir);
		if (!scan->alone && !scan->has_helper && scan->jobs &&
		    scan->jobs->next && scan->n_entries >= HELPER_WORTH)
			start_helper(scan);
		pthread_mutex_unlock(&scan->lock);
		if (dir->checks)
			nsrun_scan_do_check(w, dir);
		else
			nsrun_scan_do_read(w, dir);
		pthread_mutex_lock(&scan->lock);
		if (--scan->n_busy == 0 && (scan->failed || !scan->jobs))
			pthread_cond_broadcast(&scan->wake);
	}
	pthread_mutex_unlock(&scan->lock);
}

static int
add_tree(struct nsrun_scan *scan, size_t i)
{
	struct nsrun_scan_dir *dir = nsrun_arena_alloc(&scan->arena,
	    sizeof *dir + 1);

	if (!dir)
		return nsrun_err_nomem(scan->err, scan->roots[i].path);
	dir->root = (uint32_t)i;
	dir->users = 1;
	dir->older = scan->newest;
	scan->newest = scan->trees[i] = dir;
	dir->fd = -1;
	if (nsrun_scan_open_root(scan, dir, scan->roots[i].fd) < 0)
		return -1;
	nsrun_scan_push(scan, dir, false);
	return 0;
}

/* What is over a name and not seen by walking, as over a link. */
static int
add_mount(struct nsrun_scan *scan, size_t root, const char *path)
{
	const char *top = scan->roots[root].path;
	const char *name = path + strlen(top) + (top[1] != '\0');
	struct scan_found *f;

	for (f = scan->found; f; f = f->next) {
		const char *known = f->kind == NSRUN_HAZARD_MOUNT ?
		    nsrun_scan_path(scan, f->dir, f->name) : NULL;

		if (known && nsrun_path_is_within(path, known))
			return 0;
	}
	f = nsrun_arena_alloc(&scan->arena, sizeof *f + strlen(name) + 1);
	if (!f)
		return nsrun_err_nomem(scan->err, path);
	f->dir = scan->trees[root];
	f->generation = f->dir->generation;
	f->kind = NSRUN_HAZARD_MOUNT;
	strcpy(f->name, name);
	f->next = scan->found;
	scan->found = f;
	scan->n_found++;
	return 0;
}

static int
find_mounts(struct nsrun_scan *scan)
{
	static const char file[] = "/proc/self/mountinfo";
	char *text = nsrun_file_read(file, 64 << 20), found[PATH_MAX];
	int n = 0, rc = 0;

	if (!text)
		return nsrun_err_sys(scan->err, NSRUN_STEP_PROJECT, "read",
		    file, NULL);
	for (size_t i = 0; rc == 0 && i < scan->n_roots; i++) {
		const char *at = text;

		while (rc == 0 && (n = nsrun_mountinfo_next_below(&at,
		    scan->roots[i].path, found, sizeof found)) > 0)
			rc = add_mount(scan, i, found);
		if (rc == 0 && n < 0)
			rc = nsrun_err_rule(scan->err, NSRUN_STEP_PROJECT,
			    "is malformed", file, NULL);
	}
	free(text);
	return rc;
}

/* Everything again, until nothing changed. */
static int
settle(struct nsrun_scan *scan, struct scan_worker *w)
{
	const struct timespec tick = { .tv_nsec = 1000000 };
	int64_t rest_ms = nsrun_scan_now_ms() +
	    (int64_t)scan->limits.settle_ms;

	do {
		scan->round++;
		scan->unsettled = scan->recent = false;
		for (size_t i = 0; i < scan->n_roots; i++)
			nsrun_scan_check_root(scan, scan->trees[i]);
		work(w, false);
		if (scan->failed)
			return -1;
		if (scan->unsettled && nsrun_scan_now_ms() > rest_ms)
			return nsrun_scan_fail(scan, "changes all the time:"
			    " stop what writes there, or wait for it", 0,
			    scan->trees[0], NULL);
		/* The clock of the file system has to move on. */
		if (scan->recent)
			nanosleep(&tick, NULL);
	} while (scan->unsettled);
	return 0;
}

static int
walk(struct nsrun_scan *scan)
{
	struct scan_worker *w = malloc(sizeof *w);
	int rc = 0;

	if (!w)
		return nsrun_err_nomem(scan->err, "scan");
	w->scan = scan;
	for (size_t i = 0; rc == 0 && i < scan->n_roots; i++)
		rc = add_tree(scan, i);
	if (rc == 0) {
		work(w, false);
		rc = scan->failed ? -1 : settle(scan, w);
	}
	pthread_mutex_lock(&scan->lock);
	scan->quit = true;
	pthread_cond_broadcast(&scan->wake);
	pthread_mutex_unlock(&scan->lock);
	if (scan->has_helper)
		pthread_join(scan->helper, NULL);
	free(w);
	return rc == 0 ? find_mounts(scan) : -1;
}

int
nsrun_scan_new(struct nsrun_scan **result, const struct nsrun_scan_root *roots,
    size_t n, const struct nsrun_scan_limits *limits, struct nsrun_err *err)
{
	struct nsrun_scan *scan = calloc(1, sizeof *scan);

	*result = NULL;
	if (!scan)
		return nsrun_err_nomem(err, "scan");
	pthread_mutex_init(&scan->lock, NULL);
	pthread_cond_init(&scan->wake, NULL);
	scan->err = err;
	scan->limits = *limits;
	scan->roots = roots;
	scan->n_roots = n;
	scan->deadline_ms = nsrun_scan_now_ms() + (int64_t)limits->time_ms;
	scan->trees = nsrun_arena_alloc(&scan->arena, (n + 1) *
	    sizeof *scan->trees);
	if (!scan->trees)
		nsrun_err_nomem(err, "scan");
	else if (walk(scan) == 0)
		*result = scan;
	if (!*result)
		nsrun_scan_free(scan);
	return *result ? 0 : -1;
}

void
nsrun_scan_free(struct nsrun_scan *scan)
{
	if (!scan)
		return;
	for (struct nsrun_scan_dir *d = scan->newest; d; d = d->older)
		nsrun_fd_close(&d->fd);
	pthread_cond_destroy(&scan->wake);
	pthread_mutex_destroy(&scan->lock);
	free(scan->result.v);
	free(scan->text);
	free(scan->sorted);
	nsrun_arena_deinit(&scan->arena);
	free(scan);
}
