/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The embedded filters against the rows and the oracle of this directory. */
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bpf_sim.h"
#include "oracle.h"
#include "policy/embedded.h"
#include "policy/policy.h"
#include "policy/program.h"
#include "random.h"

#define N_OF(a) (sizeof (a) / sizeof (a)[0])

/* The filter that the rows are about. */
static const char *filter_name;

/* The variant "-" is that of a filter without variants. */
static const struct nsrun_filter *
find(const char *name, const char *variant, int arch)
{
	const struct nsrun_filter *f = nsrun_filter_find(name,
	    *variant == '-' ? "" : variant, arch_tokens[arch]);

	if (!f)
		fail_msg("no filter %s %s %s", name, variant, arch_names[arch]);
	return f;
}

static struct bpf_sim
run(const struct nsrun_filter *f, const struct seccomp_data *data)
{
	struct bpf_sim sim;

	if (bpf_sim_run(f->insns, f->n_insns, data, &sim) < 0)
		fail_msg("%s %s: invalid program", f->name, f->variant);
	return sim;
}

static int
parse_call(const char *place, const char *word, int arch)
{
	const struct oracle_call *call = oracle_find(word);

	if (!call)
		return (int)strtoul(word, NULL, 0);
	if (call->nr[arch] < 0)
		fail_msg("%s: %s has no %s", place, arch_names[arch], word);
	return call->nr[arch];
}

static int
selects(const char *word, const char *name)
{
	return strcmp(word, name) == 0 ||
	    (strcmp(word, "any") == 0 && *name != '-');
}

static int
check_answer(const char *place, const char *variant, int arch,
    const struct seccomp_data *data, uint32_t answer)
{
	uint32_t result = run(find(filter_name, variant, arch), data).result;

	if (result != answer)
		fail_msg("%s: %s %s: 0x%x, not 0x%x", place, arch_names[arch],
		    variant, result, answer);
	return 1;
}

/* ARCH VARIANT CALL [argN=VALUE]... -> ANSWER */
static void
check_row(const char *place, char *words[ROW_WORDS_MAX], size_t n)
{
	static const char *const variants[] = { "denied", "isolated", "-" };
	struct seccomp_data data = { 0 };
	uint32_t answer;
	int runs = 0;

	assert_true(n >= 5 && strcmp(words[n - 2], "->") == 0);
	answer = rows_answer(place, words[n - 1]);
	for (size_t i = 3; i < n - 2; i++) {
		assert_true(strncmp(words[i], "arg", 3) == 0);
		assert_true(words[i][3] < '6' && words[i][4] == '=');
		data.args[words[i][3] - '0'] = rows_value(place, words[i] + 5);
	}
	for (int a = 0; a < N_ARCHES; a++) {
		if (!selects(words[0], arch_names[a]))
			continue;
		data.arch = arch_tokens[a];
		data.nr = parse_call(place, words[2], a);
		for (size_t v = 0; v < N_OF(variants); v++)
			if (selects(words[1], variants[v]))
				runs += check_answer(place, variants[v], a,
				    &data, answer);
	}
	assert_true(runs > 0);
}

static void
test_rows(void **state)
{
	(void)state;
	oracle_load();
	filter_name = "seccomp-1";
	assert_true(rows_read("seccomp-1.rows", check_row) > 150);
	filter_name = "nosetid-1";
	assert_true(rows_read("nosetid-1.rows", check_row) > 50);
	filter_name = "nosetid-2";
	assert_true(rows_read("nosetid-1.rows", check_row) > 50);
	assert_true(rows_read("nosetid-2.rows", check_row) > 3);
	filter_name = "nesting-1";
	assert_true(rows_read("nesting-1.rows", check_row) > 50);
}

/* Everything that a rule compares with, its neighbours, and high halves. */
static uint64_t
pick(void)
{
	static const uint64_t values[] = {
		0, 0, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 15, 16, 17, 34, 35, 36, 58,
		59, 60, 262, 0x11, 0x80002, 0x800, 0x801, 0x80805, 0x5411,
		0x5412, 0x5413, 0x541c, 0x541d, 0x541e, 0x5423, 0x5424, 0x20000,
		0x40000, 0x40008, 0x60000, 0x2000000, 0x4000000, 0x8000000,
		0x10000000, 0x20000000, 0x40000000, 0x80000000, 0x7e020000,
		0x81fdffff, 0x3d0f00, 0xffffffff, 0x7fffffff, 02000, 04000,
		06000, 04755, 02755, 0755, 01777, 0100, 0102, 020000000,
		020200002, 0x7ffd12345678,
	};
	static const uint64_t high[] = {
		1ULL << 32, 1ULL << 63, 0xffffULL << 32,
	};
	uint64_t value = values[random_below(N_OF(values))];

	switch (random_below(8)) {
	case 0:
		return value | high[random_below(N_OF(high))];
	case 1:
		return value | random_next();
	default:
		return value;
	}
}

