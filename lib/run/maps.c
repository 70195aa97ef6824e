/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The id maps of a sandbox whose caller left uid 0, or that has more ids than
 * one, written from outside while pid 1 waits. The kernel takes maps from a
 * member of the namespace or of its parent, so those of the second are written
 * by a short-lived child of ours that joins the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "run/prep.h"
#include "run/run.h"

extern char **environ;

static int
write_file(int dir, const char *name, const char *text)
{
	nsrun_autoclose int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/* Open /proc/PID. It waits for us, so the number is still its own. */
static int
open_pid(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int
write_first(struct nsrun_run *run, int dir, const char *uid_map,
    const char *gid_map)
{
	if (write_file(dir, "setgroups", "deny") < 0 ||
	    write_file(dir, "uid_map", uid_map) < 0 ||
	    write_file(dir, "gid_map", gid_map) < 0)
		return -1;
	run->userns_fd = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	return run->userns_fd;
}

static int
write_second(const struct nsrun_run *run, int dir, const char *uid_map,
    const char *gid_map)
{
	struct clone_args args = { .flags = CLONE_CLEAR_SIGHAND };
	pid_t pid = (pid_t)sys_clone3(&args);
	int status;

	if (pid == 0)
		_exit(setns(run->userns_fd, CLONE_NEWUSER) < 0 ||
		    write_file(dir, "uid_map", uid_map) < 0 ||
		    write_file(dir, "gid_map", gid_map) < 0 ? errno : 0);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECANCELED;
	return errno ? -1 : 0;
}

/* Ranges are root's to give, or those of subuid(5) by way of newuidmap(1). */
static int
run_tool(const char *tool, pid_t pid, const struct nsrun_idmap *map,
    struct nsrun_err *err)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	char **argv = nsrun_arena_alloc(&arena, (3 * map->n + 3) *
	    sizeof *argv);
	bool complete = argv;
	pid_t child;
	int status = 0;

	for (size_t i = 0; complete && i < 3 * map->n + 2; i++) {
		const struct nsrun_idrange *r =
		    &map->v[i < 2 ? 0 : (i - 2) / 3];
		const uint32_t numbers[] = { r->inside, r->outside, r->count };

		argv[i] = i == 0 ? nsrun_arena_strdup(&arena, tool) :
		    nsrun_arena_printf(&arena, "%" PRIu32, i == 1 ?
		    (uint32_t)pid : numbers[(i - 2) % 3]);
		complete = argv[i];
	}
	errno = complete ? posix_spawnp(&child, tool, NULL, NULL, argv,
	    environ) : ENOMEM;
	nsrun_arena_deinit(&arena);
	if (errno)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "posix_spawn", tool,
		    NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "waitpid",
			    tool, NULL);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return nsrun_err_rule(err, NSRUN_STEP_IDMAP,
		    "does not give these ids", tool, NULL);
	return 0;
}

static int
write_ranges(const struct nsrun_idmap *map, int dir, const char *name,
    struct nsrun_err *err)
{
	char text[4096];
	size_t n = 0;

	for (size_t i = 0; i < map->n && n < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", map->v[i].inside,
		    map->v[i].outside, map->v[i].count);
	if (n >= sizeof text || write_file(dir, name, text) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "write", name,
		    NULL);
	return 0;
}

/* The kernel takes any from who has the right; others have the tools. */
static int
write_asked(const struct nsrun_run *run, int dir, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = run->plan;

	if (geteuid() == 0)
		return write_ranges(&plan->uid_map, dir, "uid_map", err) < 0 ?
		    -1 : write_ranges(&plan->gid_map, dir, "gid_map", err);
	if (run_tool("newuidmap", run->pid, &plan->uid_map, err) < 0)
		return -1;
	return run_tool("newgidmap", run->pid, &plan->gid_map, err);
}

int
nsrun_maps_write(struct nsrun_run *run, int which, struct nsrun_err *err)
{
	char uid_map[NSRUN_MAP_SIZE], gid_map[NSRUN_MAP_SIZE];
	nsrun_autoclose int dir = open_pid(run->pid);

	if (dir >= 0 && run->plan->identity.asks_for_maps)
		return write_asked(run, dir, err);
	nsrun_map_texts(run->plan, which, uid_map, gid_map);
	if (dir < 0 || (which ? write_second(run, dir, uid_map, gid_map) :
	    write_first(run, dir, uid_map, gid_map)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "write", which ?
		    "the second user namespace" : "the first user namespace",
		    uid_map);
	return 0;
}
