/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel_model.h"

#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "../filter/random.h"

enum { POOL = 4096 };

static struct model_expr pool[POOL];
static unsigned int n_pool;

uint64_t
model_pick(void)
{
	static const uint32_t halves[] = {
		0, 0, 0, 1, 2, 3, 0x7fffffff, 0x80000000, 0xfffffffe,
		0xffffffff, 0x5412, 0x7e020000,
	};
	uint64_t v = halves[random_below(12)];

	if (random_below(16) == 0)
		return UINT64_MAX;
	if (random_below(3) == 0)
		v |= (uint64_t)halves[random_below(12)] << 32;
	return random_below(12) ? v : random_next();
}

static const struct model_expr *
new_expr(struct model_expr expr)
{
	assert_true(n_pool < POOL);
	pool[n_pool] = expr;
	return &pool[n_pool++];
}

/* How many arguments can be named; a name that begins with _ cannot. */
static unsigned int
count_args(const struct model_rule *rule)
{
	unsigned int n = 0;

	if (rule->declared)
		return KAFEL_ARGS;
	while (rule->call->call && n < KAFEL_ARGS &&
	    rule->call->call->args[n].name[0] &&
	    rule->call->call->args[n].name[0] != '_')
		n++;
	return n;
}

static const struct model_expr *
make_value(const struct model *m, const struct model_rule *rule,
    unsigned int size)
{
	unsigned int n = count_args(rule), kind = random_below(8);

	if (size > 1 && kind < 5)
		return new_expr((struct model_expr){
			.op = random_below(2) ? MODEL_BIT_AND : MODEL_BIT_OR,
			.left = make_value(m, rule, size - size / 2),
			.right = make_value(m, rule, size / 2),
		});
	if (n > 0 && kind % 2)
		return new_expr((struct model_expr){
			.op = MODEL_ARG, .arg = random_below(n),
		});
	return new_expr((struct model_expr){
		.op = MODEL_NUMBER, .number = random_below(3) ? model_pick() :
		    m->consts[random_below(MODEL_CONSTS)],
	});
}

static const struct model_expr *
make_condition(const struct model *m, const struct model_rule *rule,
    unsigned int size)
{
	unsigned int kind = random_below(8);

	if (size > 1 && kind < 6)
		return new_expr((struct model_expr){
			.op = kind % 2 ? MODEL_AND : MODEL_OR,
			.left = make_condition(m, rule, size - size / 2),
			.right = make_condition(m, rule, size / 2),
		});
	if (kind == 7)
		return new_expr((struct model_expr){
			.op = MODEL_NOT,
			.left = make_condition(m, rule, size),
		});
	return new_expr((struct model_expr){
		.op = MODEL_EQ + random_below(6),
		.left = make_value(m, rule, 1 + random_below(4)),
		.right = make_value(m, rule, 1 + random_below(3)),
	});
}

static uint32_t
make_action(void)
{
	static const uint32_t actions[] = {
		SECCOMP_RET_ALLOW, SECCOMP_RET_LOG, SECCOMP_RET_KILL_THREAD,
		SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_USER_NOTIF,
		SECCOMP_RET_ERRNO, SECCOMP_RET_TRAP, SECCOMP_RET_TRACE,
	};
	unsigned int i = random_below(8);

	return actions[i] | (i < 5 ? 0 : random_below(1 << 16));
}

/* Numbers that stand close to one another, by name or not. */
static void
make_calls(struct model *m)
{
	for (unsigned int i = 0; i < MODEL_CALLS; i++) {
		const struct kafel_call *call =
		    &kafel_calls[random_below((unsigned int)kafel_n_calls)];
		struct model_call *c = &m->calls[i];

		if (call->nr[m->arch] >= 0)
			*c = (struct model_call){
				call, (uint32_t)call->nr[m->arch],
			};
		else
			*c = (struct model_call){
				NULL, random_below(4) ? random_below(400) :
				    (uint32_t)random_next(),
			};
		if (i > 0 && random_below(3) == 0)
			*c = (struct model_call){ NULL, c[-1].nr + 1 };
		if (random_below(20) == 0)
			*c = (struct model_call){ NULL, UINT32_MAX };
		if (random_below(20) == 0)
			*c = (struct model_call){
				NULL, 0x3fffffff + random_below(3),
			};
	}
}

static void
make_rule(struct model *m, struct model_rule *rule)
{
	*rule = (struct model_rule){
		.call = &m->calls[random_below(MODEL_CALLS)],
		.declared = random_below(3) == 0,
		.elsewhere = random_below(10) ? 0 : 1 + (int)random_below(2),
	};
	if (random_below(3))
		rule->when = make_condition(m, rule,
		    1 + random_below(random_below(8) ? 3 : 12));
}

