/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only gate between a plan and apply: what passes, apply need not doubt. */
#include "plan/check.h"

#include <linux/sched.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "plan/plan.h"

static int
broken(struct nsrun_err *err, const char *rule, const char *subject)
{
	return nsrun_err_rule(err, NSRUN_STEP_PLAN, rule, subject, NULL);
}

static int
check_bind(const struct nsrun_plan *plan, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	if (!m->source || (plan->profile && !nsrun_path_is_clean(m->source)))
		return broken(err, "the source is not a clean absolute path",
		    m->source);
	if (m->flags & NSRUN_MOUNT_IDMAPPED &&
	    (!(m->flags & NSRUN_MOUNT_PINNED) || !plan->identity.clones_trees))
		return broken(err, "an idmapped bind needs a pinned source and"
		    " a caller that leaves uid 0", m->source);
	/*
	 * A tree that is written is never taken with what is mounted on it,
	 * unless the caller named each mount himself.
	 */
	if (!(m->flags & NSRUN_MOUNT_RDONLY) &&
	    m->flags & NSRUN_MOUNT_RECURSIVE && plan->profile)
		return broken(err, "a writable bind is not recursive",
		    m->source);
	if (m->flags & NSRUN_MOUNT_PINNED && plan->profile &&
	    !S_ISDIR(m->pin.type) && !S_ISREG(m->pin.type))
		return broken(err, "a pinned source is a directory or a file",
		    m->source);
	return 0;
}

/* Written back into place by a profile; resolved by the kernel in any case. */
static bool
is_target(const struct nsrun_plan *plan, const char *target)
{
	return target && *target == '/' &&
	    (!plan->profile || nsrun_path_is_clean(target));
}

static bool
is_clean_below(const char *path)
{
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 0 || n > 255 || (*path == '.' && (n == 1 ||
		    (n == 2 && path[1] == '.'))))
			return false;
		if (!path[n])
			return true;
		path += n + 1;
	}
}

static int
check_overlay(const struct nsrun_mount *m, struct nsrun_err *err)
{
	size_t n = 0;

	while (m->layers && m->layers[n])
		n++;
	if (n < (m->flags & NSRUN_MOUNT_RDONLY ? 2 : 1))
		return broken(err, "an overlay without enough layers",
		    m->target);
	if (m->work && !m->source)
		return broken(err, "an overlay's upper layer and its work"
		    " directory go together", m->target);
	if (m->flags & NSRUN_MOUNT_PINNED && (n != 1 ||
	    !S_ISDIR(m->pin.type)))
		return broken(err, "an overlay's pin is its one layer",
		    m->target);
	if (m->flags & NSRUN_MOUNT_MADE && (m->flags & NSRUN_MOUNT_PINNED ||
	    m->hidden || m->pin.fd < 0))
		return broken(err, "an overlay that is made is one descriptor",
		    m->target);
	if (m->hidden && n != 1)
		return broken(err, "an overlay hides what is in its one layer",
		    m->target);
	for (const char *const *h = m->hidden; h && *h; h++)
		if (!is_clean_below(*h))
			return broken(err, "a hidden name is no clean relative"
			    " path", *h);
	return 0;
}

static int
check_mount(const struct nsrun_plan *plan, size_t i, struct nsrun_err *err)
{
	const struct nsrun_mount *m = &plan->mounts.v[i];

	if ((m->kind == NSRUN_MOUNT_ROOT) != (i == 0))
		return broken(err, "the root is the first mount, once",
		    m->target);
	if (!is_target(plan, m->target))
		return broken(err, "the target is not a clean absolute path",
		    m->target);
	if (m->mode & ~(mode_t)(S_IFMT | 07777) || m->parent_mode > 07777)
		return broken(err, "the mode is out of range", m->target);
	if ((m->kind == NSRUN_MOUNT_ROOT || m->kind == NSRUN_MOUNT_TMPFS) &&
	    plan->profile && (!m->size_bytes || !m->n_inodes))
		return broken(err, "a tmpfs without a bound", m->target);
	if (m->kind == NSRUN_MOUNT_SYMLINK && !m->source)
		return broken(err, "a symbolic link without text", m->target);
	if (m->kind == NSRUN_MOUNT_PIN && (!m->source ||
	    !nsrun_path_is_within(m->target, m->source) ||
	    !strcmp(m->target, m->source)))
		return broken(err, "a pin is beneath its root", m->target);
	if (m->kind == NSRUN_MOUNT_ABSENT && !strcmp(m->target, "/"))
		return broken(err, "a name that is to be absent", m->target);
	if (m->kind == NSRUN_MOUNT_FILE && plan->mounts.leaves_nothing)
		return broken(err, "a file would stay on the host", m->target);
	if (m->kind == NSRUN_MOUNT_FS && !m->fstype)
		return broken(err, "a file system without a type", m->target);
	if (plan->profile && (m->kind == NSRUN_MOUNT_FS || m->flags &
	    (NSRUN_MOUNT_SUID | NSRUN_MOUNT_LATE | NSRUN_MOUNT_LENIENT)))
		return broken(err, "a profile's mounts have no such freedom",
		    m->target);
	if (m->flags & NSRUN_MOUNT_LATE && plan->identity.clones_trees)
		return broken(err, "what was cloned before cannot be late",
		    m->target);
	if (m->kind == NSRUN_MOUNT_BIND)
		return check_bind(plan, m, err);
	if (m->kind == NSRUN_MOUNT_OVERLAY)
		return check_overlay(m, err);
	return 0;
}

