/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From the whole command line to a plan: what goes with what, who the command
 * is, where it starts, and how its caller hears of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "bwrap.h"
#include "bwrap_tty.h"
#include "host/identity.h"

/* As far as that can be told without making one. */
static bool
has_user_namespaces(void)
{
	char *text = nsrun_file_read("/sys/module/user_namespace/parameters/"
	    "enable", 64);
	bool off = text && *text == 'N';

	free(text);
	return !off && access("/proc/self/ns/user", F_OK) == 0 &&
	    nsrun_file_number("/proc/sys/user/max_user_namespaces") != 0;
}

int
bwrap_plan_begin(struct bwrap *b)
{
	const struct nsrun_mount root = {
		.kind = NSRUN_MOUNT_ROOT, .target = "/",
	};

	b->plan->mounts.writes_host = true;
	b->info_fd = b->json_fd = b->userns_block_fd = -1;
	b->sync_fd = b->block_fd = -1;
	return nsrun_plan_add_mount(b->plan, &root, &b->err) < 0 ?
	    bwrap_die_err(b) : 0;
}

/* Options that only make sense beside others, as bubblewrap tells. */
static int
check_user(struct bwrap *b, bool said)
{
	const struct nsrun_plan *plan = b->plan;

	if (!b->unshare_user && plan->join.user < 0) {
		if (b->has_uid && b->uid != getuid())
			return bwrap_die(b, "Specifying --uid requires"
			    " --unshare-user or --userns");
		if (b->has_gid && b->gid != getgid())
			return bwrap_die(b, "Specifying --gid requires"
			    " --unshare-user or --userns");
	}
	if (plan->join.user >= 0 && said)
		return bwrap_die(b, "--userns not compatible --unshare-user");
	if (plan->join.user >= 0 && b->user_try)
		return bwrap_die(b, "--userns not compatible"
		    " --unshare-user-try");
	if (b->disable_userns && !said)
		return bwrap_die(b, "--disable-userns requires --unshare-user");
	if (b->userns_block_fd >= 0 && b->disable_userns)
		return bwrap_die(b, "--disable-userns is not compatible with"
		    "  --userns-block-fd");
	if (b->userns_block_fd >= 0 && !said)
		return bwrap_die(b, "--userns-block-fd requires"
		    " --unshare-user");
	if (b->userns_block_fd >= 0 && b->info_fd < 0)
		return bwrap_die(b, "--userns-block-fd requires --info-fd");
	if (plan->uid_map.n || plan->gid_map.n) {
		if (!said)
			return bwrap_die(b, "--uid-map and --gid-map require"
			    " --unshare-user");
		if (!plan->uid_map.n || !plan->gid_map.n)
			return bwrap_die(b, "--uid-map and --gid-map require"
			    " each other");
		if (b->disable_userns || b->userns_block_fd >= 0)
			return bwrap_die(b, "--uid-map is not compatible with"
			    " --disable-userns or --userns-block-fd");
	}
	return 0;
}

static int
check_process(struct bwrap *b)
{
	const struct nsrun_plan *plan = b->plan;
	bool pid = b->unshare & CLONE_NEWPID;

	if (b->as_pid_1 && !pid)
		return bwrap_die(b, "Specifying --as-pid-1 requires"
		    " --unshare-pid");
	if (b->as_pid_1 && plan->process.n_locks)
		return bwrap_die(b, "Specifying --as-pid-1 and --lock-file is"
		    " not permitted");
	if (b->kill_on_exit && (!pid || b->as_pid_1))
		return bwrap_die(b, "Specifying --kill-on-exit requires"
		    " --unshare-pid, and a pid 1 of ours");
	if (b->pty && (!pid || b->as_pid_1 || !b->has_dev))
		return bwrap_die(b, "Specifying --pty requires --unshare-pid"
		    " and --dev, and a pid 1 of ours");
	if (b->extended && b->json_fd < 0)
		return bwrap_die(b, "Specifying --json-status-extended requires"
		    " --json-status-fd");
	if (plan->hostname && !(b->unshare & CLONE_NEWUTS))
		return bwrap_die(b, "Specifying --hostname requires"
		    " --unshare-uts");
	if (plan->join.net >= 0 && b->unshare & CLONE_NEWNET)
		return bwrap_die(b, "--netns not compatible with"
		    " --unshare-net");
	return 0;
}

