/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Filter policies: a text becomes a table of rules, and one variant of the
 * table becomes one cBPF program for one architecture.
 *
 *	filter NAME
 *	arch ARCH... else kill
 *	default ACTION			for every number without a rule
 *	ACTION CALL...			a class
 *	ACTION CALL... if TEST [and TEST]...
 *	variant NAME			the rest, up to the next `variant`,
 *					holds for this variant only
 *
 *	ACTION	allow | success | kill | EPERM, ENOSYS, ... | 1 to 4095
 *	CALL	name | name=number | name=number@ARCH
 *	TEST	[low32] argN [& MASK] [== V | != V | in V... | not in V...]
 *
 * A line that begins with `and` continues the rule before it. The rules of
 * one call are tried in the order of the text, and the last of them must have
 * no `if`. `success` returns 0 without doing the call. A mask without a
 * comparison asks whether any of its bits is set; `low32` looks at the low 32
 * bits only, as the kernel does where a parameter is an int.
 *
 * What no text can change: a foreign architecture is killed, and numbers
 * from 0x40000000 (x32, negative) are never allowed by default.
 *
 * Nothing here allocates or makes a system call; every size has a limit and
 * exceeding one is an error. See nsrun-policy(5).
 */
#ifndef NSRUN_POLICY_POLICY_H
#define NSRUN_POLICY_POLICY_H

#include <linux/filter.h>

#include "base/err.h"

enum {
	NSRUN_POLICY_TEXT_MAX = 1 << 16,	/* bytes */
	NSRUN_POLICY_NAME_MAX = 31,
	NSRUN_POLICY_VARIANTS_MAX = 4,
	NSRUN_POLICY_RULES_MAX = 1024,
	NSRUN_POLICY_CONDS_MAX = 256,
	NSRUN_POLICY_VALUES_MAX = 1024,
	NSRUN_POLICY_ARGS = 6,			/* arguments of a call */
	NSRUN_POLICY_NR_END = 0x40000000,	/* no call has this or more */
};

enum nsrun_arch {
	NSRUN_ARCH_X86_64,
	NSRUN_ARCH_AARCH64,
	NSRUN_N_ARCHES
};

enum nsrun_policy_op {
	NSRUN_POLICY_IN,		/* (arg & mask) is one of the values */
	NSRUN_POLICY_NOT_IN,
};

struct nsrun_policy_cond {
	uint64_t		mask;	/* not 0 */
	enum nsrun_policy_op	op;
	unsigned int		arg;	/* 0 to 5 */
	unsigned int		first;	/* in policy->values, which ascend */
	unsigned int		n;	/* not 0 */
};

/* One call of one line. */
struct nsrun_policy_rule {
	uint32_t	action;		/* SECCOMP_RET_* and its data */
	int32_t		nr[NSRUN_N_ARCHES]; /* -1: this one has no such call */
	int		variant;	/* index, or -1: in every variant */
	unsigned int	first;		/* in policy->conds */
	unsigned int	n_conds;	/* 0: whatever the arguments are */
	unsigned int	line;
	unsigned int	col;
};

/* About 60 KiB: not for a small stack. */
struct nsrun_policy {
	char		name[NSRUN_POLICY_NAME_MAX + 1];
	unsigned int	arches;		/* bit 1 << enum nsrun_arch */
	uint32_t	def;
	char		variants[NSRUN_POLICY_VARIANTS_MAX]
			    [NSRUN_POLICY_NAME_MAX + 1];
	unsigned int	n_variants;	/* at least 1; without any it is "" */
	struct nsrun_policy_rule rules[NSRUN_POLICY_RULES_MAX];
	unsigned int	n_rules;
	struct nsrun_policy_cond conds[NSRUN_POLICY_CONDS_MAX];
	unsigned int	n_conds;
	uint64_t	values[NSRUN_POLICY_VALUES_MAX];
	unsigned int	n_values;
};

struct nsrun_program {
	unsigned short		n;
	struct sock_filter	insns[BPF_MAXINSNS];
};

/*
 * Read a text, which need not end in NUL, into *policy, and check it. After
 * -1 err names "file:line:col" and the rule broken there.
 */
int nsrun_policy_parse(struct nsrun_policy *policy, const char *file,
    const char *text, size_t len, struct nsrun_err *err);

/*
 * The rules in force for a variant on an architecture, ascending by number
 * and then in the order of the text. Returns how many were stored.
 */
unsigned int nsrun_policy_select(const struct nsrun_policy *policy,
    unsigned int variant, enum nsrun_arch arch,
    const struct nsrun_policy_rule *rules[NSRUN_POLICY_RULES_MAX]);

/* No call is classified twice, half, or by a rule that nothing reaches. */
int nsrun_policy_check(const struct nsrun_policy *policy, const char *file,
    struct nsrun_err *err);

/*
 * Compile one variant. Fails when the program does not fit the kernel. A
 * table made without nsrun_policy_parse() should have passed the check: what
 * is classified by half gets the default.
 */
int nsrun_policy_emit(const struct nsrun_policy *policy, unsigned int variant,
    enum nsrun_arch arch, struct nsrun_program *program,
    struct nsrun_err *err);

#endif
