/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan as one JSON object; nsrun-status(5) documents it. */
#include <string.h>

#include "base/json.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "policy/embedded.h"

static void
put_true(struct nsrun_json *j, const char *name, bool so)
{
	if (so)
		nsrun_json_bool(j, name, true);
}

static void
put_fd(struct nsrun_json *j, const char *name, int fd)
{
	if (fd >= 0)
		nsrun_json_number(j, name, (uint64_t)fd);
}

/* What a profile does not say of a mount. */
static void
put_mount_more(struct nsrun_json *j, const struct nsrun_mount *m)
{
	size_t n = 0;

	put_true(j, "recursive", m->flags & NSRUN_MOUNT_RECURSIVE);
	put_true(j, "devices", m->flags & NSRUN_MOUNT_DEVICES);
	put_true(j, "optional", m->flags & NSRUN_MOUNT_OPTIONAL);
	put_true(j, "no_link", m->flags & NSRUN_MOUNT_NOLINK);
	put_true(j, "replace", m->flags & NSRUN_MOUNT_REPLACE);
	put_true(j, "suid", m->flags & NSRUN_MOUNT_SUID);
	put_true(j, "late", m->flags & NSRUN_MOUNT_LATE);
	put_true(j, "lenient", m->flags & NSRUN_MOUNT_LENIENT);
	if (m->fstype)
		nsrun_json_string(j, "type", m->fstype);
	while (m->options && m->options[n])
		n++;
	if (n)
		nsrun_json_put_names(j, "options", m->options, n);
	if (m->mode)
		nsrun_json_number(j, "mode", m->mode & 07777);
	if (m->parent_mode)
		nsrun_json_number(j, "parent_mode", m->parent_mode);
	if (m->data)
		nsrun_json_number(j, "bytes", m->n_data);
	if (m->work)
		nsrun_json_string(j, "work", m->work);
}

/* A list that ends in NULL; NULL: none. */
static void
put_list(struct nsrun_json *j, const char *name, const char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	if (n)
		nsrun_json_put_names(j, name, v, n);
}

static void
put_mount(struct nsrun_json *j, const struct nsrun_plan *plan,
    const struct nsrun_mount *m)
{
	nsrun_json_open(j, NULL, '{');
	nsrun_json_string(j, "kind", nsrun_mount_kind_name(m->kind));
	nsrun_json_string(j, "target", m->target);
	if (m->source && m->kind != NSRUN_MOUNT_COVER)
		nsrun_json_string(j, "source", m->source);
	nsrun_json_bool(j, "readonly", m->flags & NSRUN_MOUNT_RDONLY ||
	    m->kind == NSRUN_MOUNT_COVER || m->kind == NSRUN_MOUNT_MASK ||
	    m->kind == NSRUN_MOUNT_HIDE || m->kind == NSRUN_MOUNT_ABSENT);
	if (m->flags & NSRUN_MOUNT_NOEXEC)
		nsrun_json_bool(j, "noexec", true);
	if (m->flags & NSRUN_MOUNT_IDMAPPED)
		nsrun_json_bool(j, "idmapped", true);
	if (m->flags & NSRUN_MOUNT_GRANT)
		nsrun_json_bool(j, "granted", true);
	if (m->shields)
		nsrun_json_string(j, "hazard", nsrun_hazard_name(m->shields));
	if (m->flags & NSRUN_MOUNT_PINNED) {
		nsrun_json_number(j, "dev", m->pin.dev);
		nsrun_json_number(j, "ino", m->pin.ino);
	}
	if (m->size_bytes) {
		nsrun_json_number(j, "size", m->size_bytes);
		if (plan->profile || m->n_inodes)
			nsrun_json_number(j, "inodes", m->n_inodes);
	}
	put_list(j, "layers", m->layers);
	put_list(j, "hidden", m->hidden);
	if (!plan->profile)
		put_mount_more(j, m);
	nsrun_json_close(j, '}');
}

static void
put_map(struct nsrun_json *j, const char *name, const struct nsrun_idmap *map)
{
	nsrun_json_open(j, name, '[');
	for (size_t i = 0; i < map->n; i++) {
		nsrun_json_open(j, NULL, '{');
		nsrun_json_number(j, "inside", map->v[i].inside);
		nsrun_json_number(j, "outside", map->v[i].outside);
		nsrun_json_number(j, "count", map->v[i].count);
		nsrun_json_close(j, '}');
	}
	nsrun_json_close(j, ']');
}

