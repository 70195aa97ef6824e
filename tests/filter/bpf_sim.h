/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a seccomp program on a call that nobody makes. It knows only what the
 * kernel lets into a seccomp filter, and of that only what the kernel can
 * evaluate for its bitmap of calls that are always allowed.
 */
#ifndef BPF_SIM_H
#define BPF_SIM_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_sim {
	uint32_t	result;		/* SECCOMP_RET_* */
	unsigned int	steps;
	unsigned int	arg_loads;	/* of an argument, or of the address */
	unsigned int	others;		/* that the bitmap does not know */
};

/* Returns 0, or -1 for a program that the kernel would not take. */
int bpf_sim_run(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim);

/*
 * The same with X and memory, which the kernel takes too, but for a call that
 * needs them it has no bitmap.
 */
int bpf_sim_run_any(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim);

/* Instructions on the longest way through, 0 for an invalid program. */
unsigned int bpf_sim_longest(const struct sock_filter *insns, size_t n);

#endif
