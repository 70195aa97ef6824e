/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Launch: one clone3(2) for everything, from the caller itself or, when the
 * caller leaves uid 0, from an intermediate that has changed its ids already.
 *
 * The child is cloned with exit signal 0: a host's SIGCHLD handler or wait(2)
 * never sees it, and only its pidfd tells of its end.
 */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "apply/apply.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"
#include "run/netns.h"
#include "run/prep.h"
#include "run/relay.h"
#include "run/tty.h"

void
nsrun_run_init(struct nsrun_run *run, const struct nsrun_plan *plan)
{
	*run = (struct nsrun_run){
		.plan = plan, .pidfd = -1, .channel_fd = -1, .control_fd = -1,
		.watch_fd = -1, .signal_fd = -1, .stop_fd = -1,
		.userns_fd = -1, .terminal_fd = -1, .tty_fd = -1,
		.janitor_fd = -1, .report_fd = -1, .command_fd = -1,
		.cgroup = NSRUN_CGROUP_INIT, .budget = NSRUN_BUDGET_INIT,
	};
	for (int i = 0; i < NSRUN_RETURNS_MAX; i++)
		run->return_fds[i] = -1;
	for (int i = 0; i < NSRUN_N_RELAYS; i++)
		run->relays[i] = (struct nsrun_relay){
			.from_fd = -1, .to_fd = -1, .file_fd = -1,
			.peek_fd = -1,
		};
}

void
nsrun_run_deinit(struct nsrun_run *run)
{
	/* One that lingers is not ours to end any more. */
	if (run->pidfd >= 0 && !(run->state == NSRUN_STATE_ENDED &&
	    run->plan->process.lingers)) {
		sys_pidfd_send_signal(run->pidfd, SIGKILL);
		while (waitpid(run->pid, NULL, __WALL) < 0 && errno == EINTR)
			continue;
	}
	nsrun_netns_end(run);
	nsrun_budget_deinit(&run->budget);
	nsrun_cgroup_deinit(&run->cgroup);
	/* Ours to reap, if it is done; else whoever takes over. */
	nsrun_run_wait_janitor(run);
	if (run->janitor_fd >= 0)
		waitid(P_PIDFD, (id_t)run->janitor_fd, NULL,
		    WEXITED | WNOHANG | __WALL);
	nsrun_tty_restore(run);
	for (int i = 0; i < NSRUN_RETURNS_MAX; i++)
		nsrun_fd_close(&run->return_fds[i]);
	for (int i = 0; i < NSRUN_N_RELAYS; i++)
		nsrun_relay_deinit(&run->relays[i]);
	nsrun_fd_close(&run->pidfd);
	nsrun_fd_close(&run->channel_fd);
	nsrun_fd_close(&run->control_fd);
	nsrun_fd_close(&run->stop_fd);
	nsrun_fd_close(&run->userns_fd);
	nsrun_fd_close(&run->janitor_fd);
	nsrun_fd_close(&run->report_fd);
	nsrun_fd_close(&run->command_fd);
	nsrun_fd_close(&run->terminal_fd);
}

int
nsrun_run_close_others(const struct nsrun_run *run, int more)
{
	int fds[] = {
		run->pidfd, run->channel_fd, run->control_fd, run->watch_fd,
		run->signal_fd, run->stop_fd, run->userns_fd, run->terminal_fd,
		run->janitor_fd, run->report_fd, run->command_fd, more,
		run->cgroup.base_fd, run->cgroup.dir_fd, run->cgroup.self_fd,
		run->cgroup.memory_fd, run->cgroup.pids_fd,
		run->cgroup.leaf_fd,
		run->budget.socket_fd, run->budget.userns_fd,
		run->relays[0].from_fd, run->relays[0].to_fd,
		run->relays[1].from_fd, run->relays[1].to_fd,
		run->relays[2].from_fd, run->relays[2].to_fd,
	};
	const unsigned int n = sizeof fds / sizeof *fds;

	/* Ascending; those below 3, none among them, count for nothing. */
	for (unsigned int i = 1; i < n; i++)
		for (unsigned int k = i; k > 0 && fds[k - 1] > fds[k]; k--) {
			int fd = fds[k];

			fds[k] = fds[k - 1];
			fds[k - 1] = fd;
		}
	return nsrun_fd_close_others(fds, n);
}

bool
nsrun_run_wanted_nesting(const struct nsrun_run *run)
{
	return run->result.status != 0 &&
	    (run->relays[1].heard || run->relays[2].heard);
}

/* What the intermediate tells: its memory is not ours, this page is both's. */
struct told {
	pid_t	pid;
	pid_t	another;	/* intermediate, inside a joined pid namespace;
				   0: none */
	int	pidfd;
	int	errnum;
	char	call[16];
};

/*
 * Born in its cgroup, it was never anywhere else. A namespace of cgroups would
 * have ours as its root, so the child makes that itself.
 */