static void
put_identity(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	const struct nsrun_identity *who = &plan->identity;

	nsrun_json_open(j, "identity", '{');
	nsrun_json_number(j, "uid", who->uid);
	nsrun_json_number(j, "gid", who->gid);
	nsrun_json_number(j, "host_uid", who->host_uid);
	nsrun_json_number(j, "host_gid", who->host_gid);
	if (who->key)
		nsrun_json_string(j, "key", who->key);
	nsrun_json_bool(j, "root_kept", who->keeps_root);
	nsrun_json_open(j, "unenforced", '[');
	if (who->unlimited)
		nsrun_json_string(j, NULL, "processes");
	nsrun_json_close(j, ']');
	if (who->why_kept)
		nsrun_json_string(j, "why_root_kept", who->why_kept);
	put_true(j, "sets_ids", who->sets_ids);
	put_true(j, "no_more_userns", who->no_more_userns);
	put_true(j, "checks_userns", who->check_no_userns);
	put_true(j, "asks_for_maps", who->asks_for_maps);
	put_true(j, "finds_maps", who->finds_maps);
	if (!plan->profile) {
		put_true(j, "locked", who->lock_namespaces);
		put_map(j, "uid_map", &plan->uid_map);
		put_map(j, "gid_map", &plan->gid_map);
	}
	nsrun_json_close(j, '}');
}

static void
put_join(struct nsrun_json *j, const struct nsrun_join *join)
{
	if (join->user < 0 && join->second_user < 0 && join->pid < 0 &&
	    join->net < 0)
		return;
	nsrun_json_open(j, "join", '{');
	put_fd(j, "user", join->user);
	put_fd(j, "second_user", join->second_user);
	put_fd(j, "pid", join->pid);
	put_fd(j, "net", join->net);
	nsrun_json_close(j, '}');
}

static void
put_process(struct nsrun_json *j, const struct nsrun_process *p)
{
	nsrun_json_open(j, "process", '{');
	put_true(j, "in_place", p->in_place);
	put_true(j, "waits", p->waits);
	put_true(j, "lingers", p->lingers);
	put_true(j, "outlives", p->outlives);
	put_true(j, "keeps_signals", p->keeps_signals);
	put_true(j, "keeps_fds", p->keeps_fds);
	put_true(j, "open_init", p->open_init);
	put_true(j, "free_caps", p->free_caps);
	put_true(j, "names_command", p->names_command);
	put_true(j, "spares_init", p->spares_init);
	nsrun_json_string(j, "session", nsrun_sid_name(p->session));
	nsrun_json_number(j, "caps", p->caps);
	put_true(j, "literal", p->literal);
	put_true(j, "new_privs", p->new_privs);
	put_true(j, "log_filters", p->log_filters);
	put_true(j, "no_tsc", p->no_tsc);
	put_true(j, "core_group", p->core_group);
	if (p->max_cpus)
		nsrun_json_number(j, "max_cpus", p->max_cpus);
	if (p->personality)
		nsrun_json_number(j, "personality", p->personality);
	put_fd(j, "exec_fd", p->exec_fd);
	put_fd(j, "block_fd", p->block_fd);
	put_fd(j, "sync_fd", p->sync_fd);
	nsrun_json_put_names(j, "locks", p->locks, p->n_locks);
	nsrun_json_number(j, "consumed", p->n_consumed);
	if (p->file)
		nsrun_json_string(j, "file", p->file);
	nsrun_json_close(j, '}');
}

void
nsrun_json_put_filters(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	nsrun_json_open(j, "filters", '[');
	for (size_t i = 0; i < plan->n_filters; i++) {
		nsrun_json_open(j, NULL, '{');
		nsrun_json_string(j, "name", plan->filters[i]->name);
		nsrun_json_string(j, "variant", plan->filters[i]->variant);
		nsrun_json_string(j, "sha256", plan->filters[i]->sha256);
		/* A face's own has no hash. */
		if (!*plan->filters[i]->sha256)
			nsrun_json_number(j, "instructions",
			    plan->filters[i]->n_insns);
		nsrun_json_close(j, '}');
	}
	nsrun_json_close(j, ']');
}

/* Names only: a value may be a secret. */
static void
put_environment(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	char name[256];

	nsrun_json_open(j, "environment", '[');
	for (size_t i = 0; i < plan->n_env; i++) {
		size_t n = strcspn(plan->env[i], "=");

		if (n >= sizeof name)
			n = sizeof name - 1;
		memcpy(name, plan->env[i], n);
		name[n] = '\0';
		nsrun_json_string(j, NULL, name);
	}
	nsrun_json_close(j, ']');
}

