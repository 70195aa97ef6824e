/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan.h"

#include <string.h>

#include "base/err.h"
#include "base/fd.h"

void
nsrun_plan_init(struct nsrun_plan *plan)
{
	*plan = (struct nsrun_plan){
		.arena = NSRUN_ARENA_INIT,
		.join = { -1, -1, -1, -1 },
		.process = { .block_fd = -1, .sync_fd = -1, .exec_fd = -1 },
	};
}

void
nsrun_plan_deinit(struct nsrun_plan *plan)
{
	for (size_t i = 0; i < plan->mounts.n; i++)
		nsrun_fd_close(&plan->mounts.v[i].pin.fd);
	nsrun_arena_deinit(&plan->arena);
	nsrun_plan_init(plan);
}

/* Make room for entry n of the array at *v and return it, zeroed. */
static void *
append(struct nsrun_plan *plan, void *array, size_t n, size_t size)
{
	void **v = array;
	void *grown = nsrun_arena_grow(&plan->arena, *v, n, size);

	if (!grown)
		return NULL;
	*v = grown;
	return memset((char *)grown + n * size, 0, size);
}

/* NULL stays NULL; false: no memory. */
static bool
copy_string(struct nsrun_plan *plan, const char **s)
{
	if (*s)
		*s = nsrun_arena_strdup(&plan->arena, *s);
	return *s;
}

int
nsrun_plan_add_mount(struct nsrun_plan *plan, const struct nsrun_mount *m,
    struct nsrun_err *err)
{
	struct nsrun_mounts *mounts = &plan->mounts;
	struct nsrun_mount *copy = append(plan, &mounts->v, mounts->n,
	    sizeof *m);
	struct nsrun_mount new = *m;

	/* Only a pinned source is kept open, and what is made already. */
	if (!(new.flags & (NSRUN_MOUNT_PINNED | NSRUN_MOUNT_MADE)))
		new.pin.fd = -1;
	if (!copy || (new.source && !copy_string(plan, &new.source)) ||
	    !copy_string(plan, &new.target) || (new.data &&
	    !(new.data = nsrun_arena_dup(&plan->arena, m->data, m->n_data))) ||
	    (new.work && !copy_string(plan, &new.work)))
		return nsrun_err_nomem(err, m->target);
	*copy = new;
	mounts->n++;
	return 0;
}

int
nsrun_plan_add_sysctl(struct nsrun_plan *plan, const char *path,
    const char *value, struct nsrun_err *err)
{
	struct nsrun_sysctl *s = append(plan, &plan->sysctls, plan->n_sysctls,
	    sizeof *s);

	if (!s || !copy_string(plan, &path) || !copy_string(plan, &value))
		return nsrun_err_nomem(err, path);
	*s = (struct nsrun_sysctl){ path, value };
	plan->n_sysctls++;
	return 0;
}

int
nsrun_plan_add_cgroup(struct nsrun_plan *plan,
    const struct nsrun_cgroup_setting *setting, struct nsrun_err *err)
{
	struct nsrun_cgroup_plan *c = &plan->cgroup;
	struct nsrun_cgroup_setting *s = append(plan, &c->settings,
	    c->n_settings, sizeof *s);
	struct nsrun_cgroup_setting new = *setting;

	if (!s || !copy_string(plan, &new.file) ||
	    !copy_string(plan, &new.value))
		return nsrun_err_nomem(err, setting->file);
	*s = new;
	c->n_settings++;
	return 0;
}

int
nsrun_plan_add_filter(struct nsrun_plan *plan,
    const struct nsrun_filter *filter, struct nsrun_err *err)
{
	const struct nsrun_filter **f = append(plan, &plan->filters,
	    plan->n_filters, sizeof *f);

	if (!f)
		return nsrun_err_nomem(err, "filter");
	*f = filter;
	plan->n_filters++;
	return 0;
}

int
nsrun_plan_put_filter(struct nsrun_plan *plan,
    const struct nsrun_filter *filter, struct nsrun_err *err)
{
	if (nsrun_plan_add_filter(plan, filter, err) < 0)
		return -1;
	memmove(plan->filters + 1, plan->filters,
	    (plan->n_filters - 1) * sizeof *plan->filters);
	plan->filters[0] = filter;
	return 0;
}

