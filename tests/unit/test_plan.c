/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The gate: a good plan passes, and each way to break one is refused. */
#include "table.h"

#include <linux/sched.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "run/cgroup.h"

static char *const command[] = { (char *)(uintptr_t)"true", NULL };

static void
add(struct nsrun_plan *plan, struct nsrun_mount m)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	assert_int_equal(nsrun_plan_add_mount(plan, &m, &err), 0);
}

static void
make_good(struct nsrun_plan *plan)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	nsrun_plan_init(plan);
	plan->profile = "p";
	plan->namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
	    CLONE_NEWNET | CLONE_NEWUTS;
	plan->identity = (struct nsrun_identity){
		.uid = 1000, .host_uid = 1000, .gid = 1000, .host_gid = 1000,
		.lock_namespaces = true,
	};
	nsrun_plan_add_idrange(plan, &plan->uid_map,
	    (struct nsrun_idrange){ 0, 1000, 1 }, &err);
	nsrun_plan_add_idrange(plan, &plan->gid_map,
	    (struct nsrun_idrange){ 0, 1000, 1 }, &err);
	add(plan, (struct nsrun_mount){ .kind = NSRUN_MOUNT_ROOT, .target = "/",
	    .size_bytes = 4096, .n_inodes = 10 });
	add(plan, (struct nsrun_mount){ .kind = NSRUN_MOUNT_PROC,
	    .target = "/proc" });
	add(plan, (struct nsrun_mount){ .kind = NSRUN_MOUNT_BIND,
	    .source = "/usr", .target = "/usr",
	    .flags = NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_RECURSIVE });
	nsrun_plan_add_sysctl(plan, "user/max_user_namespaces", "1", &err);
	plan->cwd = "/";
	nsrun_plan_set_argv(plan, command, &err);
	assert_int_equal(err.step, NSRUN_STEP_NONE);
}

/* The ways to break it, one function each, and the rule that says so. */
static void no_user(struct nsrun_plan *p) { p->namespaces &= ~CLONE_NEWUSER; }
static void no_pid(struct nsrun_plan *p) { p->namespaces &= ~CLONE_NEWPID; }
static void no_mounts(struct nsrun_plan *p) { p->mounts.n = 0; }
static void no_root(struct nsrun_plan *p) { p->mounts.v++; p->mounts.n--; }
static void no_bound(struct nsrun_plan *p) { p->mounts.v[0].size_bytes = 0; }
static void no_inodes(struct nsrun_plan *p) { p->mounts.v[0].n_inodes = 0; }
static void dotdot(struct nsrun_plan *p) { p->mounts.v[2].target = "/a/../b"; }
static void relative(struct nsrun_plan *p) { p->mounts.v[2].source = "usr"; }
static void odd_mode(struct nsrun_plan *p) { p->mounts.v[1].mode = 0200000; }
static void rw_deep(struct nsrun_plan *p)
{
	p->mounts.v[2].flags = NSRUN_MOUNT_RECURSIVE;
}
static void idmap_user(struct nsrun_plan *p)
{
	p->mounts.v[2].flags |= NSRUN_MOUNT_IDMAPPED;
}
static void pin_device(struct nsrun_plan *p)
{
	p->mounts.v[2].flags |= NSRUN_MOUNT_PINNED;
	p->mounts.v[2].pin.type = S_IFCHR;
}
static void lone_sysctl(struct nsrun_plan *p)
{
	p->mounts.v[1].kind = NSRUN_MOUNT_DIR;
}
static void second_root(struct nsrun_plan *p)
{
	p->mounts.v[1] = p->mounts.v[0];
}
static void other_map(struct nsrun_plan *p) { p->uid_map.v[0].inside = 5; }
static void wide_map(struct nsrun_plan *p) { p->gid_map.v[0].count = 2; }
static void to_root(struct nsrun_plan *p)
{
	p->identity.leaves_root = true;
	p->identity.host_uid = 0;
}
static void host_lo(struct nsrun_plan *p)
{
	p->loopback = true;
	p->namespaces &= ~CLONE_NEWNET;
}
static void host_sockets(struct nsrun_plan *p)
{
	p->network = NSRUN_NETWORK_ISOLATED;
	p->namespaces &= ~CLONE_NEWNET;
}
static void host_name(struct nsrun_plan *p)
{
	p->hostname = "x";
	p->namespaces &= ~CLONE_NEWUTS;
}
static void lost_cap(struct nsrun_plan *p)
{
	p->supervision.max_output_bytes = 1;
}
static void no_cwd(struct nsrun_plan *p) { p->cwd = NULL; }
static void odd_cwd(struct nsrun_plan *p) { p->cwd = "a"; }
static void lingers(struct nsrun_plan *p) { p->process.lingers = true; }
static void keeps_fds(struct nsrun_plan *p) { p->process.keeps_fds = true; }
static void keeps_caps(struct nsrun_plan *p) { p->process.caps = 1; }
static void keeps_tty(struct nsrun_plan *p)
{
	p->process.session = NSRUN_SESSION_CALLER;
}
static void no_init(struct nsrun_plan *p)
{
	p->process.in_place = true;
	p->stdio[1] = NSRUN_STDIO_RELAY;
}
static void locks(struct nsrun_plan *p)
{
	p->process.in_place = true;
	p->process.n_locks = 1;
}
static void few_layers(struct nsrun_plan *p)
{
	static const char *const one[] = { "/usr", NULL };

	p->mounts.v[2].kind = NSRUN_MOUNT_OVERLAY;
	p->mounts.v[2].flags = NSRUN_MOUNT_RDONLY;
	p->mounts.v[2].layers = one;
}
static void lone_work(struct nsrun_plan *p)
{
	few_layers(p);
	p->mounts.v[2].flags = 0;
	p->mounts.v[2].work = "/w";
	p->mounts.v[2].source = NULL;
}
static void mapless(struct nsrun_plan *p)
{
	p->profile = NULL;
	p->identity.finds_maps = true;
}
static void typeless(struct nsrun_plan *p)
{
	p->profile = NULL;
	p->mounts.v[2].kind = NSRUN_MOUNT_FS;
}
static void lenient(struct nsrun_plan *p)
{
	p->mounts.v[2].flags |= NSRUN_MOUNT_LENIENT;
}
static void file_stays(struct nsrun_plan *p)
{
	p->mounts.leaves_nothing = true;
	p->mounts.v[2].kind = NSRUN_MOUNT_FILE;
}
static void chroot_too(struct nsrun_plan *p) { p->chroot_dir = "/x"; }
static void mounts_nowhere(struct nsrun_plan *p)
{
	p->profile = NULL;
	p->namespaces &= ~CLONE_NEWNS;
}
static void own_groups(struct nsrun_plan *p)
{
	p->profile = NULL;
	p->identity.sets_groups = true;
}
static void new_privs(struct nsrun_plan *p) { p->process.new_privs = true; }
static void off_and_set(struct nsrun_plan *p)
{
	static struct nsrun_cgroup_setting one = { "pids.max", "1", false };

	p->cgroup.settings = &one;
	p->cgroup.n_settings = 1;
}
static void cgroup_file(struct nsrun_plan *p)
{
	static struct nsrun_cgroup_setting one = { "../x/pids.max", "1", true };

	p->cgroup.use = NSRUN_CGROUP_AUTO;
	p->cgroup.settings = &one;
	p->cgroup.n_settings = 1;
}
static void cgroup_parent(struct nsrun_plan *p)
{
	p->cgroup.use = NSRUN_CGROUP_REQUIRE;
	p->cgroup.parent = "x";
}
static void outlives(struct nsrun_plan *p)
{
	p->cgroup.use = NSRUN_CGROUP_AUTO;
	p->process.outlives = true;
}
static void unwatched(struct nsrun_plan *p)
{
	p->limits[NSRUN_LIMIT_WRITE].set = true;
}
static void watched(struct nsrun_plan *p)
{
	p->supervision.watches_writes = true;
}
static void no_argv(struct nsrun_plan *p) { p->n_argv = 0; }

