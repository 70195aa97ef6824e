/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Malformed policies: each is refused, at the right place and with words. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf_sim.h"
#include "policy/policy.h"

/* Three lines that every filter begins with: a rule stands in line 4. */
#define HEAD "filter f\narch x86_64 aarch64 else kill\ndefault ENOSYS\n"
#define X86 "filter f\narch x86_64 else kill\ndefault ENOSYS\n"
#define N64 "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

static struct nsrun_policy policy;
static struct nsrun_program program;

struct error_row {
	const char	*text;
	const char	*place;
	const char	*words;
};

static const struct error_row lexer_rows[] = {
	{ "filter f\x01", "p:1:9", "a byte that is not printable ASCII" },
	{ "# \xc3\xa9\n", "p:1:3", "a byte that is not printable ASCII" },
	{ "filter f\r\n", "p:1:9", "a byte that is not printable ASCII" },
	{ "filter " N64, "p:1:8", "a word of more than 63 bytes" },
};

static const struct error_row head_rows[] = {
	{ "", "p:1:1", "a filter without rules" },
	{ "# nothing\n\n", "p:3:1", "a filter without rules" },
	{ HEAD, "p:4:1", "a filter without rules" },
	{ "fliter f\n", "p:1:1", "neither a keyword nor an action: fliter" },
	{ "filter\n", "p:1:7", "a name is missing" },
	{ "filter F\n", "p:1:8", "not a name: F" },
	{ "filter -f\n", "p:1:8", "not a name: -f" },
	{ "filter a\"b\n", "p:1:8", "not a name: a\"b" },
	{ "filter a b\n", "p:1:10", "a word too many: b" },
	{ "filter nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\n", "p:1:8",
	    "a name of more than 31 bytes: nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" },
	{ "filter f\nfilter g\n", "p:2:8", "a second name of the filter: g" },
	{ "arch\n", "p:1:5", "expected \"else kill\"" },
	{ "arch x86_64\n", "p:1:12", "expected \"else kill\"" },
	{ "arch else kill\n", "p:1:11", "no architecture: kill" },
	{ "arch riscv64 else kill\n", "p:1:6",
	    "unknown architecture: riscv64" },
	{ "arch x86_64 x86_64 else kill\n", "p:1:13",
	    "the architecture twice: x86_64" },
	{ "arch x86_64 else allow\n", "p:1:18", "expected \"kill\": allow" },
	{ "arch x86_64 else\n", "p:1:17", "expected \"kill\"" },
	{ "arch x86_64 else kill\narch aarch64 else kill\n", "p:2:6",
	    "a second list of architectures: aarch64" },
	{ "default\n", "p:1:8", "an action is missing" },
	{ "default EWHAT\n", "p:1:9", "unknown action: EWHAT" },
	{ "default success\n", "p:1:9", "not a default: success" },
	{ "default 0\n", "p:1:9", "an errno is 1 to 4095: 0" },
	{ "default 4096\n", "p:1:9", "an errno is 1 to 4095: 4096" },
	{ "default 1x\n", "p:1:9", "not a number: 1x" },
	{ "default allow\ndefault allow\n", "p:2:9",
	    "a second default: allow" },
	{ "arch x86_64 else kill\ndefault allow\nEPERM mount\n", "p:3:1",
	    "a rule before \"filter\", \"arch\" and \"default\": EPERM" },
	{ "filter f\ndefault allow\nEPERM mount\n", "p:3:1",
	    "a rule before \"filter\", \"arch\" and \"default\": EPERM" },
	{ "filter f\narch x86_64 else kill\nallow read", "p:3:1",
	    "a rule before \"filter\", \"arch\" and \"default\": allow" },
	{ HEAD "variant\n", "p:4:8", "a name is missing" },
	{ HEAD "variant a\nvariant a\n", "p:5:9", "a second variant: a" },
	{ HEAD "variant a\nvariant b\nvariant c\nvariant d\nvariant e\n",
	    "p:8:9", "too many variants: e" },
};