static void
put_cgroup(struct nsrun_json *j, const struct nsrun_cgroup_plan *cgroup)
{
	nsrun_json_open(j, "cgroup", '{');
	nsrun_json_string(j, "use", nsrun_cgroup_use_name(cgroup->use));
	nsrun_json_string(j, "parent", cgroup->parent);
	nsrun_json_open(j, "settings", '[');
	for (size_t i = 0; i < cgroup->n_settings; i++) {
		nsrun_json_open(j, NULL, '{');
		nsrun_json_string(j, "file", cgroup->settings[i].file);
		nsrun_json_string(j, "value", cgroup->settings[i].value);
		nsrun_json_close(j, '}');
	}
	nsrun_json_close(j, ']');
	nsrun_json_close(j, '}');
}

static void
put_rest(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	size_t n = 0;

	nsrun_json_open(j, "limits", '{');
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (plan->limits[i].set)
			nsrun_json_number(j, nsrun_limit_name(
			    (enum nsrun_limit_kind)i), plan->limits[i].value);
	nsrun_json_close(j, '}');
	put_cgroup(j, &plan->cgroup);
	nsrun_json_open(j, "sysctls", '{');
	for (size_t i = 0; i < plan->n_sysctls; i++)
		nsrun_json_string(j, plan->sysctls[i].path,
		    plan->sysctls[i].value);
	nsrun_json_close(j, '}');
	nsrun_json_open(j, "stdio", '[');
	for (int i = 0; i < 3; i++)
		nsrun_json_string(j, NULL, nsrun_stdio_name(plan->stdio[i]));
	nsrun_json_close(j, ']');
	nsrun_json_string(j, "cwd", plan->cwd);
	while (plan->cwd_else && plan->cwd_else[n])
		n++;
	if (n)
		nsrun_json_put_names(j, "cwd_else", plan->cwd_else, n);
	nsrun_json_open(j, "command", '[');
	for (size_t i = 0; i < plan->n_argv; i++)
		nsrun_json_string(j, NULL, plan->argv[i]);
	nsrun_json_close(j, ']');
	nsrun_json_number(j, "timeout_ms", plan->supervision.timeout_ms);
	nsrun_json_number(j, "max_output",
	    plan->supervision.max_output_bytes);
}

void
nsrun_json_put_names(struct nsrun_json *j, const char *name,
    const char *const *v, size_t n)
{
	nsrun_json_open(j, name, '[');
	for (size_t i = 0; i < n; i++)
		nsrun_json_string(j, NULL, v[i]);
	nsrun_json_close(j, ']');
}

void
nsrun_json_put_shields(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	nsrun_json_open(j, "shields", '[');
	for (size_t i = 0; i < plan->mounts.n; i++) {
		const struct nsrun_mount *m = &plan->mounts.v[i];

		if (!m->shields)
			continue;
		nsrun_json_open(j, NULL, '{');
		nsrun_json_string(j, "hazard", nsrun_hazard_name(m->shields));
		nsrun_json_string(j, "path", m->target);
		nsrun_json_close(j, '}');
	}
	nsrun_json_close(j, ']');
}

void
nsrun_print_json(FILE *out, const struct nsrun_plan *plan)
{
	struct nsrun_json j = { .out = out };

	nsrun_json_open(&j, NULL, '{');
	nsrun_json_number(&j, "v", 1);
	nsrun_json_string(&j, "profile", plan->profile);
	nsrun_json_string(&j, "boundary", nsrun_boundary_name(plan->boundary));
	if (plan->server)
		nsrun_json_string(&j, "server", plan->server);
	put_identity(&j, plan);
	nsrun_json_open(&j, "namespaces", '[');
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (plan->namespaces & nsrun_namespaces[i].flag)
			nsrun_json_string(&j, NULL, nsrun_namespaces[i].name);
	nsrun_json_close(&j, ']');
	put_join(&j, &plan->join);
	if (!plan->profile)
		put_process(&j, &plan->process);
	nsrun_json_string(&j, "network", nsrun_plan_network(plan));
	put_true(&j, "nesting", plan->nesting);
	if (plan->hostname && !plan->profile)
		nsrun_json_string(&j, "hostname", plan->hostname);
	nsrun_json_put_filters(&j, plan);
	nsrun_json_put_names(&j, "fallbacks", plan->fallbacks,
	    plan->n_fallbacks);
	nsrun_json_put_names(&j, "features", plan->features, plan->n_features);
	put_true(&j, "writes_host", plan->mounts.writes_host);
	nsrun_json_open(&j, "mounts", '[');
	for (size_t i = 0; i < plan->mounts.n; i++)
		put_mount(&j, plan, &plan->mounts.v[i]);
	nsrun_json_close(&j, ']');
	nsrun_json_put_shields(&j, plan);
	put_environment(&j, plan);
	nsrun_json_put_names(&j, "granted", plan->granted, plan->n_granted);
	put_rest(&j, plan);
	nsrun_json_close(&j, '}');
	putc('\n', out);
}
