/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/sys.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "policy/embedded.h"

const char *const engine_binds[ENGINE_BINDS - 1] = {
	"/bin", "/lib", "/lib64", "/usr", "/etc", "/dev/null", "/dev/random",
	"/dev/urandom",
};

static int
add_binds(struct nsrun_plan *plan, const char *dir, struct nsrun_err *err)
{
	for (int i = 0; i < ENGINE_BINDS; i++) {
		const char *path = i < ENGINE_BINDS - 1 ? engine_binds[i] : dir;
		bool writable = !strcmp(path, "/dev/null");
		struct nsrun_mount m = {
			.kind = NSRUN_MOUNT_BIND, .source = path,
			.target = path, .flags = NSRUN_MOUNT_SUID |
			    NSRUN_MOUNT_DEVICES | NSRUN_MOUNT_RECURSIVE |
			    (writable ? 0U : NSRUN_MOUNT_RDONLY),
		};
		struct stat st;

		if (stat(path, &st) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_MOUNT, "stat",
			    path, NULL);
		m.type = S_ISDIR(st.st_mode) ? S_IFDIR : S_IFREG;
		if (nsrun_plan_add_mount(plan, &m, err) < 0)
			return -1;
	}
	return 0;
}

static int
add_mounts(struct nsrun_plan *plan, const char *dir, struct nsrun_err *err)
{
	enum { OPEN = NSRUN_MOUNT_SUID | NSRUN_MOUNT_DEVICES };
	static const char *const size[] = { "size", "4194304", NULL };
	const struct nsrun_mount root = {
		.kind = NSRUN_MOUNT_ROOT, .target = "/",
		.flags = OPEN | NSRUN_MOUNT_RDONLY, .size_bytes = 16 << 20,
	}, rest[] = {
		{ .kind = NSRUN_MOUNT_FS, .fstype = "tmpfs", .target = "/tmp",
		    .options = size, .flags = OPEN },
		{ .kind = NSRUN_MOUNT_FS, .fstype = "tmpfs",
		    .target = "/dev/shm", .options = size, .flags = OPEN },
		{ .kind = NSRUN_MOUNT_PROC, .target = "/proc",
		    .flags = OPEN | NSRUN_MOUNT_RDONLY },
	};

	plan->mounts.writes_host = plan->mounts.leaves_nothing = true;
	if (nsrun_plan_add_mount(plan, &root, err) < 0 ||
	    add_binds(plan, dir, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
		if (nsrun_plan_add_mount(plan, &rest[i], err) < 0)
			return -1;
	return 0;
}

static int
add_filter(struct nsrun_plan *plan, const char *path, struct nsrun_err *err)
{
	static struct sock_filter insns[ENGINE_MAX_INSNS];
	static struct nsrun_filter filter = {
		.name = "kafel", .variant = "", .sha256 = "", .insns = insns,
		.audit_arch = SYS_AUDIT_ARCH,
	};
	nsrun_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, insns, sizeof insns);

	if (n < 0)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "read", path,
		    NULL);
	filter.n_insns = (unsigned short)((size_t)n / sizeof *insns);
	return nsrun_plan_add_filter(plan, &filter, err);
}

/* nsjail's defaults: those that are values, and those that stay. */
static void
set_limits(struct nsrun_plan *plan)
{
	static const struct {
		enum nsrun_limit_kind kind;
		uint64_t value;
	} values[] = {
		{ NSRUN_LIMIT_ADDRESS_SPACE, (uint64_t)4096 << 20 },
		{ NSRUN_LIMIT_CORE, 0 }, { NSRUN_LIMIT_CPU, 600 },
		{ NSRUN_LIMIT_FILE_SIZE, 1 << 20 }, { NSRUN_LIMIT_FILES, 32 },
	};
	static const enum nsrun_limit_kind soft[] = {
		NSRUN_LIMIT_PROCESSES, NSRUN_LIMIT_STACK, NSRUN_LIMIT_LOCKED,
		NSRUN_LIMIT_REALTIME, NSRUN_LIMIT_MESSAGES,
	};
	struct rlimit now;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		plan->limits[values[i].kind] = (struct nsrun_limit){
			true, values[i].value, true,
		};
	for (size_t i = 0; i < sizeof soft / sizeof *soft; i++)
		if (getrlimit(nsrun_limit_resource(soft[i]), &now) == 0)
			plan->limits[soft[i]] = (struct nsrun_limit){
				true, now.rlim_cur, true,
			};
}

static int
set_ids(struct nsrun_plan *plan, struct nsrun_err *err)
{
	static gid_t none;
	const struct nsrun_idrange u = { geteuid(), geteuid(), 1 };
	const struct nsrun_idrange g = { getegid(), getegid(), 1 };
	bool root = geteuid() == 0;

	plan->identity = (struct nsrun_identity){
		.uid = geteuid(), .host_uid = geteuid(), .gid = getegid(),
		.host_gid = getegid(), .keeps_root = root,
		.asks_for_maps = root, .groups = &none,
		.why_kept = root ? "the caller is root" : NULL,
		.sets_groups = root && getgroups(0, NULL) > 0,
	};
	return nsrun_plan_add_idrange(plan, &plan->uid_map, u, err) < 0 ? -1 :
	    nsrun_plan_add_idrange(plan, &plan->gid_map, g, err);
}

static void
set_process(struct nsrun_plan *plan, const char *payload)
{
	struct nsrun_process *process = &plan->process;

	plan->namespaces = CLONE_NEWNET | CLONE_NEWUSER | CLONE_NEWNS |
	    CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
	plan->network = NSRUN_NETWORK_ISOLATED;
	plan->loopback = true;
	plan->hostname = "NSJAIL";
	plan->cwd = "/";
	process->in_place = process->keeps_fds = process->free_caps = true;
	process->literal = process->sets_nice = true;
	process->session = NSRUN_SESSION_SHARED;
	process->nice = 19;
	process->file = payload;
	plan->supervision.thread_is_process = true;
	plan->supervision.timeout_ms = 600000;
}

int
engine_plan(struct nsrun_plan *plan, const char *filter, const char *dir,
    const char *payload, struct nsrun_err *err)
{
	char *argv[] = { (char *)(uintptr_t)payload, NULL };

	set_process(plan, payload);
	set_limits(plan);
	plan->env = nsrun_arena_alloc(&plan->arena, sizeof *plan->env);
	if (!plan->env)
		return nsrun_err_nomem(err, "environment");
	return add_filter(plan, filter, err) < 0 || set_ids(plan, err) < 0 ||
	    add_mounts(plan, dir, err) < 0 ||
	    nsrun_plan_set_argv(plan, argv, err) < 0 ? -1 :
	    nsrun_plan_check(plan, err);
}