static int
set_namespaces(struct bwrap *b)
{
	bool cgroups = access("/proc/self/ns/cgroup", F_OK) == 0;
	struct nsrun_plan *plan = b->plan;

	/* Who has no right to mount gets it by a user namespace. */
	b->unshare_user |= plan->join.user < 0 &&
	    (!nsrun_identity_can_mount() ||
	    (b->user_try && has_user_namespaces()));
	if (b->cgroup && !cgroups)
		return bwrap_die(b, "Cannot create new cgroup namespace because"
		    " the kernel does not support it");
	if (b->cgroup_try && cgroups)
		b->unshare |= CLONE_NEWCGROUP;
	plan->namespaces = b->unshare | CLONE_NEWNS |
	    (b->unshare_user ? CLONE_NEWUSER : 0);
	plan->loopback = b->unshare & CLONE_NEWNET;
	plan->network = NSRUN_NETWORK_ISOLATED;
	return 0;
}

static int
add_map(struct bwrap *b, struct nsrun_idmap *map, uint32_t inside,
    uint32_t outside)
{
	const struct nsrun_idrange one = { inside, outside, 1 };

	return nsrun_plan_add_idrange(b->plan, map, one, &b->err) < 0 ?
	    bwrap_die_err(b) : 0;
}

/* Does the map show this id of the host's? Where is left in *inside. */
static bool
shows(const struct nsrun_idmap *map, uint32_t id, uint32_t *inside)
{
	for (size_t i = 0; i < map->n; i++)
		if (id - map->v[i].outside < map->v[i].count) {
			*inside = map->v[i].inside + (id - map->v[i].outside);
			return true;
		}
	return false;
}

/* Ranges: the caller's own id has its place in them, or nothing is its. */
static int
find_in_ranges(struct bwrap *b, struct nsrun_identity *who)
{
	uint32_t uid, gid;

	if (!shows(&b->plan->uid_map, who->host_uid, &uid) ||
	    !shows(&b->plan->gid_map, who->host_gid, &gid))
		return bwrap_die(b, "--uid-map and --gid-map must have the"
		    " caller's own ids %u and %u outside",
		    (unsigned int)who->host_uid, (unsigned int)who->host_gid);
	who->sets_ids = b->has_uid || b->has_gid;
	who->uid = b->has_uid ? b->uid : uid;
	who->gid = b->has_gid ? b->gid : gid;
	return 0;
}

/*
 * A second user namespace where --dev wants one, since callers see the map, and
 * where no more shall be made: what owns the mounts is then out of reach.
 */
static int
set_identity(struct bwrap *b)
{
	struct nsrun_plan *plan = b->plan;
	struct nsrun_identity *who = &plan->identity;
	uid_t uid = getuid();
	gid_t gid = getgid();

	*who = (struct nsrun_identity){
		.uid = b->has_uid ? b->uid : uid, .host_uid = uid,
		.gid = b->has_gid ? b->gid : gid, .host_gid = gid,
		.keeps_root = uid == 0, .why_kept = uid == 0 ?
		    "the caller is root" : NULL,
		.no_more_userns = b->disable_userns,
		.check_no_userns = b->disable_userns || b->assert_no_userns,
		.finds_maps = b->userns_block_fd >= 0,
		.asks_for_maps = plan->uid_map.n > 0,
	};
	who->sets_ids = !b->unshare_user && (b->has_uid || b->has_gid);
	if (who->asks_for_maps)
		return find_in_ranges(b, who);
	if (!b->unshare_user || who->finds_maps)
		return 0;
	who->lock_namespaces = b->disable_userns ||
	    (b->has_dev && (who->uid || who->gid));
	if (add_map(b, &plan->uid_map, b->has_dev ? 0 : who->uid, uid) < 0)
		return -1;
	return add_map(b, &plan->gid_map, b->has_dev ? 0 : who->gid, gid);
}

/* What was said about mounts before all of it was known. */
static void
set_mounts(struct bwrap *b)
{
	struct nsrun_plan *plan = b->plan;
	bool own_pids = b->unshare & CLONE_NEWPID || plan->join.pid >= 0;

	for (size_t i = 1; i < plan->mounts.n; i++) {
		struct nsrun_mount *m = &plan->mounts.v[i];

		if (b->strict)
			m->flags |= NSRUN_MOUNT_NOLINK;
		if (m->kind == NSRUN_MOUNT_PROC && !own_pids) {
			m->kind = NSRUN_MOUNT_BIND;
			m->source = "/proc";
			m->type = S_IFDIR;
			m->flags |= NSRUN_MOUNT_RECURSIVE;
			m->flags &= ~(unsigned int)NSRUN_MOUNT_NOEXEC;
		}
	}
}

/*
 * Where it starts and what PWD is: where it was told, or else where we are, if
 * there is such a place inside, or at home, or at the root.
 */
