/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"

enum { MAX_TRIES = 16, PATIENCE_MS = 5000 };

static const char *
prefix(const struct nsrun_cgroup_plan *plan)
{
	return plan->prefix ? plan->prefix : "oc-nsrun.";
}

static const char *
self_prefix(const struct nsrun_cgroup_plan *plan)
{
	return plan->self_prefix ? plan->self_prefix : "oc-nsrun.self.";
}

/* As make_dir() names them: others may use the same first word. */
static bool
is_named(const char *name, const char *first)
{
	size_t n = strlen(first), digits;

	if (strncmp(name, first, n))
		return false;
	digits = strspn(name + n, "0123456789");
	name += n + digits;
	return digits && *name == '-' &&
	    strspn(name + 1, "0123456789abcdef") == 8 && !name[9];
}

static int
write_file(int dir_fd, const char *file, const char *text)
{
	nsrun_autoclose int fd = openat(dir_fd, file, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	return n < 0 ? -1 : 0;
}

/* NULL: it is not there. The caller frees. */
static char *
read_file(int dir_fd, const char *file)
{
	nsrun_autoclose int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	size_t size;

	return fd < 0 ? NULL : nsrun_file_read_fd(fd, 1 << 20, &size);
}

/* The number behind `key` in a file of lines "key number"; 0: none. */
static uint64_t
read_key(int dir_fd, const char *file, const char *key)
{
	char *text = read_file(dir_fd, file), *at = text;
	uint64_t value = 0;
	size_t n = strlen(key);

	for (; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!n || (!strncmp(at, key, n) && at[n] == ' ')) {
			value = strtoull(at + n, NULL, 10);
			break;
		}
	free(text);
	return value;
}

/* One level of two: a scope has no children of ours. */
static void
destroy(int base_fd, int dir_fd, const char *name)
{
	nsrun_autoclose int events = openat(dir_fd, "cgroup.events",
	    O_RDONLY | O_CLOEXEC);
	struct pollfd fds = { events, POLLPRI, 0 };
	char text[256];

	if (events >= 0)
		write_file(dir_fd, "cgroup.kill", "1");
	for (int waited = 0; events >= 0 && waited < PATIENCE_MS;
	    waited += 100) {
		ssize_t n = pread(events, text, sizeof text - 1, 0);

		text[n > 0 ? n : 0] = '\0';
		if (!strstr(text, "populated 1"))
			break;
		poll(&fds, 1, 100);
	}
	/* The last may still be on its way out. */
	for (int i = 0; i < 100 && unlinkat(base_fd, name, AT_REMOVEDIR) < 0 &&
	    errno == EBUSY; i++)
		poll(NULL, 0, 10);
}

/* An exclusive lock says that nobody supervises it, or that we do. */
static int
lock_dir(int base_fd, const char *name)
{
	nsrun_autoclose int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	struct stat held, now;

	/* Between mkdir and this, another may have cleared it away. */
	if (fd < 0 || nsrun_fd_raise(&fd) < 0 ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &held) < 0 ||
	    fstatat(base_fd, name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    held.st_ino != now.st_ino)
		return -1;
	return nsrun_fd_take(&fd);
}

/* What supervisors left that were killed. */
static void
remove_leftovers(int base_fd, const struct nsrun_cgroup_plan *plan)
{
	int fd = openat(base_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!dir)
		nsrun_fd_close(&fd);
	while (dir && (entry = readdir(dir))) {
		bool self = is_named(entry->d_name, self_prefix(plan));
		nsrun_autoclose int left = -1;

		if (!self && !is_named(entry->d_name, prefix(plan)))
			continue;
		left = lock_dir(base_fd, entry->d_name);
		/* In the other kind a janitor may have work to do. */
		if (left >= 0 && self)
			unlinkat(base_fd, entry->d_name, AT_REMOVEDIR);
		else if (left >= 0)
			destroy(base_fd, left, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* Returns the new directory, locked. Its mode keeps others' locks away. */
static int
make_dir(int base_fd, const char *first, char name[40], struct nsrun_err *err)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		uint32_t random = 0;
		int fd;

		if (getrandom(&random, sizeof random, 0) < 0)
			break;
		snprintf(name, 40, "%s%d-%08x", first, (int)getpid(), random);
		if (mkdirat(base_fd, name, 0700) < 0 && errno != EEXIST)
			break;
		fd = lock_dir(base_fd, name);
		if (fd >= 0)
			return fd;
		unlinkat(base_fd, name, AT_REMOVEDIR);
	}
	return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "mkdir", name, NULL);
}

/* Are we the only process in it? */
static bool
is_alone(int dir_fd)
{
	char *text = read_file(dir_fd, "cgroup.procs"), own[16];
	bool alone;

	snprintf(own, sizeof own, "%d\n", (int)getpid());
	alone = text && !strcmp(text, own);
	free(text);
	return alone;
}

/*
 * A cgroup with processes of its own gives no controllers to others below it.
 * Where the one is ourselves, we step aside.
 */
static int
step_aside(struct nsrun_cgroup *cg, const struct nsrun_cgroup_plan *plan,
    struct nsrun_err *err)
{
	cg->self_fd = make_dir(cg->base_fd, self_prefix(plan), cg->self_name,
	    err);
	if (cg->self_fd < 0)
		return -1;
	if (write_file(cg->self_fd, "cgroup.procs", "0") < 0)
		return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "cgroup.procs",
		    cg->self_name, NULL);
	return 0;
}

