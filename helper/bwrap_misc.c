/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options that are neither mounts nor files. */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bwrap.h"
#include "bwrap_values.h"
#include "policy/embedded.h"

int
bwrap_flag(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	bool *const flags[] = {
		[BWRAP_HELP]		= &b->wants_help,
		[BWRAP_VERSION]		= &b->wants_version,
		[BWRAP_LEVEL_PREFIX]	= &b->level_prefix,
		[BWRAP_DISABLE_USERNS]	= &b->disable_userns,
		[BWRAP_ASSERT_USERNS]	= &b->assert_no_userns,
		[BWRAP_NOEXEC]		= &b->pending.noexec,
		[BWRAP_STRICT]		= &b->strict,
		[BWRAP_EXTENDED]	= &b->extended,
		[BWRAP_NEW_SESSION]	= &b->new_session,
		[BWRAP_PTY]		= &b->pty,
		[BWRAP_DIE]		= &b->die_with_parent,
		[BWRAP_KILL]		= &b->kill_on_exit,
		[BWRAP_FORWARD]		= &b->forward_signals,
		[BWRAP_AS_PID_1]	= &b->as_pid_1,
		/* There is nothing to be lenient with: see oc-bwrap(1). */
		[BWRAP_NO_BOUNDARY]	= &b->no_boundary,
	};

	(void)args;
	*flags[option->value] = true;
	return 0;
}

int
bwrap_unshare(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	static const uint64_t one[] = {
		[BWRAP_IPC] = CLONE_NEWIPC, [BWRAP_PID] = CLONE_NEWPID,
		[BWRAP_NET] = CLONE_NEWNET, [BWRAP_UTS] = CLONE_NEWUTS,
		[BWRAP_CGROUP] = CLONE_NEWCGROUP,
	};

	(void)args;
	switch ((enum bwrap_namespaces)option->value) {
	case BWRAP_EVERY:
		b->user_try = true;
		b->unshare |= CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET |
		    CLONE_NEWUTS;
		b->cgroup_try = true;
		break;
	case BWRAP_USER:
		b->unshare_user = true;
		break;
	case BWRAP_USER_TRY:
		b->user_try = true;
		break;
	case BWRAP_CGROUP_TRY:
		b->cgroup_try = true;
		break;
	case BWRAP_CGROUP:
	case BWRAP_IPC:
	case BWRAP_PID:
	case BWRAP_NET:
	case BWRAP_UTS:
		b->cgroup |= option->value == BWRAP_CGROUP;
		b->unshare |= one[option->value];
		break;
	}
	return 0;
}

int
bwrap_share_net(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	(void)option;
	(void)args;
	b->unshare &= ~(uint64_t)CLONE_NEWNET;
	return 0;
}

int
bwrap_id(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	char *end;
	long n;

	errno = 0;
	n = strtol(args[0], &end, 10);
	if (end == args[0] || *end || errno || n < 0 || n > INT_MAX)
		return bwrap_die(b, "Invalid %s: %s", option->name, args[0]);
	if (option->value == BWRAP_UID) {
		b->has_uid = true;
		b->uid = (uid_t)n;
	} else {
		b->has_gid = true;
		b->gid = (gid_t)n;
	}
	return 0;
}

int
bwrap_join(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_join *join = &b->plan->join;
	int *const fds[] = {
		[BWRAP_USERNS] = &join->user,
		[BWRAP_USERNS2] = &join->second_user,
		[BWRAP_PIDNS] = &join->pid,
		[BWRAP_NETNS] = &join->net,
	};
	int *fd = fds[option->value];

	if (bwrap_fd_number(b, args[0], fd) < 0)
		return -1;
	return bwrap_fd_take(b, option->name, fd);
}