int
nsrun_plan_add_consumed(struct nsrun_plan *plan, int fd, struct nsrun_err *err)
{
	struct nsrun_process *process = &plan->process;
	int *slot = append(plan, &process->consumed, process->n_consumed,
	    sizeof *slot);

	if (!slot)
		return nsrun_err_nomem(err, "descriptors");
	*slot = fd;
	process->n_consumed++;
	return 0;
}

int
nsrun_plan_add_return(struct nsrun_plan *plan, struct nsrun_return back,
    struct nsrun_err *err)
{
	struct nsrun_return *slot = append(plan, &plan->returns,
	    plan->n_returns, sizeof *slot);

	if (!slot)
		return nsrun_err_nomem(err, back.path);
	*slot = back;
	plan->n_returns++;
	return 0;
}

static int
add_name(struct nsrun_plan *plan, const char ***v, size_t *n, const char *name,
    struct nsrun_err *err)
{
	const char **slot = append(plan, v, *n, sizeof *slot);

	if (!slot || !copy_string(plan, &name))
		return nsrun_err_nomem(err, name);
	*slot = name;
	(*n)++;
	return 0;
}

int
nsrun_plan_add_fallback(struct nsrun_plan *plan, const char *name,
    struct nsrun_err *err)
{
	return add_name(plan, &plan->fallbacks, &plan->n_fallbacks, name, err);
}

int
nsrun_plan_add_feature(struct nsrun_plan *plan, const char *name,
    struct nsrun_err *err)
{
	return add_name(plan, &plan->features, &plan->n_features, name, err);
}

int
nsrun_plan_add_lock(struct nsrun_plan *plan, const char *path,
    struct nsrun_err *err)
{
	return add_name(plan, &plan->process.locks, &plan->process.n_locks,
	    path, err);
}

int
nsrun_plan_add_idrange(struct nsrun_plan *plan, struct nsrun_idmap *map,
    struct nsrun_idrange range, struct nsrun_err *err)
{
	struct nsrun_idrange *r = append(plan, &map->v, map->n, sizeof *r);

	if (!r)
		return nsrun_err_nomem(err, "id map");
	*r = range;
	map->n++;
	return 0;
}

int
nsrun_plan_set_argv(struct nsrun_plan *plan, char *const argv[],
    struct nsrun_err *err)
{
	size_t n = 0;

	while (argv[n])
		n++;
	plan->argv = nsrun_arena_alloc(&plan->arena, (n + 1) * sizeof *argv);
	if (!plan->argv)
		return nsrun_err_nomem(err, "arguments");
	for (size_t i = 0; i < n; i++) {
		plan->argv[i] = nsrun_arena_strdup(&plan->arena, argv[i]);
		if (!plan->argv[i])
			return nsrun_err_nomem(err, "arguments");
	}
	plan->n_argv = n;
	return 0;
}

/* The entry of NAME, or n_env when there is none. */
static size_t
find_env(const struct nsrun_plan *plan, const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < plan->n_env; i++)
		if (!strncmp(plan->env[i], name, len) &&
		    plan->env[i][len] == '=')
			break;
	return i;
}

int
nsrun_plan_set_env(struct nsrun_plan *plan, const char *name,
    const char *value, struct nsrun_err *err)
{
	size_t i = find_env(plan, name);
	char *entry = nsrun_arena_printf(&plan->arena, "%s=%s", name, value);

	if (!entry)
		return nsrun_err_nomem(err, name);
	if (i == plan->n_env) {
		/* One more than there are: the list ends in NULL. */
		char **v = nsrun_arena_grow(&plan->arena, plan->env,
		    plan->n_env, 2 * sizeof *v);

		if (!v)
			return nsrun_err_nomem(err, name);
		plan->env = v;
		v[++plan->n_env] = NULL;
	}
	plan->env[i] = entry;
	return 0;
}

const char *
nsrun_plan_env(const struct nsrun_plan *plan, const char *name)
{
	size_t i = find_env(plan, name);

	return i < plan->n_env ? plan->env[i] + strlen(name) + 1 : NULL;
}
