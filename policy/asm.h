/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing cBPF backwards.
 *
 * cBPF only jumps forwards. A program is therefore made from its last
 * instruction to its first, and every target exists before the jump to it.
 * A place is the number of instructions from one to the end; each function
 * here returns the place of what it made, and what was made last is what the
 * next instruction falls through to.
 *
 * Past BPF_MAXINSNS nothing more is written: see `full` at the end.
 */
#ifndef NSRUN_POLICY_ASM_H
#define NSRUN_POLICY_ASM_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

struct nsrun_asm {
	struct sock_filter	*insns;	/* BPF_MAXINSNS; the last first */
	unsigned int		n;
	int			full;	/* it did not fit */
};

/* The instruction itself; jt and jf are distances. */
unsigned int nsrun_asm_put(struct nsrun_asm *a, unsigned int code,
    unsigned int jt, unsigned int jf, uint32_t k);

/* A conditional jump to two places, however far away. */
unsigned int nsrun_asm_jump(struct nsrun_asm *a, unsigned int code,
    uint32_t k, unsigned int yes, unsigned int no);

/* Load a word of struct seccomp_data. */
unsigned int nsrun_asm_load(struct nsrun_asm *a, size_t offset);

/* A `ret` in reach of the next jump: one that is there, or a new one. */
unsigned int nsrun_asm_ret(struct nsrun_asm *a, uint32_t action);

/* Turn the finished program round. */
void nsrun_asm_reverse(struct nsrun_asm *a);

#endif
