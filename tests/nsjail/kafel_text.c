/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model as text: with no more parentheses than it takes, or some more. */
#include "kafel_model.h"

#include <linux/seccomp.h>

#include "../filter/random.h"

static const struct {
	const char	*word;
	int		level;		/* how closely it binds */
} ops[] = {
	[MODEL_NUMBER] = { "", 6 }, [MODEL_ARG] = { "", 6 },
	[MODEL_BIT_AND] = { "&", 5 }, [MODEL_BIT_OR] = { "|", 4 },
	[MODEL_EQ] = { "==", 3 }, [MODEL_NE] = { "!=", 3 },
	[MODEL_LT] = { "<", 3 }, [MODEL_LE] = { "<=", 3 },
	[MODEL_GT] = { ">", 3 }, [MODEL_GE] = { ">=", 3 },
	[MODEL_AND] = { "&&", 2 }, [MODEL_OR] = { "||", 1 },
	[MODEL_NOT] = { "!", 3 },
};

static const char *
blank(void)
{
	static const char *const blanks[] = {
		" ", " ", " ", "\n", "\t", "  ", " /* && * */ ",
		" // ALLOW }\n",
	};

	return blanks[random_below(8)];
}

/* Where no blank is needed. */
static const char *
gap(void)
{
	return random_below(2) ? "" : blank();
}

static void
write_number(uint64_t v, FILE *out)
{
	unsigned int kind = random_below(5);

	if (kind == 0) {
		fprintf(out, "0x%llx", (unsigned long long)v);
	} else if (kind == 1) {
		fprintf(out, "0%llo", (unsigned long long)v);
	} else if (kind == 2) {
		fputs("0b", out);
		for (int i = 63; i >= 0; i--)
			fputc(v >> i & 1 ? '1' : '0', out);
	} else if (v >> 63) {
		fprintf(out, "-%llu", (unsigned long long)(0 - v));
	} else {
		fprintf(out, "%llu", (unsigned long long)v);
	}
}

static void
write_leaf(const struct model *m, const struct model_rule *rule,
    const struct model_expr *e, FILE *out)
{
	const struct kafel_arg *arg;

	if (e->op == MODEL_NUMBER) {
		for (unsigned int i = 0; i < MODEL_CONSTS; i++)
			if (m->consts[i] == e->number && random_below(2)) {
				fprintf(out, "const_%u", i);
				return;
			}
		write_number(e->number, out);
	} else if (rule->declared) {
		fprintf(out, "a%u", e->arg);
	} else {
		arg = &rule->call->call->args[e->arg];
		fputs(*arg->other && random_below(2) ? arg->other : arg->name,
		    out);
	}
}

static void
write_expr(const struct model *m, const struct model_rule *rule,
    const struct model_expr *e, int level, FILE *out)
{
	int own = ops[e->op].level;
	const char *word = ops[e->op].word;
	int parentheses = level > own || random_below(10) == 0;

	if (e->op == MODEL_OR && (parentheses || level == 0) &&
	    random_below(3) == 0) {
		word = ",";
		own = 0;
	}
	if (parentheses)
		fprintf(out, "(%s", gap());
	if (own == 6) {
		write_leaf(m, rule, e, out);
	} else if (e->op == MODEL_NOT) {
		fprintf(out, "!%s", gap());
		write_expr(m, rule, e->left, 3, out);
	} else {
		/* Comparisons do not associate; the others do to the left. */
		write_expr(m, rule, e->left, own == 3 ? 4 : own, out);
		fprintf(out, "%s%s%s", gap(), word, gap());
		write_expr(m, rule, e->right, own + 1, out);
	}
	if (parentheses)
		fprintf(out, "%s)", gap());
}

static void
write_guard(const struct model *m, const struct model_rule *rule, FILE *out)
{
	static const char *const names[][2] = {
		{ "x86_64", "AMD64" }, { "Aarch64", "arm64" },
	};
	int arch = rule->elsewhere == 1 ? !m->arch : m->arch;
	const char *name = names[arch][random_below(2)];

	if (random_below(2))
		fprintf(out, " ON %s%s", name, blank());
	else
		fprintf(out, "%sON%s{ riscv64,%s%s }", blank(), gap(), gap(),
		    name);
}

static void
write_rule(const struct model *m, const struct model_rule *rule, FILE *out)
{
	if (rule->call->call) {
		fputs(rule->call->call->name, out);
	} else {
		fprintf(out, "SYSCALL%s[%s", gap(), gap());
		write_number(rule->call->nr, out);
		fprintf(out, "%s]", gap());
	}
	if (rule->declared)
		fprintf(out, "%s(a0,a1,%sa2,a3,a4,a5)", gap(), blank());
	if (rule->elsewhere)
		write_guard(m, rule, out);
	if (!rule->when && random_below(3))
		return;
	fprintf(out, "%s{%s", gap(), gap());
	if (rule->when)
		write_expr(m, rule, rule->when, 0, out);
	fprintf(out, "%s}", gap());
}

static void
write_action(uint32_t action, FILE *out)
{
	switch (action & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
		fputs("ALLOW", out);
		return;
	case SECCOMP_RET_LOG:
		fputs("LOG", out);
		return;
	case SECCOMP_RET_KILL_THREAD:
		fputs(random_below(3) == 0 ? "KILL" : random_below(2) ?
		    "KILL_THREAD" : "DENY", out);
		return;
	case SECCOMP_RET_KILL_PROCESS:
		fputs("KILL_PROCESS", out);
		return;
	case SECCOMP_RET_USER_NOTIF:
		fputs("USER_NOTIF", out);
		return;
	case SECCOMP_RET_ERRNO:
		fputs("ERRNO", out);
		break;
	case SECCOMP_RET_TRAP:
		fputs("TRAP", out);
		break;
	default:
		fputs("TRACE", out);
	}
	fprintf(out, "%s(%s%u)", gap(), gap(), action & SECCOMP_RET_DATA);
}

static void
write_part(const struct model *m, unsigned int i, FILE *out)
{
	const struct model_part *part = &m->parts[i];

	if (part->is_policy)
		fprintf(out, "POLICY p%u {", i);
	if (part->n_used)
		fprintf(out, "USE%sp%u,%s", blank(), part->n_used - 1, gap());
	write_action(part->action, out);
	fprintf(out, "%s{%s", gap(), gap());
	for (unsigned int r = 0; r < part->n; r++) {
		if (r > 0)
			fprintf(out, "%s,%s", gap(), gap());
		write_rule(m, &m->rules[part->first + r], out);
	}
	fprintf(out, "%s}%s", gap(), gap());
	if (part->is_policy)
		fprintf(out, "}%s", blank());
}

void
model_write(const struct model *m, FILE *out)
{
	unsigned int where = random_below(m->n_parts + 1);

	for (unsigned int i = 0; i < MODEL_CONSTS; i++) {
		fprintf(out, "#define%sconst_%u%s", blank(), i, blank());
		write_number(m->consts[i], out);
		fputs(blank(), out);
	}
	for (unsigned int i = 0; i <= m->n_parts; i++) {
		if (i == where) {
			fprintf(out, "DEFAULT%s", blank());
			write_action(m->def, out);
			fputs(blank(), out);
		}
		if (i < m->n_parts)
			write_part(m, i, out);
	}
}
