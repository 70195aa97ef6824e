/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/prep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "policy/embedded.h"
#include "run/handback.h"
#include "run/run.h"

void
nsrun_prepared_init(struct nsrun_prepared *p)
{
	*p = (struct nsrun_prepared){
		.arena = NSRUN_ARENA_INIT,
		.prep = {
			.channel_fd = -1, .control_fd = -1, .watch_fd = -1,
			.cgroup_fd = -1, .net_fd = -1, .proc_fd = -1,
			.parent_fds = { -1, -1, -1 },
			.stdio_fds = { -1, -1, -1 },
		},
		.child_fds = { -1, -1, -1 },
	};
}

void
nsrun_prepared_deinit(struct nsrun_prepared *p)
{
	struct nsrun_prep *prep = &p->prep;

	if (prep->tree_fds)
		for (size_t i = 0; i < 2 * prep->plan->mounts.n; i++)
			nsrun_fd_close(&prep->tree_fds[i]);
	nsrun_fd_close(&prep->channel_fd);
	nsrun_fd_close(&prep->control_fd);
	nsrun_fd_close(&prep->proc_fd);
	nsrun_fd_close(&prep->net_fd);
	nsrun_fd_close(&prep->parent_fds[2]);
	for (int i = 0; i < 3; i++)
		nsrun_fd_close(&p->child_fds[i]);
	nsrun_arena_deinit(&p->arena);
	nsrun_prepared_init(p);
}

