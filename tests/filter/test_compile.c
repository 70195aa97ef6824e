/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random policies, large ones among them, against a model of what they say.
 * The model is made first and the text written from it.
 */
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf_sim.h"
#include "policy/names.h"
#include "policy/policy.h"
#include "policy/sha256.h"
#include "random.h"

#define MAX_RULES 400
#define MAX_TESTS 2
#define MAX_VALUES 4

struct model_test {
	unsigned int	arg;
	int		low32, has_mask, negated;
	uint64_t	mask;
	uint64_t	values[MAX_VALUES];
	unsigned int	n;		/* 0: any bit of the mask */
};

struct model_rule {
	uint32_t		nr;
	uint32_t		action;
	struct model_test	tests[MAX_TESTS];
	unsigned int		n;
};

static struct model_rule rules[MAX_RULES];
static unsigned int n_rules;
static char text[NSRUN_POLICY_TEXT_MAX];
static size_t text_len;
static struct nsrun_policy policy;
static struct nsrun_program program;

static const struct {
	const char	*word;
	uint32_t	action;
} actions[] = {
	{ "allow", SECCOMP_RET_ALLOW }, { "kill", SECCOMP_RET_KILL_PROCESS },
	{ "success", SECCOMP_RET_ERRNO }, { "EPERM", SECCOMP_RET_ERRNO | 1 },
	{ "EINVAL", SECCOMP_RET_ERRNO | 22 },
	{ "4095", SECCOMP_RET_ERRNO | 4095 },
};

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

/* Few low halves and few high ones, so that values share them. */
static uint64_t
pick_value(void)
{
	static const uint32_t halves[] = {
		0, 0, 1, 2, 3, 0x80000000, 0xffffffff, 0x5412,
	};

	return (uint64_t)halves[random_below(8)] << 32 |
	    halves[random_below(8)];
}

static void
make_test(struct model_test *t, unsigned int arg)
{
	*t = (struct model_test){
		.arg = arg, .low32 = random_below(2) == 0,
		.has_mask = random_below(3) == 0, .mask = UINT64_MAX,
		.negated = random_below(2) == 0,
	};
	if (t->low32)
		t->mask = UINT32_MAX;
	if (t->has_mask)
		do
			t->mask &= random_next() & random_next();
		while (t->mask == 0);
	t->n = t->has_mask && random_below(3) == 0 ? 0 :
	    1 + random_below(MAX_VALUES);
	for (unsigned int i = 0; i < t->n; i++) {
		t->values[i] = pick_value() & t->mask;
		for (unsigned int j = 0; j < i; j++)
			if (t->values[j] == t->values[i])
				t->n = i;
	}
}

static void
write_test(const struct model_test *t)
{
	add("%sarg%u", t->low32 ? "low32 " : "", t->arg);
	if (t->has_mask)
		add(" & 0x%llx", (unsigned long long)t->mask);
	if (t->n == 1)
		add(t->negated ? " !=" : " ==");
	else if (t->n > 1)
		add(t->negated ? " not in" : " in");
	for (unsigned int i = 0; i < t->n; i++)
		add(random_below(2) ? " %llu" : " 0%llo",
		    (unsigned long long)t->values[i]);
}

static void
make_rule(uint32_t nr, unsigned int n_tests)
{
	struct model_rule *r = &rules[n_rules++];
	size_t a = random_below(sizeof actions / sizeof actions[0]);

	*r = (struct model_rule){
		.nr = nr, .action = actions[a].action, .n = n_tests,
	};
	add("%s c=%u", actions[a].word, nr);
	for (unsigned int i = 0; i < n_tests; i++) {
		make_test(&r->tests[i], 3 * i + random_below(3));
		add(i == 0 ? " if " : random_below(2) ? " and " : "\n and ");
		write_test(&r->tests[i]);
	}
	add("\n");
}