/* Of the whole machine: nobody gave it to us, and it is no place to try. */
static bool
is_host_root(int base_fd)
{
	return faccessat(base_fd, "cgroup.type", F_OK, 0) < 0;
}

/* "+memory": have the base give that to what is made below it. */
static int
enable(struct nsrun_cgroup *cg, const char *word, const char *path,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err)
{
	static const char file[] = "cgroup.subtree_control";

	if (write_file(cg->base_fd, file, word) == 0)
		return 0;
	if (errno != EBUSY)
		return nsrun_err_sys(err, NSRUN_STEP_CGROUP, file, path, word);
	if (!plan->moves_caller || cg->self_fd >= 0 || !is_alone(cg->base_fd))
		return nsrun_err_rule(err, NSRUN_STEP_CGROUP, "has processes of"
		    " its own, and so cannot limit others below it", path,
		    NULL);
	return step_aside(cg, plan, err) < 0 ? -1 :
	    enable(cg, word, path, plan, err);
}

static int
enable_all(struct nsrun_cgroup *cg, const struct nsrun_cgroup_base *base,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err)
{
	char *text = read_file(cg->base_fd, "cgroup.subtree_control");
	char word[16];

	cg->controllers = text ? nsrun_controllers_parse(text) : 0;
	free(text);
	for (int i = 0; i < NSRUN_N_CONTROLLERS; i++) {
		unsigned int bit = 1U << i;

		if (!(base->controllers & bit) || cg->controllers & bit ||
		    (plan->use == NSRUN_CGROUP_AUTO &&
		    is_host_root(cg->base_fd)))
			continue;
		snprintf(word, sizeof word, "+%s", nsrun_controller_name(bit));
		if (enable(cg, word, base->path, plan, err) < 0)
			return -1;
		cg->controllers |= bit;
	}
	return cg->controllers || plan->use == NSRUN_CGROUP_REQUIRE ? 0 :
	    nsrun_err_rule(err, NSRUN_STEP_CGROUP, "has no controllers",
	    base->path, NULL);
}

static int
write_settings(struct nsrun_cgroup *cg, const struct nsrun_cgroup_base *base,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err)
{
	for (size_t i = 0; i < plan->n_settings; i++) {
		const struct nsrun_cgroup_setting *s = &plan->settings[i];
		unsigned int bit = nsrun_controllers_parse(s->file);

		if (bit && !(cg->controllers & bit)) {
			if (s->optional)
				continue;
			return nsrun_err_rule(err, NSRUN_STEP_CGROUP,
			    "is not given to us (cgroup.controllers)",
			    base->path, nsrun_controller_name(bit));
		}
		if (write_file(cg->dir_fd, s->file, s->value) < 0 &&
		    !(s->optional && errno == ENOENT))
			return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "write",
			    s->file, s->value);
	}
	return 0;
}

/* Read once: from then on, poll(2) tells of changes. */
static int
open_events(int dir_fd, const char *file)
{
	nsrun_autoclose int fd = openat(dir_fd, file, O_RDONLY | O_CLOEXEC);
	char text[512];

	if (fd < 0 || nsrun_fd_raise(&fd) < 0 ||
	    pread(fd, text, sizeof text, 0) < 0)
		return -1;
	return nsrun_fd_take(&fd);
}

static int
lock_base(int fd, const char *path, struct nsrun_err *err)
{
	for (int waited = 0; flock(fd, LOCK_SH | LOCK_NB) < 0; waited += 10) {
		if (errno != EWOULDBLOCK || waited > PATIENCE_MS)
			return nsrun_err_sys(err, NSRUN_STEP_CGROUP, "flock",
			    path, NULL);
		poll(NULL, 0, 10);
	}
	return 0;
}

