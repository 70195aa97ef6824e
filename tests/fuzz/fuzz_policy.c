/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever a policy text is, it is refused or becomes programs that end. */
#include <stdlib.h>

#include "fuzz.h"
#include "policy/policy.h"
#include "../filter/bpf_sim.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nsrun_policy policy;
	static struct nsrun_program program;
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_policy_parse(&policy, "fuzz", (const char *)data, size,
	    &err) < 0) {
		if (err.step != NSRUN_STEP_POLICY)
			abort();
		return 0;
	}
	for (unsigned int v = 0; v < policy.n_variants; v++)
		for (int a = 0; a < NSRUN_N_ARCHES; a++)
			if (policy.arches & 1U << a &&
			    nsrun_policy_emit(&policy, v, (enum nsrun_arch)a,
			    &program, &err) == 0 &&
			    bpf_sim_longest(program.insns, program.n) == 0)
				abort();
	return 0;
}