static void
set_cgroup(const struct nsrun_prep *prep, struct clone_args *args)
{
	if (prep->cgroup_fd < 0)
		return;
	args->flags |= CLONE_INTO_CGROUP;
	args->cgroup = (uint64_t)prep->cgroup_fd;
}

static pid_t
clone_child(const struct nsrun_prep *prep, uint64_t more_flags, int *pidfd,
    pid_t *pid_told)
{
	/* Both are told by the kernel at once: we may be killed any moment. */
	struct clone_args args = {
		.flags = prep->plan->namespaces | CLONE_PIDFD |
		    CLONE_PARENT_SETTID | CLONE_CLEAR_SIGHAND | more_flags,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		.parent_tid = (uint64_t)(uintptr_t)pid_told,
	};
	pid_t pid;

	if (prep->net_fd >= 0)
		args.flags &= ~(uint64_t)CLONE_NEWNET;
	/* An intermediate stands there already, and may have lost the right. */
	if (!(more_flags & CLONE_PARENT))
		set_cgroup(prep, &args);
	if (args.flags & CLONE_INTO_CGROUP)
		args.flags &= ~(uint64_t)CLONE_NEWCGROUP;
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		nsrun_child_main(prep);
	return pid;
}

/* Enter the namespaces of the plan: the user namespace gives the rights. */
static const char *
join(const struct nsrun_join *to)
{
	if (to->user >= 0 && setns(to->user, CLONE_NEWUSER) < 0)
		return "setns user";
	if (to->pid >= 0 && setns(to->pid, CLONE_NEWPID) < 0)
		return "setns pid";
	if (to->net >= 0 && setns(to->net, CLONE_NEWNET) < 0)
		return "setns net";
	return NULL;
}

/*
 * Raw system calls: the C library's would change the ids of every thread of a
 * host. Not dumpable from here to the command's exec: this is root's memory and
 * root's descriptors, in a process of another's ids (CVE-2016-9962).
 */
static const char *
leave_root(const struct nsrun_identity *who)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return "PR_SET_DUMPABLE";
	if (syscall(SYS_setgroups, 0, NULL) < 0)
		return "setgroups";
	if (syscall(SYS_setresgid, who->host_gid, who->host_gid,
	    who->host_gid) < 0)
		return "setresgid";
	if (syscall(SYS_setresuid, who->host_uid, who->host_uid,
	    who->host_uid) < 0)
		return "setresuid";
	/* Again: a change of ids sets it as fs.suid_dumpable says. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return "PR_SET_DUMPABLE";
	return NULL;
}

/*
 * Leave uid 0, or join namespaces, then clone. The descriptor table is shared
 * with the parent, so the pidfd lands there.
 */
static _Noreturn void
intermediate(const struct nsrun_prep *prep, struct told *told)
{
	const struct nsrun_identity *who = &prep->plan->identity;
	const char *call = join(&prep->plan->join);

	if (!call && who->leaves_root)
		call = leave_root(who);
	/*
	 * The kernel makes a pid namespace only below the one that we are in
	 * ourselves, and setns(2) puts only children there.
	 */
	if (!call && prep->plan->join.pid >= 0 &&
	    prep->plan->namespaces & CLONE_NEWPID) {
		struct clone_args args = {
			.flags = CLONE_FILES | CLONE_PARENT |
			    CLONE_PARENT_SETTID,
			.parent_tid = (uint64_t)(uintptr_t)&told->another,
		};
		pid_t pid = (pid_t)sys_clone3(&args);

		if (pid > 0)
			_exit(0);
		if (pid < 0)
			call = "clone3";
	}
	if (!call && clone_child(prep, CLONE_PARENT, &told->pidfd,
	    &told->pid) < 0)
		call = "clone3";
	if (!call)
		_exit(0);
	told->errnum = errno;
	for (size_t i = 0; i < sizeof told->call - 1 && call[i]; i++)
		told->call[i] = call[i];
	_exit(1);
}

/* The pid behind a pidfd, as we see it: its fdinfo says, proc(5). */
static pid_t
pid_of(int pidfd)
{
	char path[64], *text, *at;
	pid_t pid = 0;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	text = nsrun_file_read(path, 4096);
	at = text ? strstr(text, "Pid:") : NULL;
	if (at)
		pid = (pid_t)strtol(at + 4, NULL, 10);
	free(text);
	return pid;
}