static int
open_scope(struct nsrun_cgroup *cg, struct nsrun_cgroup_base *base,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err)
{
	if (plan->use == NSRUN_CGROUP_AUTO && !base->controllers)
		return nsrun_err_rule(err, NSRUN_STEP_CGROUP,
		    "has no controllers", base->path, NULL);
	cg->base_fd = nsrun_fd_take(&base->fd);
	if (lock_base(cg->base_fd, base->path, err) < 0)
		return -1;
	remove_leftovers(cg->base_fd, plan);
	if (enable_all(cg, base, plan, err) < 0)
		return -1;
	cg->dir_fd = make_dir(cg->base_fd, prefix(plan), cg->name, err);
	if (cg->dir_fd < 0 || write_settings(cg, base, plan, err) < 0)
		return -1;
	if (plan->soft)
		return 0;
	cg->memory_fd = open_events(cg->dir_fd, "memory.events");
	cg->pids_fd = open_events(cg->dir_fd, "pids.events");
	return 0;
}

int
nsrun_cgroup_open(struct nsrun_cgroup *cgroup,
    const struct nsrun_cgroup_plan *plan, struct nsrun_err *err)
{
	struct nsrun_err why = NSRUN_ERR_INIT;
	struct nsrun_cgroup_base base = { .fd = -1 };

	*cgroup = (struct nsrun_cgroup)NSRUN_CGROUP_INIT;
	if (plan->use == NSRUN_CGROUP_OFF)
		return 0;
	if (nsrun_cgroup_find(&base, plan->parent, &why) == 0 &&
	    open_scope(cgroup, &base, plan, &why) == 0)
		return 0;
	nsrun_fd_close(&base.fd);
	nsrun_cgroup_deinit(cgroup);
	if (plan->use == NSRUN_CGROUP_AUTO)
		return 0;
	*err = why;
	return -1;
}

void
nsrun_cgroup_kill(const struct nsrun_cgroup *cgroup)
{
	if (cgroup->dir_fd >= 0)
		write_file(cgroup->dir_fd, "cgroup.kill", "1");
}

/*
 * Where nobody else has anything below the base, it gives no controllers any
 * more, and may have processes again: us.
 */
static void
step_back(struct nsrun_cgroup *cg)
{
	char word[16];

	if (flock(cg->base_fd, LOCK_EX | LOCK_NB) < 0)
		return;
	for (int i = 0; i < NSRUN_N_CONTROLLERS; i++) {
		snprintf(word, sizeof word, "-%s",
		    nsrun_controller_name(1U << i));
		write_file(cg->base_fd, "cgroup.subtree_control", word);
	}
	if (write_file(cg->base_fd, "cgroup.procs", "0") == 0)
		destroy(cg->base_fd, cg->self_fd, cg->self_name);
}

void
nsrun_cgroup_deinit(struct nsrun_cgroup *cgroup)
{
	nsrun_fd_close(&cgroup->memory_fd);
	nsrun_fd_close(&cgroup->pids_fd);
	if (cgroup->dir_fd >= 0)
		destroy(cgroup->base_fd, cgroup->dir_fd, cgroup->name);
	nsrun_fd_close(&cgroup->dir_fd);
	if (cgroup->self_fd >= 0)
		step_back(cgroup);
	nsrun_fd_close(&cgroup->self_fd);
	nsrun_fd_close(&cgroup->base_fd);
}

void
nsrun_cgroup_acknowledge(const struct nsrun_cgroup *cgroup)
{
	const int fds[] = { cgroup->memory_fd, cgroup->pids_fd };
	char text[512];

	for (int i = 0; i < 2; i++)
		if (fds[i] >= 0)
			(void)!pread(fds[i], text, sizeof text, 0);
}

void
nsrun_cgroup_read(const struct nsrun_cgroup *cgroup,
    struct nsrun_cgroup_used *used)
{
	int fd = cgroup->dir_fd;

	*used = (struct nsrun_cgroup_used){ 0 };
	if (fd < 0)
		return;
	used->memory_peak = read_key(fd, "memory.peak", "");
	used->pids_peak = read_key(fd, "pids.peak", "");
	used->cpu_us = read_key(fd, "cpu.stat", "usage_usec");
	used->oom_kills = read_key(fd, "memory.events", "oom_kill");
	used->forks_refused = read_key(fd, "pids.events", "max");
}
