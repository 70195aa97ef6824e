/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/tree.h"

#include <string.h>

struct names {
	const struct kafel_filter	*filter;
	const struct kafel_call		*call;	/* NULL: a number */
	struct nsrun_err		*err;
};

static int
resolve_arg(const struct names *names, struct kafel_node *node)
{
	const struct kafel_filter *filter = names->filter;
	unsigned int n = filter->n_args;

	node->op = KAFEL_ARG;
	node->wide = 1;
	for (node->arg = 0; node->arg < n; node->arg++)
		if (!strcmp(filter->args[node->arg], node->name))
			return 0;
	n = filter->declared || !names->call ? 0 : KAFEL_ARGS;
	for (node->arg = 0; node->arg < n; node->arg++) {
		const struct kafel_arg *arg = &names->call->args[node->arg];

		if (!*arg->name)
			break;
		node->wide = arg->wide;
		if (!strcmp(arg->name, node->name) ||
		    (*arg->other && !strcmp(arg->other, node->name)))
			return 0;
	}
	return kafel_fail(&node->place, "unknown argument", node->name,
	    names->err);
}

static int
resolve_expr(const struct names *names, struct kafel_node **node)
{
	struct kafel_node *n = *node;

	if (n->op == KAFEL_NAME && resolve_arg(names, n) < 0)
		return -1;
	if (n->left && resolve_expr(names, &n->left) < 0)
		return -1;
	if (n->right && resolve_expr(names, &n->right) < 0)
		return -1;
	*node = kafel_fold(n);
	return 0;
}

static int
unknown_call(const struct kafel_filter *filter, struct nsrun_err *err)
{
	const char *hint = kafel_call_hint(filter->call);
	char words[sizeof err->call];

	if (!hint)
		return kafel_fail(&filter->place, "unknown system call",
		    filter->call, err);
	strcpy(words, "unknown system call (Kafel calls it ");
	strcat(strcat(words, hint), ")");
	return kafel_fail(&filter->place, words, filter->call, err);
}

static int
resolve_filter(struct kafel_filter *filter, enum kafel_arch arch,
    struct nsrun_err *err)
{
	struct names names = { .filter = filter, .err = err };

	if (filter->elsewhere)
		return 0;
	if (filter->call) {
		names.call = kafel_call_find(arch, filter->call);
		if (!names.call)
			return unknown_call(filter, err);
		filter->nr = (uint32_t)names.call->nr[arch];
	}
	return filter->when ? resolve_expr(&names, &filter->when) : 0;
}

static int
resolve_policy(struct kafel_policy *policy, enum kafel_arch arch,
    struct nsrun_err *err)
{
	for (struct kafel_stmt *s = policy->stmts; s; s = s->next)
		for (struct kafel_filter *f = s->filters; f; f = f->next)
			if (resolve_filter(f, arch, err) < 0)
				return -1;
	return 0;
}

/* The oldest first, so that the first fault is the one that is told. */
static int
resolve_policies(struct kafel_policy *newest, enum kafel_arch arch,
    struct nsrun_err *err)
{
	struct kafel_policy *oldest = NULL, *next;

	for (; newest; newest = next) {
		next = newest->next;
		newest->next = oldest;
		oldest = newest;
	}
	for (; oldest; oldest = oldest->next)
		if (resolve_policy(oldest, arch, err) < 0)
			return -1;
	return 0;
}

static int
add_rule(struct nsrun_arena *arena, struct kafel_rules *rules,
    const struct kafel_stmt *stmt, const struct kafel_filter *filter)
{
	if (filter->elsewhere)
		return 0;
	rules->v = nsrun_arena_grow(arena, rules->v, rules->n,
	    sizeof *rules->v);
	if (!rules->v)
		return -1;
	rules->v[rules->n] = (struct kafel_rule){
		.nr = filter->nr, .action = stmt->action,
		.when = filter->when, .i = rules->n,
	};
	rules->n++;
	return 0;
}

/* What is used a second time has no call left to decide. */
static int
list(struct nsrun_arena *arena, struct kafel_rules *rules,
    struct kafel_policy *policy)
{
	if (policy->used++)
		return 0;
	for (struct kafel_stmt *s = policy->stmts; s; s = s->next) {
		if (s->used && list(arena, rules, s->used) < 0)
			return -1;
		for (struct kafel_filter *f = s->filters; f; f = f->next)
			if (add_rule(arena, rules, s, f) < 0)
				return -1;
	}
	return 0;
}

int
kafel_resolve(struct nsrun_arena *arena, struct kafel_tree *tree,
    enum kafel_arch arch, struct kafel_rules *rules, struct nsrun_err *err)
{
	*rules = (struct kafel_rules){
		.def = tree->def, .high_def = tree->def,
	};
	if (resolve_policies(tree->policies, arch, err) < 0 ||
	    resolve_policy(&tree->main, arch, err) < 0)
		return -1;
	if (list(arena, rules, &tree->main) < 0)
		return nsrun_err_nomem(err, "policy");
	return 0;
}
