/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A Kafel policy that nobody wrote: made at random, written as text, and
 * evaluated from what was made, without the compiler.
 */
#ifndef KAFEL_MODEL_H
#define KAFEL_MODEL_H

#include <stdint.h>
#include <stdio.h>

#include "kafel/calls.h"

enum { MODEL_CALLS = 8, MODEL_CONSTS = 6, MODEL_RULES = 64, MODEL_PARTS = 8 };

enum model_op {
	MODEL_NUMBER, MODEL_ARG, MODEL_BIT_AND, MODEL_BIT_OR,
	MODEL_EQ, MODEL_NE, MODEL_LT, MODEL_LE, MODEL_GT, MODEL_GE,
	MODEL_AND, MODEL_OR, MODEL_NOT,
};

struct model_expr {
	enum model_op		op;
	const struct model_expr	*left, *right;
	uint64_t		number;
	unsigned int		arg;
};

struct model_call {
	const struct kafel_call	*call;	/* NULL: nr stands for itself */
	uint32_t		nr;
};

struct model_rule {
	const struct model_call	*call;
	int			declared;	/* a0 to a5, all wide */
	int			elsewhere;	/* 1: ON another, 2: this */
	const struct model_expr	*when;
};

/* An action and its rules, or a USE of a part before. */
struct model_part {
	uint32_t		action;
	unsigned int		first, n;	/* in rules */
	unsigned int		n_used;		/* 1 + that part; 0: none */
	int			is_policy;	/* POLICY p<i> { ... } */
};

struct model {
	enum kafel_arch		arch;
	uint32_t		def;
	int			refuse_x32;
	uint64_t		consts[MODEL_CONSTS];
	struct model_call	calls[MODEL_CALLS];
	struct model_rule	rules[MODEL_RULES];
	struct model_part	parts[MODEL_PARTS];
	unsigned int		n_rules, n_parts;
};

/* A new one, from random.h. */
void model_make(struct model *model, enum kafel_arch arch);

/* Is an argument of a rule's call compared by all of its 64 bits? */
int model_is_wide(const struct model_rule *rule, unsigned int arg);

uint32_t model_answer(const struct model *model, uint32_t nr,
    const uint64_t args[KAFEL_ARGS]);

void model_write(const struct model *model, FILE *out);

/* A number that is likely to be next to another one. */
uint64_t model_pick(void);

#endif