static int
check_returns(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	if (plan->n_returns > NSRUN_RETURNS_MAX)
		return broken(err, "more files are handed back than can be",
		    NULL);
	for (size_t i = 0; i < plan->n_returns; i++)
		if (!nsrun_path_is_clean(plan->returns[i].path) ||
		    !nsrun_path_is_clean(plan->returns[i].host))
			return broken(err, "what is handed back has no clean"
			    " path", plan->returns[i].path);
	if (plan->n_returns && plan->process.in_place)
		return broken(err, "nobody is left to hand something back",
		    plan->returns[0].path);
	return 0;
}

static int
check_mounts(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	bool has_proc = false;

	if (!(plan->namespaces & CLONE_NEWNS))
		return plan->mounts.n ? broken(err, "mounts need a mount"
		    " namespace", plan->mounts.v[0].target) : 0;
	if (plan->chroot_dir)
		return broken(err, "chroot where pivot_root does it",
		    plan->chroot_dir);
	if (plan->mounts.n == 0 || plan->mounts.n > NSRUN_MOUNTS_MAX)
		return broken(err, plan->mounts.n ? "too many mounts" :
		    "no mounts", NULL);
	for (size_t i = 0; i < plan->mounts.n; i++) {
		if (check_mount(plan, i, err) < 0)
			return -1;
		has_proc |= plan->mounts.v[i].kind == NSRUN_MOUNT_PROC;
	}
	if (has_proc && !(plan->namespaces & CLONE_NEWPID) &&
	    plan->join.pid < 0)
		return broken(err, "a procfs needs a pid namespace", "/proc");
	if (plan->n_sysctls && !has_proc)
		return broken(err, "namespace settings need a procfs", "/proc");
	return 0;
}

static int
check_idmap(const struct nsrun_identity *who, const struct nsrun_idmap *map,
    uint32_t inside, uint32_t outside, struct nsrun_err *err)
{
	/* A key's has the caller's own beside it. */
	if (map->n != (who->asks_for_maps ? 2 : 1) || map->v[0].count != 1 ||
	    map->v[map->n - 1].count != 1)
		return broken(err, "an id map is one line of one id", NULL);
	if (map->v[0].inside != inside || map->v[0].outside != outside)
		return broken(err, "the id map is not the identity's", NULL);
	return 0;
}

static int
check_identity(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	const struct nsrun_identity *who = &plan->identity;
	uint64_t all = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID;

	if (plan->profile && (plan->namespaces & all) != all)
		return broken(err, "a sandbox has user, mount and pid"
		    " namespaces of its own", NULL);
	if (who->sets_groups && plan->namespaces & CLONE_NEWUSER &&
	    !who->asks_for_maps)
		return broken(err, "groups cannot be set where we write the"
		    " map ourselves", NULL);
	if (plan->nesting && (who->host_uid == 0 ||
	    !(plan->namespaces & CLONE_NEWNET)))
		return broken(err, "nesting needs a host uid other than 0 and a"
		    " network namespace", NULL);
	if (who->leaves_root && (!who->host_uid || !who->host_gid))
		return broken(err, "leaving uid 0 for uid 0", NULL);
	if (!(plan->namespaces & CLONE_NEWUSER) || who->finds_maps) {
		if (plan->uid_map.n || plan->gid_map.n || who->lock_namespaces)
			return broken(err, "id maps without a user namespace"
			    " of our own", NULL);
		return 0;
	}
	/* A face's own: the kernel has the last word. */
	if (!plan->profile)
		return 0;
	if (check_idmap(who, &plan->uid_map, who->lock_namespaces ? 0 :
	    who->uid, who->host_uid, err) < 0)
		return -1;
	return check_idmap(who, &plan->gid_map, who->lock_namespaces ? 0 :
	    who->gid, who->host_gid, err);
}