static const struct error_row call_rows[] = {
	{ HEAD "EPERM\n", "p:4:6", "a rule without a call" },
	{ HEAD "EPERM if arg0 == 1\n", "p:4:19", "a rule without a call" },
	{ HEAD "EPREM mount\n", "p:4:1",
	    "neither a keyword nor an action: EPREM" },
	{ HEAD "and arg0 == 1\n", "p:4:1",
	    "neither a keyword nor an action: and" },
	{ HEAD "EPERM mount\n\tumuont\n", "p:5:2",
	    "neither a keyword nor an action: umuont" },
	{ HEAD "EPERM mount umuont2 chroot\n", "p:4:13",
	    "unknown system call: umuont2" },
	{ HEAD "EPERM Mount\n", "p:4:7", "not the name of a call: Mount" },
	{ HEAD "EPERM =5\n", "p:4:7", "not the name of a call: =5" },
	{ HEAD "EPERM socketcall\n", "p:4:7",
	    "no architecture has it: socketcall" },
	{ HEAD "EPERM new=\n", "p:4:7", "not the number of a call: new=" },
	{ HEAD "EPERM new=x\n", "p:4:7", "not the number of a call: new=x" },
	{ HEAD "EPERM new=AF_UNIX\n", "p:4:7",
	    "not the number of a call: new=AF_UNIX" },
	{ HEAD "EPERM new=-1\n", "p:4:7", "not the number of a call: new=-1" },
	{ HEAD "EPERM new=0x40000000\n", "p:4:7",
	    "not the number of a call: new=0x40000000" },
	{ HEAD "EPERM new=18446744073709551616\n", "p:4:7",
	    "not the number of a call: new=18446744073709551616" },
	{ HEAD "EPERM new=500@riscv64\n", "p:4:7",
	    "not for that architecture: new=500@riscv64" },
	{ X86 "EPERM new=500@aarch64\n", "p:4:7",
	    "not for that architecture: new=500@aarch64" },
	{ HEAD "EPERM mount=164\n", "p:4:7",
	    "libseccomp disagrees: mount=164" },
	{ HEAD "EPERM mount=165@x86_64 mount=40@aarch64\n"
	    "EPERM chroot=50@aarch64\n", "p:5:7",
	    "libseccomp disagrees: chroot=50@aarch64" },
	{ HEAD "EPERM mount\nEPERM chroot mount\n", "p:5:14",
	    "classified already in line: 4" },
	{ HEAD "EPERM mount mount\n", "p:4:13",
	    "classified already in line: 4" },
	{ HEAD "EPERM mount\nENOSYS mount if arg0 == 1\n", "p:5:8",
	    "classified already in line: 4" },
	{ HEAD "EPERM mount\nallow new=165\n", "p:5:7",
	    "classified already in line: 4" },
	{ HEAD "EPERM mount\nvariant a\nvariant b\nallow mount\n", "p:7:7",
	    "classified already in line: 4" },
	{ HEAD "EPERM ioctl if arg1 == 1\n", "p:4:7",
	    "no rule for the other arguments" },
	{ HEAD "EPERM ioctl if arg1 == 1\nvariant a\nallow ioctl\nvariant b\n",
	    "p:4:7", "no rule for the other arguments" },
	{ HEAD "EPERM ioctl if arg1 == 1\nEIO ioctl if arg1 == 1\n"
	    "allow ioctl\n", "p:5:5", "never reached after line: 4" },
	{ HEAD "EPERM ioctl if arg1 in 1 2 3\n"
	    "EIO ioctl if arg1 in 3 1 and arg0 == 0\nallow ioctl\n", "p:5:5",
	    "never reached after line: 4" },
	{ HEAD "EPERM ioctl if arg1 not in 1 2\nEIO ioctl if arg1 == 3\n"
	    "allow ioctl\n", "p:5:5", "never reached after line: 4" },
	{ HEAD "EPERM ioctl if arg1 != 1\nEIO ioctl if arg1 not in 2 1\n"
	    "allow ioctl\n", "p:5:5", "never reached after line: 4" },
};

