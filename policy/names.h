/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the words of a policy stand for. Pure look-ups; only syscalls.c knows
 * libseccomp.
 */
#ifndef NSRUN_POLICY_NAMES_H
#define NSRUN_POLICY_NAMES_H

#include "policy/policy.h"

/* "x86_64" or "aarch64"; NSRUN_N_ARCHES for any other name. */
enum nsrun_arch nsrun_arch_find(const char *name);
const char *nsrun_arch_name(enum nsrun_arch arch);
uint32_t nsrun_arch_audit(enum nsrun_arch arch);	/* AUDIT_ARCH_* */

/*
 * A number in C's notation, a constant of constants.c, or several of them
 * joined by `|`. Returns NULL, or what is wrong with it in words.
 */
const char *nsrun_value_parse(const char *word, uint64_t *value);

/* An action as SECCOMP_RET_*; NULL, or what is wrong with it in words. */
const char *nsrun_action_parse(const char *word, uint32_t *action);

/*
 * -1: a call that this architecture lacks; -2: a name nobody knows. Asks
 * libseccomp in policyc and the tests, and what policyc kept of that in what
 * is installed.
 */
int nsrun_syscall_number(enum nsrun_arch arch, const char *name);
/* The call's name, which the caller frees; NULL: none. Only in policyc. */
char *nsrun_syscall_name(enum nsrun_arch arch, int nr);

#endif