/* The host's procfs, and really one: what is written there matters. */
static int
open_proc(struct nsrun_prep *prep, struct nsrun_err *err)
{
	struct statfs fs;

	prep->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (prep->proc_fd < 0 || nsrun_fd_raise(&prep->proc_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "open", "/proc",
		    NULL);
	if (fstatfs(prep->proc_fd, &fs) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "fstatfs", "/proc",
		    NULL);
	if (fs.f_type != PROC_SUPER_MAGIC)
		return nsrun_err_rule(err, NSRUN_STEP_IDMAP,
		    "is not a proc file system", "/proc", NULL);
	return 0;
}

/*
 * Where this process keeps its arguments and environment: fields 48 to 51 of
 * proc_pid_stat(5). Pid 1 is a copy of us and must not show them.
 */
static int
find_own_strings(struct nsrun_prep *prep, struct nsrun_err *err)
{
	nsrun_autoclose int fd = -1;
	unsigned long at[4] = { 0 };
	char buf[2048], *s;
	ssize_t n;

	if (prep->own_strings || prep->plan->process.in_place)
		return 0;
	fd = openat(prep->proc_fd, "self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (n = read(fd, buf, sizeof buf - 1)) <= 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "read",
		    "/proc/self/stat", NULL);
	buf[n] = '\0';
	/* The name, field 2, may hold anything but ends at the last ')'. */
	s = strrchr(buf, ')');
	for (int field = 2; s && field < 48; field++)
		s = strchr(s + 1, ' ');
	for (int i = 0; s && i < 4; i++)
		at[i] = strtoul(s, &s, 10);
	if (!s || !at[0] || at[1] < at[0] || at[3] < at[2])
		return nsrun_err_rule(err, NSRUN_STEP_INIT,
		    "does not tell where our arguments are",
		    "/proc/self/stat", NULL);
	if (at[2] == at[1])
		at[1] = at[3];	/* as execve(2) lays them out */
	prep->own_strings = (char *)at[0];
	prep->n_own_strings = at[1] - at[0];
	return 0;
}

static int
open_channels(struct nsrun_prep *prep, struct nsrun_run *run,
    struct nsrun_err *err)
{
	int channel[2], control[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "socketpair",
		    NULL, NULL);
	run->channel_fd = channel[0];
	prep->channel_fd = channel[1];
	if (pipe2(control, O_CLOEXEC) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "pipe2", NULL,
		    NULL);
	prep->control_fd = control[0];
	run->control_fd = control[1];
	if (prep->plan->process.names_command && setsockopt(run->channel_fd,
	    SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "SO_PASSCRED",
		    NULL, NULL);
	if (nsrun_fd_raise(&run->channel_fd) < 0 ||
	    nsrun_fd_raise(&run->control_fd) < 0 ||
	    nsrun_fd_raise(&prep->channel_fd) < 0 ||
	    nsrun_fd_raise(&prep->control_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "fcntl", NULL,
		    NULL);
	prep->parent_fds[0] = run->channel_fd;
	prep->parent_fds[1] = run->control_fd;
	prep->watch_fd = run->watch_fd;
	return 0;
}

/* Ascending, as nsrun_fd_close_others() wants them. */
static void
keep(struct nsrun_prep *prep, int fd)
{
	unsigned int at = prep->n_keep;

	if (fd < 0)
		return;
	for (; at > 0 && prep->keep_fds[at - 1] > fd; at--)
		prep->keep_fds[at] = prep->keep_fds[at - 1];
	prep->keep_fds[at] = fd;
	prep->n_keep++;
}

static void
sort_keep(struct nsrun_prep *prep)
{
	keep(prep, prep->channel_fd);
	keep(prep, prep->control_fd);
	keep(prep, prep->watch_fd);
	keep(prep, prep->plan->process.sync_fd);
	for (size_t i = 0; i < prep->plan->n_returns; i++)
		keep(prep, prep->return_fds[i]);
}

/*
 * The command is to open /dev/stdout and the like again, as programs do, also
 * when it is not the caller: an anonymous pipe then becomes its own, as other
 * launchers do. What has a name in a file system keeps its owner.
 */
static void
give_pipe(const struct nsrun_plan *plan, int fd)
{
	struct statfs fs;

	if (plan->identity.leaves_root && fstatfs(fd, &fs) == 0 &&
	    fs.f_type == PIPEFS_MAGIC &&
	    fchown(fd, plan->identity.host_uid, plan->identity.host_gid) < 0)
		return;		/* then it cannot be opened again, no more */
}

/*
 * A key of an ordinary user's cannot be given one; but this pipe is ours, and
 * has no name by which anybody else could open it.
 */
static void
open_to_key(const struct nsrun_plan *plan, int fd)
{
	if (plan->profile && plan->identity.asks_for_maps &&
	    fchmod(fd, 0666) < 0)
		return;		/* likewise */
}

/* Where the relay of standard input may give back what nobody read. */
static enum nsrun_relay_source
source_of(int to_fd)
{
	struct stat st;

	if (fstat(0, &st) < 0)
		return NSRUN_RELAY_STREAM;
	if (S_ISREG(st.st_mode))
		return NSRUN_RELAY_FILE;
	/* A pipe of one buffer: see show() in relay.c. */
	return S_ISFIFO(st.st_mode) && fcntl(to_fd, F_SETPIPE_SZ,
	    NSRUN_RELAY_PAGE) == NSRUN_RELAY_PAGE ? NSRUN_RELAY_PIPE :
	    NSRUN_RELAY_STREAM;
}

static int
open_relay(struct nsrun_prepared *p, struct nsrun_run *run, int i,
    struct nsrun_err *err)
{
	struct nsrun_relay *relay = &run->relays[i];
	int ends[2], child = i == 0 ? 0 : 1;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "pipe2", NULL,
		    NULL);
	p->child_fds[i] = ends[child];
	if (i == 0) {
		relay->from_fd = 0;
		relay->to_fd = ends[1];
		relay->owns_to = true;
		relay->source = source_of(ends[1]);
		if (relay->source == NSRUN_RELAY_FILE) {
			relay->file_fd = 0;
			relay->peek_fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
		}
	} else {
		relay->from_fd = ends[0];
		relay->owns_from = true;
		relay->to_fd = i;
	}
	if (nsrun_fd_raise(&p->child_fds[i]) < 0 || nsrun_fd_raise(
	    i == 0 ? &relay->to_fd : &relay->from_fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STDIO, "fcntl", NULL,
		    NULL);
	p->prep.stdio_fds[i] = p->child_fds[i];
	return 0;
}

/* A pipe where the supervisor copies; the caller's own where it does not. */
static int
open_stdio(struct nsrun_prepared *p, struct nsrun_run *run,
    struct nsrun_err *err)
{
	for (int i = 0; i < 3; i++) {
		p->prep.stdio_fds[i] = i;
		if (run->plan->stdio[i] == NSRUN_STDIO_RELAY &&
		    open_relay(p, run, i, err) < 0)
			return -1;
		if (i == 2 && run->plan->stdio[i] == NSRUN_STDIO_SAME)
			p->prep.stdio_fds[i] = p->prep.stdio_fds[1];
		if (run->plan->stdio[i] == NSRUN_STDIO_RELAY ||
		    run->plan->stdio[i] == NSRUN_STDIO_INHERIT)
			give_pipe(run->plan, p->prep.stdio_fds[i]);
		if (run->plan->stdio[i] == NSRUN_STDIO_RELAY)
			open_to_key(run->plan, p->prep.stdio_fds[i]);
	}
	return 0;
}

void
nsrun_map_texts(const struct nsrun_plan *plan, int which,
    char uid_map[NSRUN_MAP_SIZE], char gid_map[NSRUN_MAP_SIZE])
{
	const struct nsrun_identity *who = &plan->identity;
	const struct nsrun_idrange *u = plan->uid_map.v, *g = plan->gid_map.v;

	snprintf(uid_map, NSRUN_MAP_SIZE, "%" PRIu32 " %" PRIu32 " 1",
	    which ? who->uid : u->inside, which ? u->inside : u->outside);
	snprintf(gid_map, NSRUN_MAP_SIZE, "%" PRIu32 " %" PRIu32 " 1",
	    which ? who->gid : g->inside, which ? g->inside : g->outside);
}

static int
prepare_mounts(struct nsrun_prepared *p, struct nsrun_err *err)
{
	struct nsrun_prep *prep = &p->prep;
	const struct nsrun_mounts *mounts = &prep->plan->mounts;

	prep->tree_fds = nsrun_arena_alloc(&p->arena,
	    2 * mounts->n * sizeof(int));
	prep->tmpfs = nsrun_arena_alloc(&p->arena,
	    mounts->n * sizeof *prep->tmpfs);
	/* A throw-away overlay has a tmpfs and is one of ours itself. */
	prep->own_devs = nsrun_arena_alloc(&p->arena,
	    2 * mounts->n * sizeof(dev_t));
	if (!prep->tree_fds || !prep->tmpfs || !prep->own_devs)
		return nsrun_err_nomem(err, "mounts");
	for (size_t i = 0; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];
		struct nsrun_tmpfs_text *text = &prep->tmpfs[i];

		prep->tree_fds[i] = prep->tree_fds[mounts->n + i] = -1;
		/* "" where the kernel's own is wanted. */
		if (m->size_bytes)
			snprintf(text->size, sizeof text->size, "%" PRIu64,
			    m->size_bytes);
		if (m->n_inodes)
			snprintf(text->inodes, sizeof text->inodes,
			    "%" PRIu64, m->n_inodes);
		/* The root has the mode of a directory in it. */
		if (m->kind != NSRUN_MOUNT_ROOT)
			snprintf(text->mode, sizeof text->mode, "%o",
			    (unsigned int)nsrun_mount_mode(m, 0755));
	}
	return 0;
}

static int
prepare_filters(struct nsrun_prepared *p, struct nsrun_err *err)
{
	struct nsrun_prep *prep = &p->prep;
	const struct nsrun_plan *plan = prep->plan;

	prep->programs = nsrun_arena_alloc(&p->arena,
	    plan->n_filters * sizeof *prep->programs);
	if (!prep->programs)
		return nsrun_err_nomem(err, "filter");
	for (size_t i = 0; i < plan->n_filters; i++)
		prep->programs[i] = (struct sock_fprog){
			.len = plan->filters[i]->n_insns,
			.filter = (struct sock_filter *)
			    (uintptr_t)plan->filters[i]->insns,
		};
	prep->n_programs = (unsigned int)plan->n_filters;
	return 0;
}

/* The files to try for argv[0], as execvp(3) would, with the plan's PATH. */
static int
prepare_exec(struct nsrun_prepared *p, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = p->prep.plan;
	const char *path = nsrun_plan_env(plan, "PATH");
	const char *name = plan->process.file ? plan->process.file :
	    plan->argv[0];
	size_t n = 0, room = 2;
	char **v;

	if (!path)
		path = "/bin:/usr/bin";
	if (!*name || strchr(name, '/'))
		path = NULL;
	for (const char *s = path; s && *s; s++)
		room += *s == ':';
	v = nsrun_arena_alloc(&p->arena, room * sizeof *v);
	if (!v)
		return nsrun_err_nomem(err, name);
	if (!path)
		v[n++] = nsrun_arena_strdup(&p->arena, name);
	for (const char *s = path; s; s = strchr(s, ':') ?
	    strchr(s, ':') + 1 : NULL) {
		int len = (int)strcspn(s, ":");

		v[n] = len ? nsrun_arena_printf(&p->arena, "%.*s/%s", len, s,
		    name) : nsrun_arena_strdup(&p->arena, name);
		if (!v[n++])
			return nsrun_err_nomem(err, name);
	}
	p->prep.exec_paths = v;
	return v[0] ? 0 : nsrun_err_nomem(err, name);
}

/* A script without "#!" is the shell's, where the plan wants execvp(3). */
static int
prepare_script(struct nsrun_prepared *p, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = p->prep.plan;
	char **v;

	if (plan->profile || plan->process.literal)
		return 0;
	v = nsrun_arena_alloc(&p->arena, (plan->n_argv + 2) * sizeof *v);
	if (!v || !(v[0] = nsrun_arena_strdup(&p->arena, "/bin/sh")))
		return nsrun_err_nomem(err, "arguments");
	/* v[1] is the file's, when it is known. */
	for (size_t i = 1; i < plan->n_argv; i++)
		v[i + 1] = plan->argv[i];
	p->prep.script_argv = v;
	return 0;
}

/* PWD says where the command starts; which of several, the child finds out. */
static int
prepare_pwd(struct nsrun_prepared *p, struct nsrun_err *err)
{
	const struct nsrun_plan *plan = p->prep.plan;
	size_t n = 0;

	while (plan->cwd_else && plan->cwd_else[n])
		n++;
	p->prep.pwds = nsrun_arena_alloc(&p->arena,
	    (n + 1) * sizeof *p->prep.pwds);
	if (!p->prep.pwds)
		return nsrun_err_nomem(err, "PWD");
	for (size_t i = 0; i <= n; i++) {
		p->prep.pwds[i] = nsrun_arena_printf(&p->arena, "PWD=%s",
		    i ? plan->cwd_else[i - 1] : plan->cwd);
		if (!p->prep.pwds[i])
			return nsrun_err_nomem(err, "PWD");
	}
	for (n = 0; n < plan->n_env && (plan->process.literal ||
	    strncmp(plan->env[n], "PWD=", 4)); n++)
		continue;
	p->prep.pwd_slot = n;
	return 0;
}

/* What must be closed by name where nothing else is: see apply_fds.c. */
static int
list_ours(struct nsrun_prepared *p, struct nsrun_err *err)
{
	struct nsrun_prep *prep = &p->prep;
	const struct nsrun_plan *plan = prep->plan;
	const struct nsrun_mounts *mounts = &plan->mounts;
	int *v = nsrun_arena_alloc(&p->arena, (plan->process.n_consumed +
	    2 * mounts->n + 8) * sizeof *v);
	unsigned int n = 0;

	if (!v)
		return nsrun_err_nomem(err, "descriptors");
	v[n++] = prep->proc_fd;
	for (size_t i = 0; i < plan->process.n_consumed; i++)
		v[n++] = plan->process.consumed[i];
	for (size_t i = 0; i < mounts->n; i++) {
		if (prep->tree_fds[i] >= 0)
			v[n++] = prep->tree_fds[i];
		if (mounts->v[i].pin.fd >= 0)
			v[n++] = mounts->v[i].pin.fd;
	}
	for (int i = 0; i < 3; i++)
		if (p->child_fds[i] >= 0)
			v[n++] = p->child_fds[i];
	if (prep->watch_fd >= 0)
		v[n++] = prep->watch_fd;
	prep->close_fds = v;
	prep->n_close = n;
	return 0;
}

int
nsrun_prepared_build(struct nsrun_prepared *p, struct nsrun_run *run,
    struct nsrun_err *err)
{
	struct nsrun_prep *prep = &p->prep;

	prep->plan = run->plan;
	prep->own_strings = run->own_strings;
	prep->n_own_strings = run->n_own_strings;
	if (open_proc(prep, err) < 0 || find_own_strings(prep, err) < 0 ||
	    open_channels(prep, run, err) < 0 ||
	    nsrun_handback_open(run, err) < 0 || open_stdio(p, run, err) < 0 ||
	    prepare_mounts(p, err) < 0 ||
	    nsrun_prepare_limits(prep, err) < 0 ||
	    nsrun_prepare_scheduling(prep, err) < 0 ||
	    prepare_filters(p, err) < 0 ||
	    prepare_exec(p, err) < 0 || prepare_script(p, err) < 0 ||
	    prepare_pwd(p, err) < 0)
		return -1;
	if (prep->plan->uid_map.n && (!prep->plan->identity.asks_for_maps ||
	    prep->plan->identity.lock_namespaces))
		for (int i = 0; i < 2; i++)
			nsrun_map_texts(prep->plan, i, prep->uid_maps[i],
			    prep->gid_maps[i]);
	memcpy(prep->return_fds, run->return_fds, sizeof prep->return_fds);
	sort_keep(prep);
	if (prep->plan->identity.clones_trees &&
	    nsrun_trees_clone(prep, err) < 0)
		return -1;
	return prep->plan->process.keeps_fds ? list_ours(p, err) : 0;
}