static const struct error_row test_rows[] = {
	{ HEAD "EPERM ioctl if\n", "p:4:15", "a test is missing" },
	{ HEAD "EPERM ioctl if low32\n", "p:4:21", "a test is missing" },
	{ HEAD "EPERM ioctl if arg0 == 1 and\n", "p:4:29",
	    "a test is missing" },
	{ HEAD "EPERM ioctl if arg6 == 1\n", "p:4:16",
	    "expected arg0 to arg5: arg6" },
	{ HEAD "EPERM ioctl if arg == 1\n", "p:4:16",
	    "expected arg0 to arg5: arg" },
	{ HEAD "EPERM ioctl if arg10 == 1\n", "p:4:16",
	    "expected arg0 to arg5: arg10" },
	{ HEAD "EPERM ioctl if arg1\n", "p:4:20", "expected a comparison" },
	{ HEAD "EPERM ioctl if arg1 = 1\n", "p:4:21",
	    "expected a comparison: =" },
	{ HEAD "EPERM ioctl if arg1 & 1 and\n", "p:4:28",
	    "a test is missing" },
	{ HEAD "EPERM ioctl if arg1 and arg2 == 1\n", "p:4:21",
	    "expected a comparison: and" },
	{ HEAD "EPERM ioctl if arg1 ==\n", "p:4:23", "a value is missing" },
	{ HEAD "EPERM ioctl if arg1 == 1 2\n", "p:4:26",
	    "a word too many: 2" },
	{ HEAD "EPERM ioctl if arg1 in\n", "p:4:23", "a value is missing" },
	{ HEAD "EPERM ioctl if arg1 not 1\n", "p:4:25",
	    "expected \"in\": 1" },
	{ HEAD "EPERM ioctl if arg1 not\n", "p:4:24", "expected \"in\"" },
	{ HEAD "EPERM ioctl if arg1 == TIOCSIT\n", "p:4:24",
	    "unknown constant: TIOCSIT" },
	{ HEAD "EPERM ioctl if arg1 == -1\n", "p:4:24",
	    "unknown constant: -1" },
	{ HEAD "EPERM ioctl if arg1 & 1| == 1\n", "p:4:23",
	    "unknown constant: 1|" },
	{ HEAD "EPERM ioctl if arg1 == 08\n", "p:4:24", "not a number: 08" },
	{ HEAD "EPERM ioctl if arg1 == 0x\n", "p:4:24", "not a number: 0x" },
	{ HEAD "EPERM ioctl if arg1 == 1a\n", "p:4:24", "not a number: 1a" },
	{ HEAD "EPERM ioctl if arg1 == 18446744073709551616\n", "p:4:24",
	    "a number of more than 64 bits: 18446744073709551616" },
	{ HEAD "EPERM ioctl if arg1 == 0x10000000000000000\n", "p:4:24",
	    "a number of more than 64 bits: 0x10000000000000000" },
	{ HEAD "EPERM ioctl if low32 arg1 == 0x100000000\n", "p:4:30",
	    "bits outside the mask: 0x100000000" },
	{ HEAD "EPERM ioctl if low32 arg1 & 0x100000000\n", "p:4:29",
	    "bits outside the mask: 0x100000000" },
	{ HEAD "EPERM ioctl if arg1 & 3 == 4\n", "p:4:28",
	    "bits outside the mask: 4" },
	{ HEAD "EPERM ioctl if arg1 & 0\n", "p:4:23",
	    "a mask without bits: 0" },
	{ HEAD "EPERM ioctl if arg1 in 1 2 0x1\n", "p:4:28",
	    "the value twice: 0x1" },
	{ HEAD "EPERM ioctl if arg1 == 1\n\n    and arg1 != 2\n", "p:6:9",
	    "tests the same bits twice: arg1" },
};

static void
refuse(const struct error_row *row)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_policy_parse(&policy, "p", row->text, strlen(row->text),
	    &err) == 0)
		fail_msg("accepted: %s", row->text);
	assert_int_equal(err.step, NSRUN_STEP_POLICY);
	assert_int_equal(err.errnum, 0);
	if (strcmp(err.subject, row->place) || strcmp(err.call, row->words))
		fail_msg("%s: %s\ninstead of %s: %s\nfor:\n%s", err.subject,
		    err.call, row->place, row->words, row->text);
}

static void
test_rows_refused(void **state)
{
	(void)state;
#define REFUSE(rows) \
	for (size_t i = 0; i < sizeof (rows) / sizeof (rows)[0]; i++) \
		refuse(&(rows)[i])
	REFUSE(lexer_rows);
	REFUSE(head_rows);
	REFUSE(call_rows);
	REFUSE(test_rows);
}

/* The other side of rows above. */
static void
test_accepted(void **state)
{
	static const char *const texts[] = {
		X86 "allow read",
		HEAD "EPERM ioctl if arg1 != 1\nEIO ioctl if arg1 in 1 2\n"
		    "allow ioctl\n",
		HEAD "EPERM ioctl if arg1 == 1\nEIO ioctl if arg1 in 1 2\n"
		    "allow ioctl\n",
		HEAD "EPERM ioctl if arg1 not in 1 2\nEIO ioctl if arg1 != 1\n"
		    "allow ioctl\n",
		HEAD "EPERM ioctl if arg1 == 1\nEIO ioctl if arg2 == 1\n"
		    "EINVAL ioctl if low32 arg1 == 1\nallow ioctl\n",
		HEAD "EPERM ioctl if arg1 == 1 and arg2 == 1\n"
		    "EIO ioctl if arg1 == 1\nallow ioctl\n",
		HEAD "EPERM ioctl if arg1 & 3|1 == 0x3|02 # 3\n\n \n"
		    "\tand arg2 & AF_UNIX and arg3 == 18446744073709551615\n"
		    "allow ioctl\n",
		HEAD "EPERM new=500@x86_64 newer=500@aarch64\n"
		    "EPERM mount=165@x86_64\n",
		HEAD "variant a\nEPERM mount\nvariant b\nENOSYS mount\n",
		HEAD "4095 new=0x3fffffff\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		if (nsrun_policy_parse(&policy, "p", texts[i],
		    strlen(texts[i]), &err) < 0)
			fail_msg("%s: %s in\n%s", err.subject, err.call,
			    texts[i]);
	}
}

