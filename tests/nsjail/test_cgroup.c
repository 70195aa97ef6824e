/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits of cgroups as a command line says them: what of v2 is in the plan,
 * what of v1 is written, in a tree that only looks like one.
 */
#include "tests/unit/table.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nsjail.h"

enum { MAX_WORDS = 16 };

static void
init(struct nsjail *n)
{
	memset(n, 0, sizeof *n);
	n->log.fd = 2;
	n->log.level = NSJAIL_FATAL;
	nsjail_message_init(&nsjail_config_message, &n->config);
}

/* Words between blanks, then a plan; -1: refused, by either. */
static int
plan_of(struct nsjail *n, struct nsrun_plan *plan, const char *words)
{
	char *argv[MAX_WORDS] = { (char *)(uintptr_t)"oc-nsjail" };
	char *copy = nsrun_arena_strdup(&n->arena, words), *word;
	int argc = 1;

	while ((word = strsep(&copy, " ")))
		if (*word)
			argv[argc++] = word;
	assert_true(argc < MAX_WORDS);
	optind = 0;
	return nsjail_parse(n, argc, argv) < 0 ? -1 :
	    nsjail_plan_cgroups(n, plan);
}

static const struct {
	const char *words;
	const char *want;		/* NULL: refused */
} rows[] = {
	{ "", "" },
	{ "--use_cgroupv2", "" },
	{ "--cgroup_pids_max 0 --cgroup_mem_parent x", "" },
	{ "--use_cgroupv2 --cgroup_mem_max 4096", "v2 memory.max=4096" },
	{ "--use_cgroupv2 --cgroup_mem_swap_max 0", "v2 memory.swap.max=0" },
	{ "--use_cgroupv2 --cgroup_mem_max 10 --cgroup_mem_memsw_max 15",
	    "v2 memory.max=10 memory.swap.max=5" },
	{ "--use_cgroupv2 --cgroup_mem_memsw_max 15",
	    "v2 memory.swap.max=15" },
	{ "--use_cgroupv2 --cgroup_pids_max 3 --cgroup_cpu_ms_per_sec 4294967",
	    "v2 pids.max=3 cpu.max=4294967000 1000000" },
	{ "--use_cgroupv2 --cgroupv2_mount /x --cgroup_pids_max 3",
	    "v2 /x pids.max=3" },
	{ "--use_cgroupv2 --cgroup_net_cls_classid 1", NULL },
	{ "--cgroup_mem_max 4096", "v1 /sys/fs/cgroup/memory/NSJAIL:"
	    " memory.limit_in_bytes=4096 memory.oom_control=0" },
	{ "--cgroup_mem_max 10 --cgroup_mem_swap_max 5 --cgroup_mem_mount /m"
	    " --cgroup_mem_parent p", "v1 /m/p: memory.limit_in_bytes=10"
	    " memory.memsw.limit_in_bytes=15 memory.oom_control=0" },
	{ "--cgroup_pids_max 7 --cgroup_net_cls_classid 0x10001"
	    " --cgroup_cpu_ms_per_sec 250",
	    "v1 /sys/fs/cgroup/pids/NSJAIL: pids.max=7"
	    " /sys/fs/cgroup/net_cls/NSJAIL: net_cls.classid=0x10001"
	    " /sys/fs/cgroup/cpu/NSJAIL: cpu.cfs_period_us=1000000"
	    " cpu.cfs_quota_us=250000" },
	{ "--detect_cgroupv2 --cgroupv2_mount /proc --cgroup_pids_max 7",
	    "v1 /sys/fs/cgroup/pids/NSJAIL: pids.max=7" },
	{ "--cgroup_mem_swap_max 5", NULL },
	{ "--cgroup_mem_max 9 --cgroup_mem_memsw_max 8", NULL },
	{ "--cgroup_mem_max 9 --cgroup_mem_memsw_max 9"
	    " --cgroup_mem_swap_max 0", NULL },
};

