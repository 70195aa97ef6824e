/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The release's own filters and profiles, compiled into the library by
 * policyc at build time. All of it is constant and lives for ever.
 */
#ifndef NSRUN_POLICY_EMBEDDED_H
#define NSRUN_POLICY_EMBEDDED_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct nsrun_filter {
	const char		*name;		/* "seccomp-1" */
	const char		*variant;	/* "" if it has none */
	uint32_t		audit_arch;	/* AUDIT_ARCH_* */
	const char		*sha256;	/* of the program, in hex */
	const struct sock_filter *insns;
	unsigned short		n_insns;
};

struct nsrun_policy_text {
	const char	*kind;			/* "filter" or "profile" */
	const char	*name;
	const char	*text;			/* as it was written */
};

/* A system call by its name, on x86_64 and aarch64: -1 where it is not. */
struct nsrun_call {
	const char	*name;
	int		nr[2];
};

struct nsrun_arena;
struct nsrun_err;

/*
 * Compile all variants of a filter's text, which need not end in NUL, for all
 * of its architectures: *filters, and all they point to, is the arena's. The
 * same compiler as policyc's, with the names of calls that policyc knew.
 */
int nsrun_filters_compile(struct nsrun_arena *arena, const char *file,
    const char *text, size_t len, struct nsrun_filter **filters, size_t *n,
    struct nsrun_err *err);

/* AUDIT_ARCH_* and "x86_64"; 0 and NULL: no such. */
uint32_t nsrun_filter_arch_find(const char *name);
const char *nsrun_filter_arch_name(uint32_t audit_arch);

/* A program as its raw bytes, to out, which is large enough. */
enum { NSRUN_FILTER_BYTES_MAX = BPF_MAXINSNS * sizeof(struct sock_filter) };
size_t nsrun_filter_bytes(const struct nsrun_filter *filter,
    uint8_t out[NSRUN_FILTER_BYTES_MAX]);

/* NULL if there is none; variant NULL or "": a filter without variants. */
const struct nsrun_filter *nsrun_filter_find(const char *name,
    const char *variant, uint32_t audit_arch);

/* NULL if there is none. */
const struct nsrun_policy_text *nsrun_policy_text_find(const char *kind,
    const char *name);

/* All filters, all texts. Each returns how many there are. */
size_t nsrun_filters(const struct nsrun_filter **filters);
size_t nsrun_policy_texts(const struct nsrun_policy_text **texts);

/* The generated tables; the functions above are the way to them. */
extern const struct nsrun_filter nsrun_embedded_filters[];
extern const size_t nsrun_n_embedded_filters;
extern const struct nsrun_policy_text nsrun_embedded_texts[];
extern const size_t nsrun_n_embedded_texts;
extern const struct nsrun_call nsrun_embedded_calls[];
extern const size_t nsrun_n_embedded_calls;

#endif