static int
clone_through_intermediate(const struct nsrun_prep *prep,
    struct nsrun_run *run, struct nsrun_err *err)
{
	struct clone_args args = { .flags = CLONE_FILES | CLONE_CLEAR_SIGHAND };
	struct told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (told == MAP_FAILED)
		return nsrun_err_sys(err, NSRUN_STEP_IDENTITY, "mmap", NULL,
		    NULL);
	told->pidfd = -1;
	set_cgroup(prep, &args);
	pid = (pid_t)sys_clone3(&args);
	if (pid == 0)
		intermediate(prep, told);
	if (pid < 0)
		nsrun_err_sys(err, NSRUN_STEP_IDENTITY, "clone3", NULL, NULL);
	else
		while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
			continue;
	while (told->another > 0 && waitpid(told->another, NULL, __WALL) < 0 &&
	    errno == EINTR)
		continue;
	run->pidfd = told->pidfd;
	/* That one knew it by another number. */
	run->pid = told->another > 0 && run->pidfd >= 0 ?
	    pid_of(run->pidfd) : told->pid;
	if (told->errnum) {
		errno = told->errnum;
		nsrun_err_sys(err, told->call[0] == 'c' ||
		    !strncmp(told->call, "setns", 5) ? NSRUN_STEP_NAMESPACE :
		    NSRUN_STEP_IDENTITY, told->call, NULL, NULL);
	}
	munmap(told, sizeof *told);
	if (run->pidfd < 0 && err->step == NSRUN_STEP_NONE)
		nsrun_err_rule(err, NSRUN_STEP_IDENTITY,
		    "the intermediate process was killed", NULL, NULL);
	return run->pidfd < 0 ? -1 : 0;
}

/*
 * Every signal is blocked from here to the child's exec: it has no handlers,
 * and its signalfd tells only of what is blocked.
 */
static int
clone_blocked(struct nsrun_prep *prep, struct nsrun_run *run,
    struct nsrun_err *err)
{
	sigset_t all, saved;
	int rc = 0;

	sigfillset(&all);
	if (sys_sigprocmask(SIG_SETMASK, &all, &saved) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "sigprocmask",
		    NULL, NULL);
	sigemptyset(&prep->signals);
	if (prep->plan->process.keeps_signals)
		prep->signals = run->caller_mask ? *run->caller_mask : saved;
	/* But a command that never hears of its children's end hangs. */
	sigdelset(&prep->signals, SIGCHLD);
	if (prep->plan->identity.leaves_root || prep->plan->join.user >= 0 ||
	    prep->plan->join.pid >= 0 || prep->plan->join.net >= 0)
		rc = clone_through_intermediate(prep, run, err);
	else if (clone_child(prep, 0, &run->pidfd, &run->pid) < 0)
		rc = nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "clone3", NULL,
		    NULL);
	if (rc == 0)
		nsrun_netns_begin(prep, run);
	sys_sigprocmask(SIG_SETMASK, &saved, NULL);
	return rc;
}

static int
allocate_relays(struct nsrun_run *run, struct nsrun_err *err)
{
	for (int i = 0; i < NSRUN_N_RELAYS; i++) {
		struct nsrun_relay *r = &run->relays[i];

		if (r->from_fd < 0 && r->to_fd < 0)
			continue;
		r->cap_bytes = i ? run->plan->supervision.max_output_bytes : 0;
		/* Where errors are: of a terminal, or one pipe, in 1. */
		r->listens = run->plan->profile && !run->plan->nesting &&
		    (i == 2 || (i == 1 && run->relays[2].from_fd < 0));
		r->to_socket = nsrun_fd_is_socket(r->to_fd);
		nsrun_relay_unblock(r);
		r->buf = malloc(NSRUN_RELAY_SIZE + 64);
		if (!r->buf)
			return nsrun_err_nomem(err, "relay");
	}
	return 0;
}

int
nsrun_launch(struct nsrun_run *run, struct nsrun_err *err)
{
	struct nsrun_prepared p;
	struct timespec now;
	int rc = -1;

	nsrun_prepared_init(&p);
	run->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (run->stop_fd < 0 || nsrun_fd_raise(&run->stop_fd) < 0)
		nsrun_err_sys(err, NSRUN_STEP_SUPERVISE, "eventfd", NULL, NULL);
	else if (run->plan->boundary != NSRUN_BOUNDARY_SANDBOX)
		nsrun_err_rule(err, NSRUN_STEP_PLAN, "is a plan without a"
		    " sandbox: only oc-nsrun runs one",
		    nsrun_boundary_name(run->plan->boundary), NULL);
	else if (nsrun_plan_check(run->plan, err) == 0 &&
	    nsrun_prepared_build(&p, run, err) == 0 &&
	    allocate_relays(run, err) == 0 &&
	    /* First: only who is alone can step aside, and that watches. */
	    nsrun_cgroup_open(&run->cgroup, &run->plan->cgroup, err) == 0 &&
	    nsrun_budget_open(&run->budget, run->plan, err) == 0 &&
	    (!run->plan->nesting ||
	    nsrun_cgroup_add_leaf(&run->cgroup, run->plan->identity.host_uid,
	    err) == 0)) {
		nsrun_prepare_for_cgroup(&p.prep, run);
		nsrun_netns_prepare(&p.prep);
		rc = clone_blocked(&p.prep, run, err);
	}
	if (rc == 0) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		run->started_ns = (int64_t)now.tv_sec * 1000000000 +
		    now.tv_nsec;
		run->state = NSRUN_STATE_STARTING;
	}
	nsrun_prepared_deinit(&p);
	return rc;
}
