/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libseccomp as oracle: its numbers against ours, and filters that it builds
 * against the same ones from a text.
 */
#include <errno.h>
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bpf_sim.h"
#include "oracle.h"
#include "policy/names.h"
#include "policy/policy.h"
#include "random.h"

static const uint32_t tokens[N_ARCHES] = {
	SCMP_ARCH_X86_64, SCMP_ARCH_AARCH64,
};

static struct nsrun_policy policy;
static struct nsrun_program ours, theirs;
static char text[NSRUN_POLICY_TEXT_MAX];
static size_t text_len;

__attribute__((format(printf, 1, 2)))
static void
add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_len += (size_t)vsnprintf(text + text_len,
	    sizeof text - text_len, format, args);
	va_end(args);
	assert_true(text_len < sizeof text);
}

/* Every name it knows has the number of our rows. */
static void
test_numbers(void **state)
{
	unsigned int counts[N_ARCHES] = { 0 }, known = 0;

	(void)state;
	oracle_load();
	for (size_t i = 0; i < n_oracle_calls; i++) {
		const struct oracle_call *call = &oracle_calls[i];

		for (int a = 0; a < N_ARCHES; a++) {
			int nr = seccomp_syscall_resolve_name_arch(tokens[a],
			    call->name);

			counts[a] += call->nr[a] >= 0;
			if (nr == __NR_SCMP_ERROR)
				continue;
			known++;
			if ((nr < 0 ? -1 : nr) != call->nr[a])
				fail_msg("%s: %d, not %d", call->name, nr,
				    call->nr[a]);
		}
	}
	assert_int_equal(counts[X86_64], 383);
	assert_int_equal(counts[AARCH64], 325);
	assert_true(known > 700);
}

/* Every number it knows up to 469 is in our rows. */
static void
test_names(void **state)
{
	(void)state;
	oracle_load();
	for (int a = 0; a < N_ARCHES; a++) {
		for (int nr = 0; nr < 470; nr++) {
			const struct oracle_call *call =
			    oracle_find_nr(a, (uint32_t)nr);
			char *name = seccomp_syscall_resolve_num_arch(
			    tokens[a], nr);

			if (name && !call)
				fail_msg("%s: %d is %s", arch_names[a], nr,
				    name);
			if (name)
				assert_string_equal(name, call->name);
			free(name);
		}
	}
}

static uint64_t
pick_value(void)
{
	static const uint32_t halves[] = { 0, 0, 1, 2, 0x80000000, 0xffffffff };

	return (uint64_t)halves[random_below(6)] << 32 |
	    halves[random_below(6)];
}

/* One test, written for us and returned for libseccomp. */
static struct scmp_arg_cmp
make_test(unsigned int arg)
{
	uint64_t value = pick_value(), mask = random_next() | 1;

	switch (random_below(3)) {
	case 0:
		add("arg%u == %llu", arg, (unsigned long long)value);
		return (struct scmp_arg_cmp){ .arg = arg, .op = SCMP_CMP_EQ,
			.datum_a = value };
	case 1:
		add("arg%u != %llu", arg, (unsigned long long)value);
		return (struct scmp_arg_cmp){ .arg = arg, .op = SCMP_CMP_NE,
			.datum_a = value };
	default:
		value &= mask;
		add("arg%u & 0x%llx == %llu", arg, (unsigned long long)mask,
		    (unsigned long long)value);
		return (struct scmp_arg_cmp){ .arg = arg,
			.op = SCMP_CMP_MASKED_EQ, .datum_a = mask,
			.datum_b = value };
	}
}

