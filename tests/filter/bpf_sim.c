/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bpf_sim.h"

/* The word at an offset, as a little-endian machine has it. */
static int
load(const struct seccomp_data *data, uint32_t offset, struct bpf_sim *sim,
    uint32_t *word)
{
	uint32_t i = (offset - 16) / 8;

	if (offset % 4 || offset >= sizeof *data)
		return -1;
	sim->arg_loads += offset >= 8;
	if (offset == 0)
		*word = (uint32_t)data->nr;
	else if (offset == 4)
		*word = data->arch;
	else if (offset < 16)
		*word = (uint32_t)(data->instruction_pointer >> offset % 8 * 8);
	else
		*word = (uint32_t)(data->args[i] >> offset % 8 * 8);
	return 0;
}

/* How far a jump goes, or -1 if this is none. */
static int64_t
jump(const struct sock_filter *insn, uint32_t a)
{
	switch (insn->code) {
	case BPF_JMP | BPF_JA:
		return insn->k;
	case BPF_JMP | BPF_JEQ | BPF_K:
		return a == insn->k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JGE | BPF_K:
		return a >= insn->k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JGT | BPF_K:
		return a > insn->k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JSET | BPF_K:
		return a & insn->k ? insn->jt : insn->jf;
	default:
		return -1;
	}
}

int
bpf_sim_run(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim)
{
	uint32_t a = 0;

	*sim = (struct bpf_sim){ 0 };
	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *insn = &insns[pc];
		int64_t skip = jump(insn, a);

		sim->steps++;
		if (skip >= 0) {
			pc += (size_t)skip;
		} else if (insn->code == (BPF_RET | BPF_K)) {
			sim->result = insn->k;
			return 0;
		} else if (insn->code == (BPF_ALU | BPF_AND | BPF_K)) {
			a &= insn->k;
		} else if (insn->code != (BPF_LD | BPF_W | BPF_ABS) ||
		    load(data, insn->k, sim, &a) < 0) {
			return -1;
		}
	}
	return -1;
}

unsigned int
bpf_sim_longest(const struct sock_filter *insns, size_t n)
{
	static unsigned int longest[BPF_MAXINSNS];

	if (n == 0 || n > BPF_MAXINSNS)
		return 0;
	for (size_t pc = n; pc-- > 0;) {
		const struct sock_filter *insn = &insns[pc];
		int is_jump = jump(insn, 0) >= 0;
		int is_ja = insn->code == (BPF_JMP | BPF_JA);
		size_t yes = pc + 1 + (is_ja ? insn->k : insn->jt);
		size_t no = is_ja ? yes : pc + 1 + insn->jf;

		if (!is_jump)
			yes = no = pc + 1;
		longest[pc] = 1;
		if (insn->code == (BPF_RET | BPF_K))
			continue;
		if (yes >= n || no >= n)
			return 0;
		longest[pc] += longest[yes] > longest[no] ?
		    longest[yes] : longest[no];
	}
	return longest[0];
}
