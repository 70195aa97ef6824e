/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command's environment: our own, and then what the options say, in their
 * order. Hashed, since flatpak and others give thousands of variables.
 */
#include <string.h>

#include "bwrap.h"

static size_t
hash(const char *name, size_t len)
{
	uint32_t h = 2166136261u;	/* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 16777619u;
	return h;
}

/* The slot of the name, or the free one where it belongs. */
static size_t *
find(const struct bwrap_env *env, const char *name, size_t len)
{
	size_t i = hash(name, len) & (env->n_index - 1);

	for (; env->index[i]; i = (i + 1) & (env->n_index - 1)) {
		const char *s = env->v[env->index[i] - 1];

		/* An unset one keeps its name, before the NUL of its '='. */
		if (!strncmp(s, name, len) && (s[len] == '=' || !s[len]))
			break;
	}
	return &env->index[i];
}

static int
grow_index(struct bwrap *b)
{
	struct bwrap_env *env = &b->env;
	size_t n = env->n_index ? 2 * env->n_index : 256;
	size_t *index = nsrun_arena_alloc(&b->plan->arena, n * sizeof *index);

	if (!index)
		return -1;
	env->index = index;
	env->n_index = n;
	for (size_t i = 0; i < env->n; i++)
		*find(env, env->v[i], strcspn(env->v[i], "=")) = i + 1;
	return 0;
}

static int
put(struct bwrap *b, char *entry, size_t len)
{
	struct bwrap_env *env = &b->env;
	size_t *slot;
	char **v;

	if (2 * env->n >= env->n_index && grow_index(b) < 0)
		return -1;
	slot = find(env, entry, len);
	if (*slot) {
		env->v[*slot - 1] = entry;
		return 0;
	}
	v = nsrun_arena_grow(&b->plan->arena, env->v, env->n, 2 * sizeof *v);
	if (!v)
		return -1;
	env->v = v;
	v[env->n++] = entry;
	*slot = env->n;
	return 0;
}

/* Copies: our own strings are wiped before the command runs. */
int
bwrap_env_init(struct bwrap *b, char *const environment[])
{
	for (; *environment; environment++) {
		char *entry = nsrun_arena_strdup(&b->plan->arena, *environment);

		if (!entry || put(b, entry, strcspn(entry, "=")) < 0)
			return -1;
	}
	return 0;
}

int
bwrap_env_set(struct bwrap *b, const char *name, const char *value)
{
	char *entry = nsrun_arena_printf(&b->plan->arena, "%s=%s", name,
	    value);

	return entry ? put(b, entry, strlen(name)) : -1;
}

void
bwrap_env_unset(struct bwrap *b, const char *name)
{
	size_t len = strlen(name), *slot;

	if (!b->env.n_index)
		return;
	slot = find(&b->env, name, len);
	if (*slot)
		b->env.v[*slot - 1][len] = '\0';
}

void
bwrap_env_clear(struct bwrap *b)
{
	b->env = (struct bwrap_env){ .v = NULL };
}

const char *
bwrap_env_get(const struct bwrap *b, const char *name)
{
	size_t len = strlen(name), *slot;

	if (!b->env.n_index)
		return NULL;
	slot = find(&b->env, name, len);
	return *slot && b->env.v[*slot - 1][len] == '=' ?
	    b->env.v[*slot - 1] + len + 1 : NULL;
}

int
bwrap_env_finish(struct bwrap *b)
{
	struct nsrun_plan *plan = b->plan;
	char **v = nsrun_arena_alloc(&plan->arena,
	    (b->env.n + 1) * sizeof *v);

	if (!v)
		return -1;
	for (size_t i = 0; i < b->env.n; i++)
		if (strchr(b->env.v[i], '='))
			v[plan->n_env++] = b->env.v[i];
	plan->env = v;
	return 0;
}