static int
set_cwd(struct bwrap *b)
{
	struct nsrun_plan *plan = b->plan;
	const char *home = bwrap_env_get(b, "HOME");
	const char **others = nsrun_arena_alloc(&plan->arena,
	    3 * sizeof *others);
	char here[PATH_MAX];
	size_t n = 0;

	if (!others)
		return bwrap_nomem(b);
	if (b->chdir) {
		plan->cwd = b->chdir;
	} else {
		bool known = getcwd(here, sizeof here) && *here == '/';

		plan->cwd = known ? nsrun_arena_strdup(&plan->arena, here) :
		    home ? home : "/";
		if (home && known)
			others[n++] = home;
		others[n++] = "/";
		plan->cwd_else = others;
	}
	if (!plan->cwd || bwrap_env_set(b, "PWD", plan->cwd) < 0 ||
	    bwrap_env_finish(b) < 0)
		return bwrap_nomem(b);
	return 0;
}

static int
set_process(struct bwrap *b)
{
	struct nsrun_plan *plan = b->plan;
	struct nsrun_process *process = &plan->process;

	process->keeps_signals = process->keeps_fds = true;
	process->free_caps = true;
	/*
	 * Who looks into the sandbox from outside finds it in pid 1. But its
	 * /proc/1/exe is our program, by the host's writable mount: the host's
	 * uid 0 inside could change its mode (compare CVE-2019-5736).
	 */
	process->open_init = !nsrun_identity_is_host_root();
	process->in_place = b->as_pid_1 || (!(b->unshare & CLONE_NEWPID) &&
	    !process->n_locks && b->sync_fd < 0);
	process->lingers = !process->in_place && !b->kill_on_exit;
	process->outlives = !b->die_with_parent;
	process->session = b->pty ? NSRUN_SESSION_OWN : b->new_session ?
	    NSRUN_SESSION_SHARED : NSRUN_SESSION_CALLER;
	process->waits = b->info_fd >= 0 || b->json_fd >= 0;
	process->names_command = !process->in_place &&
	    (b->forward_signals || b->extended);
	process->caps = b->added_caps;
	plan->supervision.thread_is_process = true;
	for (int i = 0; i < 3; i++)
		plan->stdio[i] = b->pty && isatty(i) ? NSRUN_STDIO_TERMINAL :
		    NSRUN_STDIO_INHERIT;
	if (b->argv0)
		process->file = b->command[0];
	if (nsrun_plan_set_argv(plan, b->command, &b->err) < 0)
		return bwrap_die_err(b);
	if (b->argv0)
		plan->argv[0] = (char *)(uintptr_t)b->argv0;
	return 0;
}

/* Descriptors by their final numbers: 0 to 2 move out of the way. */
static int
take_fds(struct bwrap *b)
{
	struct {
		const char *name;
		int *fd;
	} fds[] = {
		{ "info-fd", &b->info_fd },
		{ "userns-block-fd", &b->userns_block_fd },
		{ "json-status-fd", &b->json_fd },
	};

	for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
		if (*fds[i].fd >= 0 && bwrap_fd_take(b, fds[i].name,
		    fds[i].fd) < 0)
			return -1;
	if ((b->sync_fd >= 0 && fcntl(b->sync_fd, F_GETFD) < 0))
		return bwrap_die_errno(b, "--sync-fd %d", b->sync_fd);
	if ((b->block_fd >= 0 && fcntl(b->block_fd, F_GETFD) < 0))
		return bwrap_die_errno(b, "--block-fd %d", b->block_fd);
	b->plan->process.sync_fd = b->sync_fd;
	b->plan->process.block_fd = b->block_fd;
	return 0;
}

/*
 * The caller's terminal, if the command gets it: then nothing is typed into it.
 * A session of its own has no terminal, and the kernel refuses the rest.
 */
static int
guard_terminal(struct bwrap *b)
{
	bool terminal = isatty(0) || isatty(1) || isatty(2);
	int fd;

	if (b->new_session || b->pty)
		return 0;
	if (!terminal) {
		fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC |
		    O_NONBLOCK);
		terminal = fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	/* Ours first: a caller's may forbid the next. */
	if (terminal && nsrun_plan_put_filter(b->plan, &bwrap_tty_filter,
	    &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

/* Of several faults in a command line, bwrap names this one last. */
static int
check_filters(struct bwrap *b)
{
	for (size_t i = 0; i < b->plan->n_filters; i++)
		if (!b->plan->filters[i]->n_insns)
			return bwrap_die(b, "Invalid seccomp data, it is"
			    " empty");
	return 0;
}

int
bwrap_plan_finish(struct bwrap *b)
{
	/* What is implied does not count for what has to be said. */
	bool said = b->unshare_user;

	if (check_filters(b) < 0 ||
	    set_namespaces(b) < 0 || check_user(b, said) < 0 ||
	    check_process(b) < 0 || set_identity(b) < 0)
		return -1;
	set_mounts(b);
	if (take_fds(b) < 0 || set_cwd(b) < 0 || set_process(b) < 0 ||
	    guard_terminal(b) < 0)
		return -1;
	return nsrun_plan_check(b->plan, &b->err) < 0 ? bwrap_die_err(b) : 0;
}
