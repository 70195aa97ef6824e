/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An id that is registered again: is it for the same, in every grant? */
#include <string.h>

#include "host/session.h"

static bool
are_same_roots(const struct nsrun_session *a, const struct nsrun_session *b)
{
	if (a->n_roots != b->n_roots || !a->project != !b->project ||
	    (a->project && strcmp(a->project->path, b->project->path)))
		return false;
	for (size_t i = 0; i < a->n_roots; i++) {
		const struct nsrun_granted *x = &a->roots[i], *y = &b->roots[i];

		if (strcmp(x->path, y->path) || x->writable != y->writable ||
		    x->pin.dev != y->pin.dev || x->pin.ino != y->pin.ino)
			return false;
	}
	return true;
}

static bool
are_same_lists(const char *const *a, size_t n_a, const char *const *b,
    size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (!a[i] != !b[i] || (a[i] && strcmp(a[i], b[i])))
			return false;
	return true;
}

static bool
are_same_words(const struct nsrun_words *a, const struct nsrun_words *b)
{
	return are_same_lists(a->v, a->n, b->v, b->n);
}

static bool
are_same_variables(const struct nsrun_request *a, const struct nsrun_request *b)
{
	if (a->n_variables != b->n_variables)
		return false;
	for (size_t i = 0; i < a->n_variables; i++) {
		const struct nsrun_variable *x = &a->variables[i];
		const struct nsrun_variable *y = &b->variables[i];

		if (strcmp(x->name, y->name) ||
		    !are_same_lists(&x->value, 1, &y->value, 1))
			return false;
	}
	return true;
}

bool
nsrun_session_is_same(const struct nsrun_session *a,
    const struct nsrun_session *b)
{
	const struct nsrun_request *x = &a->words, *y = &b->words;

	return a->owner == b->owner && are_same_roots(a, b) &&
	    are_same_words(&a->env, &b->env) &&
	    are_same_lists(a->env_values, a->env.n, b->env_values, b->env.n) &&
	    are_same_words(&a->server_env, &b->server_env) &&
	    are_same_words(&a->servers, &b->servers) &&
	    are_same_words(&a->masks, &b->masks) &&
	    a->network_denied == b->network_denied &&
	    a->unsandboxed == b->unsandboxed &&
	    a->trusts_hooks == b->trusts_hooks &&
	    x->as == y->as && x->as_uid == y->as_uid &&
	    x->as_gid == y->as_gid && x->nesting == y->nesting &&
	    are_same_lists(&x->as_name, 1, &y->as_name, 1) &&
	    x->host_temp == y->host_temp &&
	    x->has_network == y->has_network && x->network == y->network &&
	    x->on_hazard == y->on_hazard &&
	    are_same_lists(&x->cwd, 1, &y->cwd, 1) &&
	    are_same_lists(x->masks, x->n_masks, y->masks, y->n_masks) &&
	    are_same_variables(x, y);
}