static int
check_process(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	const struct nsrun_process *process = &plan->process;

	if (plan->profile && (process->lingers || process->keeps_fds ||
	    process->caps || process->session == NSRUN_SESSION_CALLER ||
	    process->literal || process->new_privs || process->personality ||
	    process->spares_init || process->exec_fd >= 0))
		return broken(err, "a profile keeps nothing of the caller's",
		    NULL);
	if (process->n_locks > NSRUN_LOCKS_MAX)
		return broken(err, "too many lock files",
		    process->locks[NSRUN_LOCKS_MAX]);
	if (process->new_privs && plan->n_filters)
		return broken(err, "filters need no_new_privs", NULL);
	if (!process->in_place)
		return 0;
	if (process->n_locks || process->lingers)
		return broken(err, "locks and what is left behind need a pid 1"
		    " of ours", NULL);
	/* A pipe ends when its writers do: with pid 1, in its namespace. */
	for (int i = 0; i < 3; i++)
		if (plan->stdio[i] != NSRUN_STDIO_INHERIT &&
		    (plan->profile || plan->stdio[i] != NSRUN_STDIO_RELAY ||
		    !(plan->namespaces & CLONE_NEWPID)))
			return broken(err, "a relay needs a pid 1 of ours, or"
			    " a pid namespace", NULL);
	return 0;
}

/* A face that sets it and does not watch would be believed. */
static int
check_budget(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	bool set = plan->limits[NSRUN_LIMIT_WRITE].set ||
	    plan->limits[NSRUN_LIMIT_INODES].set;

	if (set != plan->supervision.watches_writes)
		return broken(err, "a limit of writes goes with a watcher",
		    NULL);
	if (set && !(plan->namespaces & CLONE_NEWPID &&
	    plan->namespaces & CLONE_NEWUSER))
		return broken(err, "a limit of writes needs user and pid"
		    " namespaces of its own", NULL);
	return 0;
}

static int
check_cgroup(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	const struct nsrun_cgroup_plan *cgroup = &plan->cgroup;

	if (cgroup->use == NSRUN_CGROUP_OFF)
		return cgroup->n_settings || cgroup->parent ? broken(err,
		    "is for a cgroup, and there is to be none",
		    cgroup->n_settings ? cgroup->settings[0].file :
		    cgroup->parent) : 0;
	if (cgroup->parent && *cgroup->parent != '/')
		return broken(err, "is not an absolute path", cgroup->parent);
	/* It is emptied when we are done with it. */
	if (plan->process.lingers || plan->process.outlives)
		return broken(err, "what outlives us can have no cgroup of"
		    " ours", NULL);
	for (size_t i = 0; i < cgroup->n_settings; i++)
		if (strchr(cgroup->settings[i].file, '/'))
			return broken(err, "is no file of a cgroup",
			    cgroup->settings[i].file);
	return 0;
}

int
nsrun_plan_check(const struct nsrun_plan *plan, struct nsrun_err *err)
{
	if (check_identity(plan, err) < 0 || check_mounts(plan, err) < 0 ||
	    check_process(plan, err) < 0 || check_cgroup(plan, err) < 0 ||
	    check_budget(plan, err) < 0 || check_returns(plan, err) < 0)
		return -1;
	if (plan->loopback && !(plan->namespaces & CLONE_NEWNET))
		return broken(err, "loopback is brought up only in a network"
		    " namespace of our own", NULL);
	if (plan->profile && plan->network != NSRUN_NETWORK_DENIED &&
	    !(plan->namespaces & CLONE_NEWNET))
		return broken(err, "sockets need a network namespace of our"
		    " own", NULL);
	if (plan->hostname && !(plan->namespaces & CLONE_NEWUTS))
		return broken(err, "a host name needs a uts namespace",
		    plan->hostname);
	if (plan->hostname && strlen(plan->hostname) > 64)
		return broken(err, "is longer than a host name can be, 64"
		    " bytes", plan->hostname);
	if (plan->supervision.max_output_bytes &&
	    (plan->stdio[1] == NSRUN_STDIO_INHERIT ||
	    plan->stdio[2] == NSRUN_STDIO_INHERIT))
		return broken(err, "an output cap needs captured output", NULL);
	if (!plan->cwd || (plan->profile && !nsrun_path_is_clean(plan->cwd)))
		return broken(err, "the working directory is not a clean"
		    " absolute path", plan->cwd);
	if (!plan->n_argv || (plan->profile && !*plan->argv[0]))
		return broken(err, "no command", NULL);
	return 0;
}
