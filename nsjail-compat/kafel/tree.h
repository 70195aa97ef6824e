/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A policy as it was written: what the parser makes and the names are
 * resolved in. All of it is of one arena.
 */
#ifndef KAFEL_TREE_H
#define KAFEL_TREE_H

#include "kafel/calls.h"
#include "kafel/lex.h"

struct nsrun_asm;

enum kafel_op {
	KAFEL_NUMBER,
	KAFEL_NAME,			/* of an argument, not yet resolved */
	KAFEL_ARG,
	KAFEL_BIT_AND,
	KAFEL_BIT_OR,
	KAFEL_EQ,			/* from here on conditions: */
	KAFEL_NE,
	KAFEL_LT,
	KAFEL_LE,
	KAFEL_GT,
	KAFEL_GE,
	KAFEL_AND,
	KAFEL_OR,
	KAFEL_NOT,			/* left only */
};

enum kafel_half { KAFEL_LOW, KAFEL_HIGH };

/* What is known of 32 bits of a value: see kafel_fold(). */
struct kafel_word {
	int		is_const;	/* the same in every call: k */
	uint32_t	k;
	unsigned int	memory;		/* words that working it out takes */
};

struct kafel_node {
	enum kafel_op		op;
	unsigned int		depth;		/* of a leaf 0 */
	struct kafel_node	*left;		/* NULL in a leaf */
	struct kafel_node	*right;
	uint64_t		number;		/* NUMBER */
	const char		*name;		/* NAME */
	unsigned int		arg;		/* ARG: 0 to 5 */
	int			wide;		/* all 64 bits count */
	struct kafel_word	words[2];	/* of a value */
	struct kafel_place	place;
};

/* One call of an action. */
struct kafel_filter {
	struct kafel_filter	*next;
	const char		*call;		/* NULL: nr stands for itself */
	uint32_t		nr;
	const char		*args[KAFEL_ARGS]; /* declared names */
	unsigned int		n_args;
	int			declared;	/* they replace the call's */
	int			elsewhere;	/* ON others: no rule here */
	struct kafel_node	*when;		/* NULL: always */
	struct kafel_place	place;
};

/* USE, or an action for some calls. */
struct kafel_stmt {
	struct kafel_stmt	*next;
	struct kafel_policy	*used;		/* NULL: an action */
	uint32_t		action;		/* SECCOMP_RET_* and its data */
	struct kafel_filter	*filters;
};

struct kafel_policy {
	struct kafel_policy	*next;
	struct kafel_stmt	*stmts;
	struct kafel_stmt	**end;		/* where the next one goes */
	int			used;		/* its rules are listed */
};

struct kafel_tree {
	struct kafel_policy	main;		/* what stands outside POLICY */
	struct kafel_policy	*policies;	/* the newest first */
	uint32_t		def;
	int			has_default;
};

/* What is left when all names are resolved, in the order of the policy. */
struct kafel_rule {
	uint32_t		nr;
	uint32_t		action;
	const struct kafel_node	*when;		/* NULL: always */
	size_t			i;		/* its place in the order */
};

enum { KAFEL_X32 = 0x40000000 };

struct kafel_rules {
	struct kafel_rule	*v;
	size_t			n;
	uint32_t		def;
	uint32_t		high_def;	/* from KAFEL_X32 on */
};

int kafel_parse(struct kafel_lex *lex, enum kafel_arch arch,
    struct kafel_tree *tree);

/* Resolve every name, and list the rules that are in force. */
int kafel_resolve(struct nsrun_arena *arena, struct kafel_tree *tree,
    enum kafel_arch arch, struct kafel_rules *rules, struct nsrun_err *err);

/*
 * Simplify a node whose parts are, and fill in `wide` and `words`. Returns
 * the node, or what it comes to.
 */
struct kafel_node *kafel_fold(struct kafel_node *node);

/* Sorts the rules. file is for the message that they do not fit. */
int kafel_emit(struct nsrun_arena *arena, struct kafel_rules *rules,
    uint32_t audit_arch, const char *file, struct kafel_program *program,
    struct nsrun_err *err);

/*
 * Decide a condition: the place that does, or `yes` or `no` itself when that
 * is known already. See policy/asm.h.
 */
unsigned int kafel_emit_cond(struct nsrun_asm *as,
    const struct kafel_node *node, unsigned int yes, unsigned int no);

#endif