struct walk {
	const struct nsrun_filter	*filter;
	int				arch;
	int				variant;	/* -N: nosetid-N */
	int				nests;		/* nesting-1 */
	unsigned long			runs;
};

static void
compare(struct walk *w, const struct seccomp_data *data)
{
	uint32_t result = run(w->filter, data).result;
	uint32_t wanted = w->variant < 0 ?
	    oracle_nosetid(w->arch, -w->variant, data) : w->nests ?
	    oracle_nesting(w->arch, w->variant, data) :
	    oracle_seccomp(w->arch, w->variant, data);

	w->runs++;
	if (result != wanted)
		fail_msg("%s %s %s: arch 0x%x nr %u args %llx %llx %llx %llx "
		    "%llx %llx: 0x%x, not 0x%x", w->filter->name,
		    w->filter->variant, arch_names[w->arch], data->arch,
		    (unsigned int)data->nr, data->args[0], data->args[1],
		    data->args[2], data->args[3], data->args[4], data->args[5],
		    result, wanted);
}

static void
compare_number(struct walk *w, uint32_t nr, int n_vectors)
{
	static const uint32_t tokens[] = {
		AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64,
		AUDIT_ARCH_ARM, 0,
	};
	struct seccomp_data data = { .nr = (int)nr };

	for (int i = 0; i < n_vectors; i++) {
		for (size_t t = 0; t < N_OF(tokens); t++) {
			data.arch = tokens[t];
			compare(w, &data);
		}
		for (int a = 0; a < 6; a++)
			data.args[a] = pick();
		data.instruction_pointer = random_next();
	}
}

static unsigned long
walk(const struct nsrun_filter *filter, int arch, int variant)
{
	static const uint32_t bounds[] = {
		0x3ffffffe, 0x3fffffff, 0x7fffffff, 0x80000000, 0xbfffffff,
		0xc0000000, 0xfffffffe, 0xffffffff, 0x10000, 0x1000000,
	};
	struct walk w = {
		.filter = filter, .arch = arch, .variant = variant,
		.nests = strcmp(filter->name, "nesting-1") == 0,
	};

	for (uint32_t nr = 0; nr < 1100; nr++) {
		const struct oracle_call *call = oracle_find_nr(arch, nr);
		int has_rules = call && (variant < 0 || w.nests ||
		    call->by_args[variant]);

		compare_number(&w, nr, has_rules ? w.nests ? 400 : 4000 : 16);
		compare_number(&w, nr | 0x40000000, 16);
		compare_number(&w, nr | 0x80000000, 16);
	}
	for (size_t i = 0; i < N_OF(bounds); i++)
		compare_number(&w, bounds[i], 16);
	return w.runs;
}

static void
test_walk(void **state)
{
	unsigned long runs = 0;

	(void)state;
	oracle_load();
	random_seed(1);
	for (int a = 0; a < N_ARCHES; a++) {
		for (int v = 0; v < N_VARIANTS; v++) {
			runs += walk(find("seccomp-1", variant_names[v], a),
			    a, v);
			runs += walk(find("nesting-1", variant_names[v], a),
			    a, v);
		}
		runs += walk(find("nosetid-1", "-", a), a, -1);
		runs += walk(find("nosetid-2", "-", a), a, -2);
	}
	print_message("%lu evaluations, 0 differences\n", runs);
}

