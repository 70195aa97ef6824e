/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands in the log before a jail starts, a line a thing, in the words
 * that nsjail has for it: people grep for them.
 */
#include <linux/sched.h>
#include <string.h>
#include <unistd.h>

#include "nsjail.h"
#include "policy/embedded.h"

static const char *
yes_no(bool so)
{
	return so ? "true" : "false";
}

static const char *
process_name(const struct nsjail *n)
{
	const struct nsjail_exe *exe = n->config.exec_bin;

	return exe && exe->path ? exe->path : *n->command ? *n->command : "";
}

void
nsjail_tell_settings(const struct nsjail *n)
{
	static const char *const modes[] = {
		[NSJAIL_LISTEN]	= "LISTEN_TCP",
		[NSJAIL_ONCE]	= "STANDALONE_ONCE",
		[NSJAIL_RERUN]	= "STANDALONE_RERUN",
		[NSJAIL_EXECVE]	= "STANDALONE_EXECVE",
	};
	const struct nsjail_config *c = &n->config;
	char limit[NSJAIL_TIME_SIZE];

	nsjail_log(n, NSJAIL_INFO, NULL, "Mode: %s", modes[c->mode]);
	nsjail_log(n, NSJAIL_INFO, NULL, "Jail parameters: hostname:'%s',"
	    " chroot:'%s', process:'%s', bind:[%s]:%u, max_conns:%u,"
	    " max_conns_per_ip:%u, time_limit:%s, daemonize:%s,"
	    " clone_newnet:%s, clone_newuser:%s, clone_newns:%s,"
	    " clone_newpid:%s, clone_newipc:%s, clone_newuts:%s,"
	    " cgroupv2:%s, keep_caps:%s, disable_no_new_privs:%s, max_cpus:%u",
	    c->hostname, n->chroot ? n->chroot : "", process_name(n),
	    c->bindhost, c->port, c->max_conns, c->max_conns_per_ip,
	    nsjail_time_limit(n, limit), yes_no(c->daemon), yes_no(c->newnet),
	    yes_no(c->newuser), yes_no(c->newns), yes_no(c->newpid),
	    yes_no(c->newipc), yes_no(c->newuts), yes_no(c->use_cgroupv2),
	    yes_no(c->keep_caps), yes_no(c->disable_no_new_privs),
	    c->max_cpus);
	if (c->no_pivotroot)
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("initNs"),
		    "no_pivotroot: pivot_root is used all the same, a chroot"
		    " alone can be left");
}

/* "MS_RDONLY|MS_NOSUID": mount(2)'s names. */
static void
name_flags(const struct nsrun_mount *m, char *out, size_t size)
{
	const struct {
		bool so;
		const char *name;
	} all[] = {
		{ m->flags & NSRUN_MOUNT_RDONLY, "MS_RDONLY" },
		{ !(m->flags & NSRUN_MOUNT_SUID), "MS_NOSUID" },
		{ !(m->flags & NSRUN_MOUNT_DEVICES), "MS_NODEV" },
		{ m->flags & NSRUN_MOUNT_NOEXEC, "MS_NOEXEC" },
		{ m->kind == NSRUN_MOUNT_BIND, "MS_BIND" },
		{ m->flags & NSRUN_MOUNT_RECURSIVE, "MS_REC" },
	};

	*out = '\0';
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].so) {
			if (*out)
				strncat(out, "|", size - strlen(out) - 1);
			strncat(out, all[i].name, size - strlen(out) - 1);
		}
}

static void
tell_mount(const struct nsjail *n, const struct nsrun_mount *m)
{
	bool is_file = m->kind == NSRUN_MOUNT_DATA ||
	    m->kind == NSRUN_MOUNT_FILE || S_ISREG(m->type);
	const char *type = m->kind == NSRUN_MOUNT_ROOT ? "tmpfs" :
	    m->kind == NSRUN_MOUNT_PROC ? "proc" :
	    m->kind == NSRUN_MOUNT_FS ? m->fstype : "";
	char flags[80];

	if (m->kind == NSRUN_MOUNT_SYMLINK) {
		nsjail_log(n, NSJAIL_INFO, NULL, "Mount: '%s' -> '%s'"
		    " symlink:true", m->source, m->target);
		return;
	}
	name_flags(m, flags, sizeof flags);
	nsjail_log(n, NSJAIL_INFO, NULL, "Mount: %s%s%s'%s' flags:%s type:'%s'"
	    " dir:%s%s", m->source ? "'" : "", m->source ? m->source : "",
	    m->source ? "' -> " : "", m->target, flags, type, yes_no(!is_file),
	    m->flags & NSRUN_MOUNT_LENIENT ? " mandatory:false" : "");
}

static void
tell_ids(const struct nsjail *n, const struct nsrun_identity *who,
    const struct nsrun_idmap *map, bool user)
{
	const struct nsjail_list *list = user ? &n->uids : &n->gids;
	const struct nsjail_idmap *given = list->v;
	const char *kind = user ? "uid" : "gid";
	bool root = !map->n && !(user ? who->uid : who->gid);

	for (size_t i = 0; i < map->n; i++) {
		nsjail_log(n, NSJAIL_INFO, NULL, "%s map: inside_%s:%u"
		    " outside_%s:%u count:%u new%smap:%s", user ? "Uid" : "Gid",
		    kind, map->v[i].inside, kind, map->v[i].outside,
		    map->v[i].count, kind, yes_no(i < list->n &&
		    given[i].newidmap));
		root |= !map->v[i].outside;
	}
	/* Only root can be that. */
	if (root && geteuid() == 0)
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("main"), user ?
		    "The command is uid 0 outside too, and has root's access"
		    " to files; -u maps it to another" :
		    "The command is gid 0 outside too, and has its access to"
		    " files; -g maps it to another");
}

/* For -v alone: the rest of the plan. */
static void
tell_details(const struct nsjail *n, const struct nsrun_plan *plan)
{
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (plan->namespaces & nsrun_namespaces[i].flag)
			nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("runChild"),
			    "new namespace: %s", nsrun_namespaces[i].name);
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (plan->limits[i].set)
			nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("setLimits"),
			    "%s: %llu",
			    nsrun_limit_name((enum nsrun_limit_kind)i),
			    (unsigned long long)plan->limits[i].value);
	for (size_t i = 0; i < plan->n_filters; i++)
		nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("applyPolicy"),
		    "a filter of %zu instructions",
		    (size_t)plan->filters[i]->n_insns);
	for (size_t i = 0; i < plan->n_env; i++)
		nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("newProc"),
		    "Environment: %.*s", (int)strcspn(plan->env[i], "="),
		    plan->env[i]);
	for (size_t i = 0; i < plan->n_argv; i++)
		nsjail_log(n, NSJAIL_DEBUG, NSJAIL_WHERE("newProc"),
		    "Exec: '%s', argument %zu: '%s'", plan->process.file, i,
		    plan->argv[i]);
}

void
nsjail_tell_plan(const struct nsjail *n, const struct nsrun_plan *plan)
{
	const struct nsrun_identity *who = &plan->identity;

	for (size_t i = 0; i < plan->mounts.n; i++)
		tell_mount(n, &plan->mounts.v[i]);
	tell_ids(n, who, &plan->uid_map, true);
	tell_ids(n, who, &plan->gid_map, false);
	tell_details(n, plan);
}
