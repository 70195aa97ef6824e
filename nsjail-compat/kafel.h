/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Kafel policies, the language of nsjail's seccomp_string and
 * seccomp_policy_file, compiled to cBPF.
 *
 *	program	{ "#define" NAME NUMBER | "POLICY" NAME "{" [ stmts ] "}"
 *		| stmts | "DEFAULT" action }
 *	stmts	stmt { "," stmt }
 *	stmt	"USE" NAME | action "{" [ filter { "," filter } ] "}"
 *	action	ALLOW | LOG | KILL | KILL_THREAD | DENY | KILL_PROCESS |
 *		USER_NOTIF | ( ERRNO | TRAP | TRACE ) "(" NUMBER ")"
 *	filter	( NAME | "SYSCALL" "[" NUMBER "]" ) [ "(" [ names ] ")" ]
 *		[ "ON" ( ARCH | "{" ARCH { "," ARCH } "}" ) ]
 *		[ "{" [ expr ] "}" ]
 *	expr	comparisons of arguments, names and numbers, each side joined
 *		by & and |; !, &&, ||, and "," for an || that binds least
 *
 * The first filter that matches decides, and DEFAULT (or KILL) when none
 * does; a call of another architecture kills its thread. An argument that the
 * kernel takes as an int is compared by its low 32 bits, unless the other
 * side is wider. Names are those of the kernel: newfstat, not fstat.
 *
 * On x86_64 a list of what is denied leaves the same calls open by their x32
 * numbers, from 0x40000000. With refuse_x32, DEFAULT ALLOW and DEFAULT LOG end
 * there and ENOSYS begins, which is what a kernel without x32 says anyway.
 *
 * What Kafel reads as something else than it looks like is refused: 08 (as 0),
 * a comment that ends in "**" and "/" (it goes on), a number that wraps.
 */
#ifndef KAFEL_H
#define KAFEL_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum {
	KAFEL_TEXT_MAX = 1 << 20,	/* bytes, with all that is included */
	KAFEL_DEPTH_MAX = 200,		/* of an expression */
	KAFEL_INCLUDES_MAX = 16,	/* in one another */
	KAFEL_FILES_MAX = 256,		/* included in all */
	KAFEL_NAMES_MAX = 4096,		/* of constants, and of policies */
};

struct kafel_source {
	const char	*name;		/* for messages: "policy.kafel" */
	const char	*text;		/* need not end in NUL */
	size_t		len;
	const char	*include_dir;	/* NULL: as in nsjail, none is found */
	int		refuse_x32;	/* where DEFAULT would let them pass */
};

/* In the arena. */
struct kafel_program {
	struct sock_filter	*insns;
	unsigned short		n;
};

/*
 * Compile for AUDIT_ARCH_X86_64 or AUDIT_ARCH_AARCH64. After -1 err names
 * "file:line:col" (columns in bytes, from 1) and the rule broken there.
 */
int kafel_compile(struct nsrun_arena *arena,
    const struct kafel_source *source, uint32_t arch,
    struct kafel_program *program, struct nsrun_err *err);

/* The same with the text of the file source->name. */
int kafel_compile_file(struct nsrun_arena *arena,
    const struct kafel_source *source, uint32_t arch,
    struct kafel_program *program, struct nsrun_err *err);

#endif