static void
print(char *to, size_t size, const struct nsjail *n,
    const struct nsrun_plan *plan)
{
	FILE *out = fmemopen(to, size, "w");

	assert_non_null(out);
	if (plan->cgroup.use != NSRUN_CGROUP_OFF)
		fprintf(out, "v2%s%s", plan->cgroup.parent ? " " : "",
		    plan->cgroup.parent ? plan->cgroup.parent : "");
	for (size_t i = 0; i < plan->cgroup.n_settings; i++)
		fprintf(out, " %s=%s", plan->cgroup.settings[i].file,
		    plan->cgroup.settings[i].value);
	for (int i = 0; i < NSJAIL_N_CGROUPS1 && n->cgroups1[i].parent; i++) {
		fprintf(out, "%s%s:", i ? " " : "v1 ", n->cgroups1[i].parent);
		for (int k = 0; n->cgroups1[i].settings[k].file; k++)
			fprintf(out, " %s=%s", n->cgroups1[i].settings[k].file,
			    n->cgroups1[i].settings[k].value);
	}
	fputc('\0', out);
	assert_int_equal(fclose(out), 0);
}

static void
test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_plan plan;
		struct nsjail n;
		char got[1024] = "";
		int rc;

		init(&n);
		nsrun_plan_init(&plan);
		rc = plan_of(&n, &plan, rows[i].words);
		assert_row((rc == 0) == (rows[i].want != NULL), rows[i].words);
		if (rc == 0) {
			print(got, sizeof got, &n, &plan);
			assert_row(!strcmp(got, rows[i].want), rows[i].words);
			assert_row(n.guarded == (*got != '\0'), rows[i].words);
			assert_row(plan.process.waits == !strncmp(got, "v1", 2),
			    rows[i].words);
		}
		nsrun_plan_deinit(&plan);
		nsrun_arena_deinit(&n.arena);
	}
}

static void
touch(const char *file)
{
	int fd = open(file, O_CREAT | O_WRONLY | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void
expect(const char *file, const char *want)
{
	char got[64] = "";
	FILE *in = fopen(file, "r");

	assert_non_null(in);
	assert_non_null(fgets(got, sizeof got, in));
	fclose(in);
	assert_string_equal(got, want);
}

/* The kernel would make the files with the directory; here they are before. */
static void
test_writes(void **state)
{
	static const char *const files[] = {
		"pids.max", "tasks", "cgroup.procs",
	};
	struct nsrun_err err = NSRUN_ERR_INIT;
	char dir[] = "/tmp/nsrun-cgroup.XXXXXX";
	struct nsrun_plan plan;
	struct nsjail n;
	char words[200];

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(mkdir("p", 0700) || mkdir("p/NSJAIL.4194999", 0700),
	    0);
	assert_int_equal(chdir("p/NSJAIL.4194999"), 0);
	for (size_t i = 0; i < N_ROWS(files); i++)
		touch(files[i]);
	snprintf(words, sizeof words, "--cgroup_pids_max 7"
	    " --cgroup_pids_mount %s --cgroup_pids_parent p", dir);
	init(&n);
	nsrun_plan_init(&plan);
	assert_int_equal(plan_of(&n, &plan, words), 0);
	assert_int_equal(nsjail_cgroups1_make(&n, 4194999, &err), 0);
	expect("pids.max", "7");
	expect("tasks", "4194999");
	for (size_t i = 0; i < N_ROWS(files); i++)
		assert_int_equal(unlink(files[i]), 0);
	nsjail_cgroups1_remove(&n, 4194999);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(access("p/NSJAIL.4194999", F_OK), -1);
	/* And where nothing is, that is said. */
	assert_int_equal(rmdir("p"), 0);
	assert_int_equal(nsjail_cgroups1_make(&n, 4194999, &err), -1);
	assert_non_null(strstr(err.call, "no such directory of cgroup v1"));
	assert_int_equal(chdir("/") || rmdir(dir), 0);
	nsrun_plan_deinit(&plan);
	nsrun_arena_deinit(&n.arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_writes),
	};

	return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
