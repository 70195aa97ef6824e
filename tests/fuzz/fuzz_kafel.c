/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whatever a Kafel policy is, it is refused with a place, or becomes a program
 * that ends. A file that it includes is absent.
 */
#include <linux/audit.h>
#include <stdlib.h>
#include <string.h>

#include "../filter/bpf_sim.h"
#include "fuzz.h"
#include "kafel.h"

static void
compile(const struct kafel_source *source, uint32_t arch)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct seccomp_data data = { .arch = arch };
	struct kafel_program program;
	struct bpf_sim sim;

	if (kafel_compile(&arena, source, arch, &program, &err) < 0) {
		if (err.step != NSRUN_STEP_POLICY || arena.chunks ||
		    strncmp(err.subject, "fuzz", 4) != 0 || !*err.call)
			abort();
		return;
	}
	if (bpf_sim_longest(program.insns, program.n) == 0)
		abort();
	for (data.nr = -2; data.nr < 500; data.nr++)
		if (bpf_sim_run_any(program.insns, program.n, &data, &sim) < 0)
			abort();
	nsrun_arena_deinit(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kafel_source source = {
		.name = "fuzz", .text = (const char *)data, .len = size,
		.include_dir = size % 2 ? "/nonexistent" : NULL,
		.refuse_x32 = size % 4 > 1,
	};

	compile(&source, AUDIT_ARCH_X86_64);
	compile(&source, AUDIT_ARCH_AARCH64);
	return 0;
}