void
model_make(struct model *m, enum kafel_arch arch)
{
	*m = (struct model){
		.arch = arch, .def = make_action(),
		.refuse_x32 = random_below(4) == 0,
	};
	n_pool = 0;
	for (unsigned int i = 0; i < MODEL_CONSTS; i++)
		m->consts[i] = model_pick();
	make_calls(m);
	m->n_parts = 1 + random_below(MODEL_PARTS);
	for (unsigned int i = 0; i < m->n_parts; i++) {
		struct model_part *part = &m->parts[i];

		part->action = make_action();
		part->first = m->n_rules;
		part->is_policy = random_below(3) == 0;
		part->n = random_below(8);
		if (i > 0 && random_below(3) == 0)
			part->n_used = 1 + random_below(i);
		if (part->n_used && !m->parts[part->n_used - 1].is_policy)
			part->n_used = 0;
		for (unsigned int j = 0; j < part->n; j++)
			make_rule(m, &m->rules[m->n_rules++]);
	}
}

int
model_is_wide(const struct model_rule *rule, unsigned int arg)
{
	return rule->declared || rule->call->call->args[arg].wide;
}

/* What a value comes to once constants are joined. */
struct shape {
	int		is_number;
	uint64_t	number;
	int		wide;
};

static struct shape
shape_of(const struct model_rule *rule, const struct model_expr *e)
{
	struct shape l, r;
	uint64_t all = 0;

	if (e->op == MODEL_NUMBER)
		return (struct shape){ 1, e->number, e->number >> 32 != 0 };
	if (e->op == MODEL_ARG)
		return (struct shape){ 0, 0, model_is_wide(rule, e->arg) };
	l = shape_of(rule, e->left);
	r = shape_of(rule, e->right);
	if (e->op == MODEL_BIT_OR)
		all = UINT64_MAX;
	if (l.is_number && r.is_number) {
		l.number = all ? l.number | r.number : l.number & r.number;
		l.wide = l.number >> 32 != 0;
		return l;
	}
	if (l.is_number ? l.number == all : r.is_number && r.number == all)
		return (struct shape){ 1, all, all != 0 };
	if (l.is_number && l.number == ~all)
		return r;
	if (r.is_number && r.number == ~all)
		return l;
	return (struct shape){ 0, 0, l.wide || r.wide };
}

static uint64_t
value_of(const struct model_expr *e, const uint64_t args[KAFEL_ARGS])
{
	switch ((int)e->op) {
	case MODEL_NUMBER:
		return e->number;
	case MODEL_ARG:
		return args[e->arg];
	case MODEL_BIT_AND:
		return value_of(e->left, args) & value_of(e->right, args);
	default:
		return value_of(e->left, args) | value_of(e->right, args);
	}
}

static int
holds(const struct model_rule *rule, const struct model_expr *e,
    const uint64_t args[KAFEL_ARGS])
{
	uint64_t l, r, mask = UINT32_MAX;

	if (e->op == MODEL_NOT)
		return !holds(rule, e->left, args);
	if (e->op == MODEL_AND)
		return holds(rule, e->left, args) &&
		    holds(rule, e->right, args);
	if (e->op == MODEL_OR)
		return holds(rule, e->left, args) ||
		    holds(rule, e->right, args);
	if (shape_of(rule, e->left).wide || shape_of(rule, e->right).wide)
		mask = UINT64_MAX;
	l = value_of(e->left, args) & mask;
	r = value_of(e->right, args) & mask;
	switch ((int)e->op) {
	case MODEL_EQ:
		return l == r;
	case MODEL_NE:
		return l != r;
	case MODEL_LT:
		return l < r;
	case MODEL_LE:
		return l <= r;
	case MODEL_GT:
		return l > r;
	default:
		return l >= r;
	}
}

/* Does a part decide the call? */
static int
decides(const struct model *m, const struct model_part *part, uint32_t nr,
    const uint64_t args[KAFEL_ARGS], uint32_t *answer)
{
	if (part->n_used && decides(m, &m->parts[part->n_used - 1], nr, args,
	    answer))
		return 1;
	*answer = part->action;
	for (unsigned int i = 0; i < part->n; i++) {
		const struct model_rule *rule = &m->rules[part->first + i];

		if (rule->elsewhere != 1 && rule->call->nr == nr &&
		    (!rule->when || holds(rule, rule->when, args)))
			return 1;
	}
	return 0;
}

uint32_t
model_answer(const struct model *m, uint32_t nr,
    const uint64_t args[KAFEL_ARGS])
{
	uint32_t answer;

	/* A policy decides when it is used. */
	for (unsigned int i = 0; i < m->n_parts; i++)
		if (!m->parts[i].is_policy &&
		    decides(m, &m->parts[i], nr, args, &answer))
			return answer;
	if (m->refuse_x32 && m->arch == KAFEL_X86_64 && nr >> 30 &&
	    (m->def == SECCOMP_RET_ALLOW || m->def == SECCOMP_RET_LOG))
		return SECCOMP_RET_ERRNO | 38;
	return m->def;
}