/* HEAD, then a rule for one call after another. */
static char *
repeat(const char *rest, unsigned int times)
{
	static char text[NSRUN_POLICY_TEXT_MAX + 4096];
	size_t n = (size_t)snprintf(text, sizeof text, "%s", HEAD);

	for (unsigned int i = 0; i < times && n < sizeof text - 128; i++)
		n += (size_t)snprintf(text + n, sizeof text - n,
		    "EPERM call=%u%s", 500 + i, rest);
	return text;
}

static void
test_limits(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct error_row rules = {
		repeat("\n", 1025), "p:1028:7", "too many rules: call=1524",
	};

	(void)state;
	refuse(&rules);
	assert_int_equal(nsrun_policy_parse(&policy, "p", repeat("\n", 1024),
	    strlen(repeat("\n", 1024)), &err), 0);
	rules = (struct error_row){
		repeat(" if arg0 == 1\n", 257), "p:260:19",
		"too many tests: arg0",
	};
	refuse(&rules);
	rules = (struct error_row){
		repeat(" if arg0 in 0 1 2 3 4 5 6 7 8\n", 200), "p:117:41",
		"too many values: 7",
	};
	refuse(&rules);
	rules = (struct error_row){
		repeat("                              # long\n", 2000), "p:1:1",
		"more than 64 KiB",
	};
	refuse(&rules);
}

/* Nothing is emitted for what the text does not speak of. */
static void
test_emit_refused(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	static const char text[] = X86 "allow read\n";

	(void)state;
	assert_int_equal(nsrun_policy_parse(&policy, "p", text,
	    strlen(text), &err), 0);
	assert_int_equal(nsrun_policy_emit(&policy, 0, NSRUN_ARCH_X86_64,
	    &program, &err), 0);
	assert_int_equal(nsrun_policy_emit(&policy, 0, NSRUN_ARCH_AARCH64,
	    &program, &err), -1);
	assert_string_equal(err.call, "no such variant or architecture");
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_int_equal(nsrun_policy_emit(&policy, 1, NSRUN_ARCH_X86_64,
	    &program, &err), -1);
}

/* A table that nobody checked: what it leaves open is the default. */
static void
test_unchecked(void **state)
{
	static const char text[] = X86 "EPERM read if arg0 == 1\nallow read\n";
	struct seccomp_data data = { .arch = AUDIT_ARCH_X86_64 };
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct bpf_sim sim;

	(void)state;
	assert_int_equal(nsrun_policy_parse(&policy, "p", text,
	    strlen(text), &err), 0);
	policy.n_rules--;
	assert_int_equal(nsrun_policy_check(&policy, "p", &err), -1);
	assert_int_equal(nsrun_policy_emit(&policy, 0, NSRUN_ARCH_X86_64,
	    &program, &err), 0);
	assert_int_equal(bpf_sim_run(program.insns, program.n, &data, &sim),
	    0);
	assert_int_equal(sim.result, SECCOMP_RET_ERRNO | ENOSYS);
}

/* Four calls, each compared with more and more values: one instruction each. */
static void
test_program_limit(void **state)
{
	unsigned int largest = 0, n;

	(void)state;
	memset(&policy, 0, sizeof policy);
	policy.arches = 1U << NSRUN_ARCH_X86_64;
	policy.n_variants = 1;
	policy.n_rules = policy.n_conds = 4;
	for (unsigned int i = 0; i < NSRUN_POLICY_VALUES_MAX; i++)
		policy.values[i] = i;
	for (n = 3900; n < 4 * NSRUN_POLICY_VALUES_MAX; n++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		for (unsigned int i = 0; i < 4; i++) {
			policy.conds[i] = (struct nsrun_policy_cond){
				.mask = UINT32_MAX, .n = (n + i) / 4,
			};
			policy.rules[i] = (struct nsrun_policy_rule){
				.nr = { 2 * (int)i, -1 }, .first = i,
				.action = SECCOMP_RET_ALLOW, .n_conds = 1,
			};
		}
		if (nsrun_policy_emit(&policy, 0, NSRUN_ARCH_X86_64, &program,
		    &err) < 0) {
			assert_string_equal(err.call,
			    "more than 4096 instructions");
			break;
		}
		largest = program.n;
	}
	assert_true(n < 4 * NSRUN_POLICY_VALUES_MAX);
	assert_int_equal(largest, BPF_MAXINSNS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_refused),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_emit_refused),
		cmocka_unit_test(test_unchecked),
		cmocka_unit_test(test_program_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