/* n calls, some neighbours, some far apart, most without tests. */
static void
make_policy(unsigned int n)
{
	uint32_t nr = 0;

	n_rules = 0;
	text_len = 0;
	add("filter f\narch x86_64 aarch64 else kill\ndefault ENOSYS\n");
	while (n-- > 0) {
		nr += random_below(40) ? random_below(3) :
		    random_below(1 << 24);
		for (unsigned int i = random_below(4); i-- > 1;)
			make_rule(nr, 1 + random_below(MAX_TESTS));
		make_rule(nr, 0);
		nr++;
	}
}

static int
model_holds(const struct model_test *t, const uint64_t args[6])
{
	uint64_t value = args[t->arg] & t->mask;

	if (t->n == 0)
		return value != 0;
	for (unsigned int i = 0; i < t->n; i++)
		if (value == t->values[i])
			return !t->negated;
	return t->negated;
}

static uint32_t
model_answer(uint32_t nr, const uint64_t args[6])
{
	for (unsigned int i = 0; i < n_rules; i++) {
		int holds = rules[i].nr == nr;

		for (unsigned int j = 0; holds && j < rules[i].n; j++)
			holds = model_holds(&rules[i].tests[j], args);
		if (holds)
			return rules[i].action;
	}
	return SECCOMP_RET_ERRNO | 38;
}

static void
compare(enum nsrun_arch arch)
{
	uint64_t args[6];

	for (unsigned int i = 0; i < 3000; i++) {
		struct seccomp_data data = { .arch = nsrun_arch_audit(arch) };
		uint32_t nr = rules[random_below(n_rules)].nr;
		struct bpf_sim sim;

		nr += random_below(8) ? 0 : random_below(3) - 1;
		data.nr = (int)nr;
		for (int a = 0; a < 6; a++)
			data.args[a] = args[a] = pick_value() |
			    (random_below(4) ? 0 : random_next());
		assert_int_equal(bpf_sim_run(program.insns, program.n, &data,
		    &sim), 0);
		if (sim.result != model_answer(nr, args))
			fail_msg("nr %u: 0x%x, not 0x%x in\n%s", nr,
			    sim.result, model_answer(nr, args), text);
	}
}

static void
test_random(void **state)
{
	unsigned int accepted = 0, largest = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		random_seed(seed);
		make_policy(1 + random_below(seed % 10 ? 30 : 150));
		if (nsrun_policy_parse(&policy, "p", text, text_len,
		    &err) < 0) {
			/* Two random tests may happen to cover one another. */
			if (!strstr(err.call, "never reached"))
				fail_msg("%s: %s in\n%s", err.subject,
				    err.call, text);
			continue;
		}
		accepted++;
		for (int a = 0; a < NSRUN_N_ARCHES; a++) {
			assert_int_equal(nsrun_policy_emit(&policy, 0,
			    (enum nsrun_arch)a, &program, &err), 0);
			compare((enum nsrun_arch)a);
		}
		if (program.n > largest)
			largest = program.n;
	}
	print_message("%u policies, up to %u instructions\n", accepted,
	    largest);
	assert_true(accepted > 200);
	assert_true(largest > 1000);	/* jumps of 255 do not reach that far */
}

static void
check_digest(const char *data, size_t len, const char *wanted)
{
	uint8_t digest[NSRUN_SHA256_SIZE];
	char hex[2 * NSRUN_SHA256_SIZE + 1];

	nsrun_sha256(data, len, digest);
	for (int i = 0; i < NSRUN_SHA256_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	assert_string_equal(hex, wanted);
}

/* The examples of FIPS 180-4, and lengths around the end of a block. */
static void
test_sha256(void **state)
{
	static char a[1000000];

	(void)state;
	memset(a, 'a', sizeof a);
	check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855");
	check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	check_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    56, "248d6a61d20638b8e5c026930c3e6039"
	    "a33ce45964ff2167f6ecedd419db06c1");
	check_digest(a, 55, "9f4390f8d30c2dd92ec9f095b65e2b9a"
	    "e9b0a925a5258e241c9f1e910f734318");
	check_digest(a, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209"
	    "f439851db43d0ba5997337df154668eb");
	check_digest(a, sizeof a, "cdc76e5c9914fb9281a1c7e284d73e67"
	    "f1809a48a497200e046d39ccc7112cd0");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
