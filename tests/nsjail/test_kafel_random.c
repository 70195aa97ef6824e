/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random policies, compiled and run on a simulator, against what they mean;
 * and each program is offered to the kernel.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../filter/bpf_sim.h"
#include "../filter/random.h"
#include "kafel.h"
#include "kafel_model.h"

enum { POLICIES = 1500, PROBES = 100 };

static const uint32_t arches[KAFEL_N_ARCHES] = {
	[KAFEL_X86_64] = AUDIT_ARCH_X86_64,
	[KAFEL_AARCH64] = AUDIT_ARCH_AARCH64,
};

static void
probe(const struct model *m, const struct kafel_program *program,
    const char *text)
{
	uint32_t nr = m->calls[random_below(MODEL_CALLS)].nr;
	struct seccomp_data data = { .arch = arches[m->arch] };
	struct bpf_sim sim;
	uint32_t wanted;
	uint64_t args[KAFEL_ARGS];

	if (random_below(8) == 0)
		nr += random_below(3) - 1;
	if (random_below(20) == 0)
		nr |= 0x40000000;
	data.nr = (int)nr;
	for (int i = 0; i < KAFEL_ARGS; i++) {
		args[i] = random_below(2) ? model_pick() :
		    m->consts[random_below(MODEL_CONSTS)];
		if (random_below(4) == 0)
			args[i] += random_below(3) - 1U;
		if (random_below(4) == 0 && i > 0)
			args[i] = args[i - 1];
		data.args[i] = args[i];
	}
	wanted = model_answer(m, nr, args);
	if (random_below(50) == 0) {
		data.arch ^= 1 + random_below(UINT32_MAX);
		wanted = SECCOMP_RET_KILL_THREAD;
	}
	assert_int_equal(bpf_sim_run_any(program->insns, program->n, &data,
	    &sim), 0);
	if (sim.result != wanted)
		fail_msg("0x%x, not 0x%x for %u(0x%llx, 0x%llx, 0x%llx, "
		    "0x%llx, 0x%llx, 0x%llx) in\n%s", sim.result, wanted, nr,
		    (unsigned long long)args[0], (unsigned long long)args[1],
		    (unsigned long long)args[2], (unsigned long long)args[3],
		    (unsigned long long)args[4], (unsigned long long)args[5],
		    text);
}

/* It may well kill the child; exit status 99 is what must not come. */
static void
offer(const struct kafel_program *program, const char *text)
{
	struct sock_fprog prog = { program->n, program->insns };
	const struct rlimit none = { 0, 0 };
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGILL, SIG_DFL);	/* cmocka would tell of it */
		signal(SIGSYS, SIG_DFL);
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		/* Nothing of libc: every call may be refused from here on. */
		if (syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		    &prog, 0, 0) < 0)
			_exit(99);
		syscall(SYS_exit_group, 0);
		__builtin_trap();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 99)
		fail_msg("the kernel refuses\n%s", text);
}

static unsigned int
check(const struct model *m, const char *text, size_t len)
{
	const struct kafel_source source = {
		.name = "p", .text = text, .len = len,
		.refuse_x32 = m->refuse_x32,
	};
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct kafel_program program;

	if (kafel_compile(&arena, &source, arches[m->arch], &program,
	    &err) < 0)
		fail_msg("%s: %s in\n%s", err.subject, err.call, text);
	assert_true(bpf_sim_longest(program.insns, program.n) > 0);
	for (int i = 0; i < PROBES; i++)
		probe(m, &program, text);
	offer(&program, text);
	nsrun_arena_deinit(&arena);
	return program.n;
}

static void
test_random(void **state)
{
	static struct model model;
	unsigned int n, total = 0, largest = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= POLICIES; seed++) {
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		random_seed(seed);
		model_make(&model, seed % 2 ? KAFEL_X86_64 : KAFEL_AARCH64);
		model_write(&model, out);
		fclose(out);
		n = check(&model, text, len);
		free(text);
		total += n;
		largest = n > largest ? n : largest;
	}
	print_message("%d policies, %d probes, %u instructions, at most %u\n",
	    POLICIES, POLICIES * PROBES, total, largest);
	assert_true(largest > 300);	/* jumps of 255 do not reach that far */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