static const struct {
	const char *name;
	void (*breaks)(struct nsrun_plan *plan);
} rows[] = {
	{ "no user namespace", no_user }, { "no pid namespace", no_pid },
	{ "no mounts", no_mounts }, { "no root", no_root },
	{ "tmpfs without size", no_bound },
	{ "tmpfs without inodes", no_inodes }, { "dot dot", dotdot },
	{ "relative source", relative }, { "mode", odd_mode },
	{ "writable and recursive", rw_deep },
	{ "idmap of a user", idmap_user }, { "pinned device", pin_device },
	{ "sysctl without procfs", lone_sysctl },
	{ "second root", second_root }, { "other map", other_map },
	{ "map of two", wide_map }, { "leaving root for root", to_root },
	{ "host's loopback", host_lo }, { "sockets of the host", host_sockets },
	{ "host's name", host_name }, { "cap on inherited output", lost_cap },
	{ "no cwd", no_cwd }, { "relative cwd", odd_cwd },
	{ "no command", no_argv }, { "lingering profile", lingers },
	{ "descriptors kept", keeps_fds }, { "capability kept", keeps_caps },
	{ "terminal kept", keeps_tty }, { "relay without init", no_init },
	{ "locks without init", locks }, { "overlay of one", few_layers },
	{ "work without upper", lone_work },
	{ "map of another's", mapless }, { "no type", typeless },
	{ "lenient profile", lenient }, { "file that stays", file_stays },
	{ "chroot beside mounts", chroot_too },
	{ "mounts without namespace", mounts_nowhere },
	{ "groups in a map of ours", own_groups },
	{ "new privileges", new_privs },
	{ "settings of no cgroup", off_and_set },
	{ "a file elsewhere", cgroup_file },
	{ "relative cgroup", cgroup_parent },
	{ "outlives its cgroup", outlives },
	{ "writes unwatched", unwatched }, { "nothing to watch", watched },
};