/* A class for the call, or one to three tests and the default otherwise. */
static void
make_rule(scmp_filter_ctx ctx, const char *name, int nr)
{
	static const struct {
		const char	*word;
		uint32_t	action;
	} actions[] = {
		{ "allow", SCMP_ACT_ALLOW }, { "EPERM", SCMP_ACT_ERRNO(EPERM) },
		{ "EIO", SCMP_ACT_ERRNO(EIO) },
		{ "kill", SCMP_ACT_KILL_PROCESS },
	};
	struct scmp_arg_cmp tests[3];
	unsigned int n = random_below(3) ? 0 : 1 + random_below(3);
	unsigned int a = random_below(4);

	add("%s %s", actions[a].word, name);
	for (unsigned int i = 0; i < n; i++) {
		add(i ? " and " : " if ");
		tests[i] = make_test(2 * i + random_below(2));
	}
	if (n)
		add("\nENOSYS %s", name);
	add("\n");
	assert_int_equal(seccomp_rule_add_exact_array(ctx, actions[a].action,
	    nr, n, tests), 0);
}

/* The program of a libseccomp filter. */
static void
export(scmp_filter_ctx ctx)
{
	FILE *file = tmpfile();
	size_t n;

	assert_non_null(file);
	assert_int_equal(seccomp_export_bpf(ctx, fileno(file)), 0);
	rewind(file);
	n = fread(theirs.insns, sizeof theirs.insns[0], BPF_MAXINSNS, file);
	assert_true(n > 0 && n < BPF_MAXINSNS);
	theirs.n = (unsigned short)n;
	fclose(file);
}

static void
make_filters(int arch)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	struct nsrun_err err = NSRUN_ERR_INIT;

	assert_non_null(ctx);
	assert_int_equal(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS), 0);
	if (tokens[arch] != seccomp_arch_native()) {
		assert_int_equal(seccomp_arch_add(ctx, tokens[arch]), 0);
		assert_int_equal(seccomp_arch_remove(ctx,
		    seccomp_arch_native()), 0);
	}
	text_len = 0;
	add("filter f\narch %s else kill\ndefault ENOSYS\n", arch_names[arch]);
	for (size_t i = 0; i < n_oracle_calls; i++) {
		const struct oracle_call *call = &oracle_calls[i];
		int nr = seccomp_syscall_resolve_name(call->name);

		if (call->nr[arch] < 0 || nr == __NR_SCMP_ERROR ||
		    random_below(3) == 0)
			continue;
		make_rule(ctx, call->name, nr);
	}
	export(ctx);
	seccomp_release(ctx);
	if (nsrun_policy_parse(&policy, "p", text, text_len, &err) < 0 ||
	    nsrun_policy_emit(&policy, 0, (enum nsrun_arch)arch, &ours,
	    &err) < 0)
		fail_msg("%s: %s in\n%s", err.subject, err.call, text);
}

static uint32_t
run(const struct nsrun_program *program, const struct seccomp_data *data)
{
	struct bpf_sim sim;

	assert_int_equal(bpf_sim_run(program->insns, program->n, data, &sim),
	    0);
	return sim.result;
}

static unsigned long
compare(int arch)
{
	unsigned long runs = 0;

	for (int i = 0; i < 500 * 16; i++) {
		struct seccomp_data data = {
			.nr = i / 16, .arch = arch_tokens[arch],
		};

		if (i % 512 == 0)
			data.arch = arch_tokens[!arch];
		for (int a = 0; a < 6; a++)
			data.args[a] = pick_value();
		if (run(&ours, &data) != run(&theirs, &data))
			fail_msg("%s nr %d: 0x%x, not 0x%x in\n%s",
			    arch_names[arch], data.nr, run(&ours, &data),
			    run(&theirs, &data), text);
		runs++;
	}
	return runs;
}

static void
test_same_answers(void **state)
{
	unsigned long runs = 0;

	(void)state;
	oracle_load();
	for (uint64_t seed = 1; seed <= 20; seed++) {
		for (int a = 0; a < N_ARCHES; a++) {
			random_seed(seed);
			make_filters(a);
			runs += compare(a);
		}
	}
	print_message("%lu evaluations; the last: %u instructions, "
	    "libseccomp %u\n", runs, ours.n, theirs.n);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_same_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