/* Only a call with argument rules loads an argument: the kernel's bitmap. */
static void
test_bitmap(void **state)
{
	unsigned int with_rules[N_VARIANTS] = { 0 };

	(void)state;
	oracle_load();
	for (int a = 0; a < N_ARCHES; a++) {
		for (int v = 0; v < N_VARIANTS; v++) {
			struct seccomp_data data = { .arch = arch_tokens[a] };

			for (data.nr = 0; data.nr < 1100; data.nr++) {
				const struct oracle_call *call =
				    oracle_find_nr(a, (uint32_t)data.nr);
				int by_args = call && call->by_args[v];

				assert_int_equal(by_args, run(find("seccomp-1",
				    variant_names[v], a), &data).arg_loads > 0);
				with_rules[v] += (unsigned int)by_args;
			}
		}
	}
	assert_int_equal(with_rules[DENIED], 2 * 20);
	assert_int_equal(with_rules[ISOLATED], 2 * 21);
}

/* Each call of the rows is named by the text: no class is the default. */
static void
check_explicit(const char *name)
{
	static struct nsrun_policy policy;
	const struct nsrun_policy_rule *rules[NSRUN_POLICY_RULES_MAX];
	const struct nsrun_policy_text *t =
	    nsrun_policy_text_find("filter", name);
	struct nsrun_err err = NSRUN_ERR_INIT;

	assert_int_equal(nsrun_policy_parse(&policy, t->name, t->text,
	    strlen(t->text), &err), 0);
	for (int a = 0; a < N_ARCHES; a++) {
		for (unsigned int v = 0; v < policy.n_variants; v++) {
			unsigned int n = nsrun_policy_select(&policy, v,
			    (enum nsrun_arch)a, rules), n_calls = 0;

			for (unsigned int i = 0; i < n; i++)
				n_calls += i + 1 == n || rules[i]->nr[a] !=
				    rules[i + 1]->nr[a];
			assert_int_equal(n_calls, a == X86_64 ? 383 : 325);
		}
	}
}

static void
test_explicit(void **state)
{
	(void)state;
	oracle_load();
	check_explicit("seccomp-1");
	check_explicit("nesting-1");
}

static void
test_size(void **state)
{
	const struct nsrun_filter *f;
	size_t n = nsrun_filters(&f);

	(void)state;
	assert_int_equal(n, 12);
	for (; n-- > 0; f++) {
		unsigned int longest = bpf_sim_longest(f->insns, f->n_insns);

		print_message("%s %s 0x%x: %u instructions, longest path %u\n",
		    f->name, f->variant, f->audit_arch, f->n_insns, longest);
		assert_in_range(f->n_insns, 1, 400);
		assert_in_range(longest, 1, 120);
	}
}

/* NAME VARIANT ARCH HASH: the released versions, which do not change. */
static void
check_hash(const char *place, char *words[ROW_WORDS_MAX], size_t n)
{
	int arch = n == 4 && strcmp(words[2], arch_names[AARCH64]) == 0;
	char hash[NSRUN_HASH_SIZE];
	const struct nsrun_filter *f;

	assert_int_equal(n, 4);
	f = find(words[0], words[1], arch);
	assert_string_equal(words[2], arch_names[arch]);
	nsrun_program_hash(f->insns, f->n_insns, hash);
	assert_string_equal(hash, f->sha256);
	if (strcmp(hash, words[3]) != 0)
		fail_msg("%s: the program is %s now", place, hash);
}

static void
test_hashes(void **state)
{
	(void)state;
	assert_int_equal(rows_read("hashes", check_hash), 12);
}

static void
test_find(void **state)
{
	const struct nsrun_policy_text *texts, *t;

	(void)state;
	assert_null(nsrun_filter_find("seccomp-1", NULL, AUDIT_ARCH_X86_64));
	assert_null(nsrun_filter_find("seccomp-1", "denied", AUDIT_ARCH_I386));
	assert_null(nsrun_filter_find("seccomp-0", "denied",
	    AUDIT_ARCH_X86_64));
	assert_ptr_equal(nsrun_filter_find("nosetid-1", "", AUDIT_ARCH_X86_64),
	    nsrun_filter_find("nosetid-1", NULL, AUDIT_ARCH_X86_64));
	t = nsrun_policy_text_find("filter", "seccomp-1");
	assert_non_null(t);
	assert_non_null(strstr(t->text, "\nfilter  seccomp-1\n"));
	assert_non_null(nsrun_policy_text_find("profile", "shell"));
	assert_null(nsrun_policy_text_find("profile", "seccomp-1"));
	assert_true(nsrun_policy_texts(&texts) >= 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_bitmap),
		cmocka_unit_test(test_explicit),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
