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

struct machine {
	uint32_t	a, x;
	uint32_t	memory[BPF_MEMWORDS];
};

/* How far a jump goes, or -1 if this is none. */
static int64_t
jump(const struct sock_filter *insn, const struct machine *m)
{
	uint32_t k = insn->code & BPF_X ? m->x : insn->k;

	if (insn->code == (BPF_JMP | BPF_JA))
		return insn->k;
	switch (insn->code & ~BPF_X) {
	case BPF_JMP | BPF_JEQ | BPF_K:
		return m->a == k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JGE | BPF_K:
		return m->a >= k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JGT | BPF_K:
		return m->a > k ? insn->jt : insn->jf;
	case BPF_JMP | BPF_JSET | BPF_K:
		return m->a & k ? insn->jt : insn->jf;
	default:
		return -1;
	}
}

/* The rest, which the bitmap does not know. */
static int
move(const struct sock_filter *insn, struct machine *m)
{
	if (insn->code == (BPF_LDX | BPF_MEM) || insn->code == BPF_ST) {
		if (insn->k >= BPF_MEMWORDS)
			return -1;
		if (insn->code == BPF_ST)
			m->memory[insn->k] = m->a;
		else
			m->x = m->memory[insn->k];
		return 0;
	}
	switch (insn->code) {
	case BPF_LD | BPF_IMM:
		m->a = insn->k;
		return 0;
	case BPF_MISC | BPF_TAX:
		m->x = m->a;
		return 0;
	case BPF_ALU | BPF_AND | BPF_X:
		m->a &= m->x;
		return 0;
	case BPF_ALU | BPF_OR | BPF_X:
		m->a |= m->x;
		return 0;
	case BPF_ALU | BPF_OR | BPF_K:
		m->a |= insn->k;
		return 0;
	default:
		return -1;
	}
}

static int
run(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim)
{
	struct machine m = { 0 };

	*sim = (struct bpf_sim){ 0 };
	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *insn = &insns[pc];
		int64_t skip = jump(insn, &m);

		sim->steps++;
		if (skip >= 0) {
			sim->others += (insn->code & BPF_X) != 0;
			pc += (size_t)skip;
		} else if (insn->code == (BPF_RET | BPF_K)) {
			sim->result = insn->k;
			return 0;
		} else if (insn->code == (BPF_ALU | BPF_AND | BPF_K)) {
			m.a &= insn->k;
		} else if (insn->code == (BPF_LD | BPF_W | BPF_ABS)) {
			if (load(data, insn->k, sim, &m.a) < 0)
				return -1;
		} else if (move(insn, &m) < 0) {
			return -1;
		} else {
			sim->others++;
		}
	}
	return -1;
}

int
bpf_sim_run(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim)
{
	return run(insns, n, data, sim) < 0 || sim->others ? -1 : 0;
}

int
bpf_sim_run_any(const struct sock_filter *insns, size_t n,
    const struct seccomp_data *data, struct bpf_sim *sim)
{
	return run(insns, n, data, sim);
}

unsigned int
bpf_sim_longest(const struct sock_filter *insns, size_t n)
{
	static unsigned int longest[BPF_MAXINSNS];
	const struct machine m = { 0 };

	if (n == 0 || n > BPF_MAXINSNS)
		return 0;
	for (size_t pc = n; pc-- > 0;) {
		const struct sock_filter *insn = &insns[pc];
		int is_jump = jump(insn, &m) >= 0;
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
