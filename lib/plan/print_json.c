/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan as one JSON object; nsrun-status(5) documents it. */
#include <string.h>

#include "base/json.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "policy/embedded.h"

static void
put_mount(struct nsrun_json *j, const struct nsrun_mount *m)
{
	nsrun_json_open(j, NULL, '{');
	nsrun_json_string(j, "kind", nsrun_mount_kind_name(m->kind));
	nsrun_json_string(j, "target", m->target);
	if (m->source)
		nsrun_json_string(j, "source", m->source);
	nsrun_json_bool(j, "readonly", m->flags & NSRUN_MOUNT_RDONLY ||
	    m->kind == NSRUN_MOUNT_COVER || m->kind == NSRUN_MOUNT_MASK);
	if (m->flags & NSRUN_MOUNT_NOEXEC)
		nsrun_json_bool(j, "noexec", true);
	if (m->flags & NSRUN_MOUNT_IDMAPPED)
		nsrun_json_bool(j, "idmapped", true);
	if (m->flags & NSRUN_MOUNT_GRANT)
		nsrun_json_bool(j, "granted", true);
	if (m->flags & NSRUN_MOUNT_PINNED) {
		nsrun_json_number(j, "dev", m->pin.dev);
		nsrun_json_number(j, "ino", m->pin.ino);
	}
	if (m->size_bytes) {
		nsrun_json_number(j, "size", m->size_bytes);
		nsrun_json_number(j, "inodes", m->n_inodes);
	}
	nsrun_json_close(j, '}');
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
	nsrun_json_bool(j, "root_kept", who->keeps_root);
	nsrun_json_open(j, "unenforced", '[');
	if (who->unlimited)
		nsrun_json_string(j, NULL, "processes");
	nsrun_json_close(j, ']');
	if (who->why_kept)
		nsrun_json_string(j, "why_root_kept", who->why_kept);
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
put_rest(struct nsrun_json *j, const struct nsrun_plan *plan)
{
	nsrun_json_open(j, "limits", '{');
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (plan->limits[i].set)
			nsrun_json_number(j, nsrun_limit_name(
			    (enum nsrun_limit_kind)i), plan->limits[i].value);
	nsrun_json_close(j, '}');
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
	nsrun_json_string(&j, "network", nsrun_plan_network(plan));
	nsrun_json_put_filters(&j, plan);
	nsrun_json_put_names(&j, "fallbacks", plan->fallbacks,
	    plan->n_fallbacks);
	nsrun_json_put_names(&j, "features", plan->features, plan->n_features);
	nsrun_json_open(&j, "mounts", '[');
	for (size_t i = 0; i < plan->mounts.n; i++)
		put_mount(&j, &plan->mounts.v[i]);
	nsrun_json_close(&j, ']');
	put_environment(&j, plan);
	nsrun_json_put_names(&j, "granted", plan->granted, plan->n_granted);
	put_rest(&j, plan);
	nsrun_json_close(&j, '}');
	putc('\n', out);
}