int
bwrap_text(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	switch ((enum bwrap_texts)option->value) {
	case BWRAP_ARGV0:
		if (b->argv0)
			return bwrap_die(b, "--argv0 used multiple times");
		b->argv0 = args[0];
		return 0;
	case BWRAP_HOSTNAME:
		b->plan->hostname = args[0];
		return 0;
	case BWRAP_CHDIR:
		b->chdir = args[0];
		return 0;
	case BWRAP_LOCK:
		break;
	}
	if (nsrun_plan_add_lock(b->plan, args[0], &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

int
bwrap_fd(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	int *const fds[] = {
		[BWRAP_SYNC] = &b->sync_fd,
		[BWRAP_BLOCK] = &b->block_fd,
		[BWRAP_USERNS_BLOCK] = &b->userns_block_fd,
		[BWRAP_INFO] = &b->info_fd,
		[BWRAP_JSON] = &b->json_fd,
	};

	return bwrap_fd_number(b, args[0], fds[option->value]);
}

int
bwrap_label(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	(void)args;
	if (access("/sys/fs/selinux/enforce", F_OK) < 0)
		return bwrap_die(b, "labeling not supported on this system");
	return bwrap_die(b, "--%s: oc-bwrap sets no SELinux labels",
	    option->name);
}

/* One program, as many as that option was given. */
int
bwrap_seccomp(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_filter *filter = nsrun_arena_alloc(&b->plan->arena,
	    sizeof *filter);
	const struct bwrap_data *data;
	size_t before = b->n_data;
	int fd;

	if (option->value ? b->has_seccomp : b->has_add_seccomp)
		return bwrap_die(b, "--%s cannot be combined with --%s",
		    option->name, option->value ? "seccomp" : "add-seccomp-fd");
	if (!filter)
		return bwrap_nomem(b);
	if (bwrap_fd_number(b, args[0], &fd) < 0 ||
	    !(data = bwrap_fd_read(b, option->name, fd)))
		return -1;
	if (b->n_data == before)
		return bwrap_die(b, "Can't read seccomp data: --%s %d was read"
		    " already", option->name, fd);
	if (data->n % sizeof *filter->insns)
		return bwrap_die(b, "Invalid seccomp data, must be multiple of"
		    " 8");
	if (data->n / sizeof *filter->insns > BPF_MAXINSNS)
		return bwrap_die(b, "Invalid seccomp data, more than 4096"
		    " instructions");
	*filter = (struct nsrun_filter){
		.name = "caller's", .variant = "", .sha256 = "",
		.insns = (const struct sock_filter *)(const void *)data->bytes,
		.n_insns = (unsigned short)(data->n / sizeof *filter->insns),
	};
	/* The last --seccomp is the only one. */
	if (!option->value && b->has_seccomp)
		b->plan->n_filters--;
	b->has_seccomp |= !option->value;
	b->has_add_seccomp |= option->value;
	if (nsrun_plan_add_filter(b->plan, filter, &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

int
bwrap_cap(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	int cap = bwrap_cap_find(args[0]);
	uint64_t bits;

	if (cap < BWRAP_ALL)
		return bwrap_die(b, "unknown cap: %s", args[0]);
	bits = cap == BWRAP_ALL ? ~(uint64_t)0 : (uint64_t)1 << cap;
	if (option->value)
		b->added_caps |= bits;
	else
		b->added_caps &= ~bits;
	return 0;
}

int
bwrap_rlimit(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	/* What prlimit(1) calls otherwise than we do. */
	static const char *const aliases[][2] = {
		{ "as", "address-space" }, { "fsize", "file-size" },
		{ "nofile", "files" }, { "nproc", "processes" },
		{ "msgqueue", "messages" }, { "memlock", "locked" },
		{ "sigpending", "signals" }, { "rtprio", "realtime" },
	};
	size_t n = strcspn(args[0], "=");
	const char *text = args[0];
	int kind;
	uint64_t value;

	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strlen(aliases[i][0]) == n &&
		    !strncmp(aliases[i][0], text, n)) {
			text = nsrun_arena_printf(&b->plan->arena, "%s%s",
			    aliases[i][1], args[0] + n);
			if (!text)
				return bwrap_nomem(b);
			break;
		}
	if (nsrun_limit_parse(text, &kind, &value) < 0 ||
	    nsrun_limit_resource((enum nsrun_limit_kind)kind) < 0)
		return bwrap_die(b, "Invalid --%s: %s", option->name, args[0]);
	b->plan->limits[kind] = (struct nsrun_limit){
		.set = true, .value = value,
	};
	return 0;
}

int
bwrap_map(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	uint32_t v[3] = { 0 };
	const char *s = args[0];
	char *end;

	for (int i = 0; i < 3; i++) {
		unsigned long n = strtoul(s, &end, 10);

		if (*s < '0' || *s > '9' || n >= UINT32_MAX ||
		    *end != (i < 2 ? ':' : '\0'))
			return bwrap_die(b, "--%s takes INSIDE:OUTSIDE:COUNT",
			    option->name);
		v[i] = (uint32_t)n;
		s = end + 1;
	}
	if (!v[2])
		return bwrap_die(b, "--%s takes INSIDE:OUTSIDE:COUNT",
		    option->name);
	if (nsrun_plan_add_idrange(b->plan, option->value == BWRAP_UID ?
	    &b->plan->uid_map : &b->plan->gid_map,
	    (struct nsrun_idrange){ v[0], v[1], v[2] }, &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

int
bwrap_environment(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	if (option->value == BWRAP_CLEAR)
		bwrap_env_clear(b);
	else if (!*args[0] || strchr(args[0], '='))
		return bwrap_die(b, "%s failed: \"%s\" is no variable's name",
		    option->name, args[0]);
	else if (option->value == BWRAP_UNSET)
		bwrap_env_unset(b, args[0]);
	else if (bwrap_env_set(b, args[0], args[1]) < 0)
		return bwrap_nomem(b);
	return 0;
}