/* Of limits: what people write, what it is, and how it is written again. */
static void
test_limits(void **state)
{
	static const struct {
		const char *name, *text;
		int rc;
		uint64_t value;
		const char *again;
	} limits[] = {
		{ "cpu", "cpu=90s", 0, 90, "90s" },
		{ "cpu", "cpu=1.5", 0, 2, "2s" },
		{ "memory", "memory=1G", 0, 1 << 30, "1G" },
		{ "memory", "memory=1023K", -2, 0, NULL },
		{ "swap", "swap=0", 0, 0, "0" },
		{ "cpus", "cpus=2", 0, 2000, "2" },
		{ "cpus", "cpus=1.5", 0, 1500, "1.5" },
		{ "cpus", "cpus=0.01", 0, 10, "0.01" },
		{ "cpus", "cpus=0.009", -2, 0, NULL },
		{ "cpus", "cpus=20", 0, 20000, "20" },
		{ "cpus", "cpus=2s", -2, 0, NULL },
		{ "cpus", "cpus=.5", -2, 0, NULL },
		{ "io-read", "io-read=1M", 0, 1 << 20, "1M" },
		{ "io-write", "io-write=1023", -2, 0, NULL },
		{ "write", "write=10G", 0, 10ULL << 30, "10G" },
		{ "inodes", "inodes=100", 0, 100, "100" },
		{ "pids", "pids=1", -1, 0, NULL },
		{ "memory", "memory", -1, 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		uint64_t value = 0;
		int kind = -1;
		char buf[24];

		assert_row(nsrun_limit_parse(limits[i].text, &kind, &value) ==
		    limits[i].rc, limits[i].text);
		if (limits[i].rc != 0)
			continue;
		assert_row(kind == nsrun_limit_find(limits[i].name) &&
		    value == limits[i].value, limits[i].text);
		assert_string_equal(nsrun_limit_text(
		    (enum nsrun_limit_kind)kind, value, buf), limits[i].again);
	}
}

static void
test_controllers(void **state)
{
	(void)state;
	assert_int_equal(nsrun_controllers_parse("memory.swap.max"),
	    NSRUN_CONTROLLER_MEMORY);
	assert_int_equal(nsrun_controllers_parse("cgroup.procs"), 0);
	assert_int_equal(nsrun_controllers_parse("cpuset cpu io memory hugetlb"
	    " pids rdma misc\n"), NSRUN_CONTROLLER_CPU | NSRUN_CONTROLLER_IO |
	    NSRUN_CONTROLLER_MEMORY | NSRUN_CONTROLLER_PIDS);
	assert_int_equal(nsrun_controllers_parse("\n"), 0);
	assert_int_equal(nsrun_controllers_parse(""), 0);
	assert_int_equal(nsrun_controllers_parse("memoryx xio"), 0);
}

static void
test_good(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_plan plan;

	(void)state;
	make_good(&plan);
	assert_int_equal(nsrun_plan_check(&plan, &err), 0);
	nsrun_plan_deinit(&plan);
}

static void
test_broken(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_plan plan;

		make_good(&plan);
		rows[i].breaks(&plan);
		assert_row(nsrun_plan_check(&plan, &err) < 0, rows[i].name);
		assert_row(err.step == NSRUN_STEP_PLAN, rows[i].name);
		nsrun_plan_deinit(&plan);
	}
}

static void
test_env(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_plan plan;

	(void)state;
	nsrun_plan_init(&plan);
	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof name, "N%d", i);
		assert_int_equal(nsrun_plan_set_env(&plan, name, "v", &err), 0);
	}
	assert_int_equal(nsrun_plan_set_env(&plan, "N7", "w", &err), 0);
	assert_int_equal(plan.n_env, 100);
	assert_null(plan.env[100]);
	assert_string_equal(nsrun_plan_env(&plan, "N7"), "w");
	assert_string_equal(nsrun_plan_env(&plan, "N99"), "v");
	assert_null(nsrun_plan_env(&plan, "N"));
	nsrun_plan_deinit(&plan);
}

/* One format each; the same plan prints the same. */
static void
test_print(void **state)
{
	struct nsrun_plan plan;
	char *text[2];
	size_t size;

	(void)state;
	make_good(&plan);
	for (int i = 0; i < 2; i++) {
		FILE *out = open_memstream(&text[i], &size);

		nsrun_print_rows(out, &plan);
		nsrun_print_json(out, &plan);
		nsrun_print_tree(out, &plan, false);
		fclose(out);
	}
	assert_string_equal(text[0], text[1]);
	assert_non_null(strstr(text[0],
	    "\nmount bind /usr -> /usr ro recursive\n"));
	assert_non_null(strstr(text[0], "\"target\": \"/usr\""));
	assert_non_null(strstr(text[0], "usr  "));
	free(text[0]);
	free(text[1]);
	nsrun_plan_deinit(&plan);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_controllers),
		cmocka_unit_test(test_env),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
