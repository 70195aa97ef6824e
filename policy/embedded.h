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

#endif
