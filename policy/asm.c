/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/asm.h"

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define RET (BPF_RET | BPF_K)
#define JUMP (BPF_JMP | BPF_JA)

/*
 * A conditional jump skips at most 255 instructions. Two less, because each
 * of its targets may have to be reached through a `ja` put right behind it.
 */
#define REACH 253

unsigned int
nsrun_asm_put(struct nsrun_asm *a, unsigned int code, unsigned int jt,
    unsigned int jf, uint32_t k)
{
	if (a->n == BPF_MAXINSNS) {
		a->full = 1;
		return a->n;
	}
	a->insns[a->n++] = (struct sock_filter){
		.code = (uint16_t)code, .jt = (uint8_t)jt, .jf = (uint8_t)jf,
		.k = k,
	};
	return a->n;
}

/* The place itself, or a `ja` to it: one that is there, or a new one. */
static unsigned int
reach(struct nsrun_asm *a, unsigned int place)
{
	if (a->n - place <= REACH)
		return place;
	for (unsigned int p = a->n; a->n - p <= REACH; p--)
		if (a->insns[p - 1].code == JUMP &&
		    a->insns[p - 1].k == p - 1 - place)
			return p;
	return nsrun_asm_put(a, JUMP, 0, 0, a->n - place);
}

unsigned int
nsrun_asm_jump(struct nsrun_asm *a, unsigned int code, uint32_t k,
    unsigned int yes, unsigned int no)
{
	yes = reach(a, yes);
	no = reach(a, no);
	return nsrun_asm_put(a, code, a->n - yes, a->n - no, k);
}

unsigned int
nsrun_asm_load(struct nsrun_asm *a, size_t offset)
{
	return nsrun_asm_put(a, LOAD, 0, 0, (uint32_t)offset);
}

unsigned int
nsrun_asm_ret(struct nsrun_asm *a, uint32_t action)
{
	for (unsigned int p = a->n; p > 0 && a->n - p <= REACH; p--)
		if (a->insns[p - 1].code == RET && a->insns[p - 1].k == action)
			return p;
	return nsrun_asm_put(a, RET, 0, 0, action);
}

void
nsrun_asm_reverse(struct nsrun_asm *a)
{
	for (unsigned int i = 0; i < a->n / 2; i++) {
		struct sock_filter first = a->insns[i];

		a->insns[i] = a->insns[a->n - 1 - i];
		a->insns[a->n - 1 - i] = first;
	}
}
