/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of calls is in order, complete and agrees with libseccomp. */
#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kafel/calls.h"

static const uint32_t tokens[KAFEL_N_ARCHES] = {
	[KAFEL_X86_64] = SCMP_ARCH_X86_64, [KAFEL_AARCH64] = SCMP_ARCH_AARCH64,
};

/* As unistd.h and libseccomp call it. */
static const char *
user_name(const char *name)
{
	static const char *const names[][2] = {
		{ "newfstat", "fstat" }, { "newlstat", "lstat" },
		{ "newstat", "stat" }, { "newuname", "uname" },
		{ "sendfile64", "sendfile" }, { "sysctl", "_sysctl" },
		{ "umount", "umount2" },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return name;
}

static void
test_numbers(void **state)
{
	unsigned int known = 0;

	(void)state;
	for (size_t i = 0; i < kafel_n_calls; i++)
		for (int a = 0; a < KAFEL_N_ARCHES; a++) {
			const struct kafel_call *call = &kafel_calls[i];
			int nr = seccomp_syscall_resolve_name_arch(tokens[a],
			    user_name(call->name));

			/* Older than a call, or of another mind. */
			if (nr < 0 || call->nr[a] < 0)
				continue;
			known++;
			if (nr != call->nr[a])
				fail_msg("%s is %d", call->name, nr);
		}
	print_message("%u numbers compared\n", known);
	assert_true(known > 600);
}

static int
has_number(enum kafel_arch arch, int nr)
{
	for (size_t i = 0; i < kafel_n_calls; i++)
		if (kafel_calls[i].nr[arch] == nr)
			return 1;
	return 0;
}

/* No number up to the last one of today without a name. */
static void
test_complete(void **state)
{
	(void)state;
	for (int nr = 0; nr <= 469; nr++) {
		if (nr < 337 || nr > 423)
			assert_true(has_number(KAFEL_X86_64, nr));
		/* 244 to 259 are of single architectures, 296 to 402 of 32. */
		if ((nr < 244 || nr > 259) && (nr < 295 || nr > 423))
			assert_true(has_number(KAFEL_AARCH64, nr));
	}
}

static void
check_args(const struct kafel_call *call)
{
	int end = 0;

	for (int i = 0; i < KAFEL_ARGS; i++) {
		const struct kafel_arg *arg = &call->args[i];

		end |= !*arg->name;
		assert_int_equal(end, !*arg->name);
		for (int j = 0; *arg->name && j < i; j++) {
			assert_string_not_equal(arg->name, call->args[j].name);
			if (*arg->other)
				assert_string_not_equal(arg->other,
				    call->args[j].name);
		}
	}
}

static void
test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < kafel_n_calls; i++) {
		const struct kafel_call *call = &kafel_calls[i];
		int order = i ? strcmp(call[-1].name, call->name) : -1;

		check_args(call);
		if (order < 0)
			continue;
		/* Two lines of one call are of different architectures. */
		assert_int_equal(order, 0);
		for (int a = 0; a < KAFEL_N_ARCHES; a++)
			assert_true(call->nr[a] < 0 || call[-1].nr[a] < 0);
	}
	for (size_t i = 0; i < kafel_n_calls; i++)
		for (int a = 0; a < KAFEL_N_ARCHES; a++)
			if (kafel_calls[i].nr[a] >= 0)
				assert_ptr_equal(kafel_call_find(
				    (enum kafel_arch)a, kafel_calls[i].name),
				    &kafel_calls[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
