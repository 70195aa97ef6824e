/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "oracle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_NUMBERS 1024
#define NO(e) (SECCOMP_RET_ERRNO | (e))

struct oracle_call oracle_calls[ORACLE_CALLS_MAX];
size_t n_oracle_calls;

static const struct oracle_call *by_nr[N_ARCHES][N_NUMBERS];

/* NAME X86_64-NUMBER AARCH64-NUMBER DENIED ISOLATED */
static void
add_call(const char *place, char *words[ROW_WORDS_MAX], size_t n)
{
	struct oracle_call *call = &oracle_calls[n_oracle_calls++];

	if (n != 5 || n_oracle_calls > ORACLE_CALLS_MAX)
		fail_msg("%s: not a row of five words", place);
	snprintf(call->name, sizeof call->name, "%s", words[0]);
	for (int a = 0; a < N_ARCHES; a++) {
		call->nr[a] = -1;
		if (strcmp(words[1 + a], "-") == 0)
			continue;
		call->nr[a] = atoi(words[1 + a]);
		if (call->nr[a] >= N_NUMBERS || by_nr[a][call->nr[a]])
			fail_msg("%s: number used twice", place);
		by_nr[a][call->nr[a]] = call;
	}
	for (int v = 0; v < N_VARIANTS; v++) {
		call->by_args[v] = strcmp(words[3 + v], "args") == 0;
		if (!call->by_args[v])
			call->answer[v] = rows_answer(place, words[3 + v]);
	}
}

void
oracle_load(void)
{
	if (!n_oracle_calls)
		rows_read("seccomp-1.classes", add_call);
}

const struct oracle_call *
oracle_find(const char *name)
{
	for (size_t i = 0; i < n_oracle_calls; i++)
		if (strcmp(oracle_calls[i].name, name) == 0)
			return &oracle_calls[i];
	return NULL;
}

const struct oracle_call *
oracle_find_nr(int arch, uint32_t nr)
{
	return nr < N_NUMBERS ? by_nr[arch][nr] : NULL;
}

static uint32_t
socket_isolated(const uint32_t a[6])
{
	uint32_t type = a[1] % 16;
	int stream_dgram = type == 1 || type == 2;

	switch (a[0]) {
	case 1:		/* AF_UNIX */
		return stream_dgram || type == 5 ? SECCOMP_RET_ALLOW :
		    NO(EPROTONOSUPPORT);
	case 2:		/* AF_INET */
	case 10:	/* AF_INET6 */
		return stream_dgram && (a[2] == 0 || a[2] == 6 || a[2] == 17) ?
		    SECCOMP_RET_ALLOW : NO(EPROTONOSUPPORT);
	case 16:	/* AF_NETLINK, and its protocol NETLINK_ROUTE */
		return (type == 2 || type == 3) && a[2] == 0 ?
		    SECCOMP_RET_ALLOW : NO(EPROTONOSUPPORT);
	default:
		return NO(EAFNOSUPPORT);
	}
}

static uint32_t
socket_answer(const char *name, int variant, const uint32_t a[6],
    const uint64_t args[6])
{
	int pair = a[1] % 16 == 1 || a[1] % 16 == 5;

	if (strcmp(name, "socket") == 0)
		return socket_isolated(a);
	if (strcmp(name, "socketpair") == 0)
		return a[0] != 1 ? NO(EAFNOSUPPORT) :
		    variant == DENIED && !pair ? NO(EPROTONOSUPPORT) :
		    SECCOMP_RET_ALLOW;
	/* MSG_OOB is 1. The messages of *msg have one parameter less. */
	if (a[strstr(name, "mmsg") ? 3 : strstr(name, "msg") ? 2 : 3] % 2)
		return NO(strncmp(name, "send", 4) == 0 ? EOPNOTSUPP : EINVAL);
	if (strcmp(name, "sendto") == 0 && variant == DENIED && args[4])
		return NO(EISCONN);
	return SECCOMP_RET_ALLOW;
}

static uint32_t
args_answer(const char *name, int variant, const uint64_t args[6])
{
	uint32_t a[6];
	int no = 0;

	for (int i = 0; i < 6; i++)
		a[i] = (uint32_t)args[i];
	if (strncmp(name, "so", 2) == 0 || strstr(name, "send") ||
	    strstr(name, "recv"))
		return socket_answer(name, variant, a, args);
	if (strcmp(name, "setrlimit") == 0)
		return a[0] == 4 ? NO(0) : SECCOMP_RET_ALLOW;
	if (strcmp(name, "prlimit64") == 0 && a[0] == 1)
		return NO(EPERM);
	if (strncmp(name, "sched_set", 9) == 0)
		return a[0] == 1 ? NO(EPERM) : SECCOMP_RET_ALLOW;
	if (strcmp(name, "setpriority") == 0)
		return a[0] == 2 || a[1] == 1 ? NO(EPERM) : SECCOMP_RET_ALLOW;
	if (strcmp(name, "ioprio_set") == 0)
		return a[0] == 3 || a[1] == 1 ? NO(EPERM) : SECCOMP_RET_ALLOW;
	if (strcmp(name, "prlimit64") == 0)
		return a[1] != 4 || !args[2] ? SECCOMP_RET_ALLOW :
		    args[3] ? NO(EPERM) : NO(0);
	if (strcmp(name, "clone") == 0)
		no = (a[0] & (0x00020000 | 0x02000000 | 0x04000000 |
		    0x08000000 | 0x10000000 | 0x20000000 | 0x40000000)) != 0;
	else if (strcmp(name, "ioctl") == 0)
		no = a[1] == 0x5412 || a[1] == 0x541c || a[1] == 0x541d ||
		    a[1] == 0x5423;
	else if (strcmp(name, "fcntl") == 0)
		no = a[1] == 1024;	/* F_SETLEASE */
	else if (strcmp(name, "prctl") == 0)
		no = a[0] == 35 || a[0] == 59;
	else if (strcmp(name, "personality") == 0)
		no = a[0] != 0 && a[0] != 8 && a[0] != 0x20000 &&
		    a[0] != 0x40000 && a[0] != 0xffffffff;
	else
		fail_msg("%s: no argument rule", name);
	return no ? NO(EPERM) : SECCOMP_RET_ALLOW;
}

uint32_t
oracle_seccomp(int arch, int variant, const struct seccomp_data *data)
{
	const struct oracle_call *call =
	    oracle_find_nr(arch, (uint32_t)data->nr);
	uint64_t args[6];

	if (data->arch != arch_tokens[arch])
		return SECCOMP_RET_KILL_PROCESS;
	if (!call)
		return NO(ENOSYS);
	if (!call->by_args[variant])
		return call->answer[variant];
	memcpy(args, data->args, sizeof args);
	return args_answer(call->name, variant, args);
}

/* What is allowed inside nesting-1 and refused by seccomp-1. */
static int
is_nested(const char *name, const uint32_t a[6])
{
	static const char *const names[] = {
		"clone", "clone3", "setns", "mount", "umount2", "pivot_root",
		"chroot", "sethostname", "move_mount", "fsopen", "fsconfig",
		"mount_setattr", "bind",
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	return strcmp(name, "unshare") == 0 && !(a[0] & 0x100080);
}

static int
is_netfilter(const char *name, const uint32_t a[6])
{
	if (strcmp(name, "setsockopt") && strcmp(name, "getsockopt"))
		return 0;
	return (a[1] == 0 || a[1] == 41) && ((a[2] >= 64 && a[2] < 68) ||
	    (a[2] >= 96 && a[2] < 100) || (a[2] >= 128 && a[2] < 132));
}

uint32_t
oracle_nesting(int arch, int variant, const struct seccomp_data *data)
{
	const struct oracle_call *call =
	    oracle_find_nr(arch, (uint32_t)data->nr);
	uint32_t a[6];

	if (data->arch != arch_tokens[arch] || !call)
		return oracle_seccomp(arch, variant, data);
	for (int i = 0; i < 6; i++)
		a[i] = (uint32_t)data->args[i];
	if (is_nested(call->name, a))
		return SECCOMP_RET_ALLOW;
	if (strcmp(call->name, "open_tree") == 0)
		return a[2] & 2 ? NO(EINVAL) : SECCOMP_RET_ALLOW;
	if (strcmp(call->name, "fsmount") == 0)
		return a[1] & 2 ? NO(EINVAL) : SECCOMP_RET_ALLOW;
	if (is_netfilter(call->name, a))
		return NO(EPERM);
	if (variant == ISOLATED)
		return oracle_seccomp(arch, variant, data);
	/* The netlink of isolated, an address, and a local datagram socket. */
	if (strcmp(call->name, "sendto") == 0)
		return oracle_seccomp(arch, ISOLATED, data);
	if (strcmp(call->name, "socket"))
		return oracle_seccomp(arch, variant, data);
	if (a[0] == 1)
		return a[1] % 16 == 2 ? SECCOMP_RET_ALLOW : NO(EPROTONOSUPPORT);
	return a[0] == 16 ? oracle_seccomp(arch, ISOLATED, data) :
	    NO(EAFNOSUPPORT);
}

uint32_t
oracle_nosetid(int arch, int version, const struct seccomp_data *data)
{
	static const struct {
		const char	*name;
		int		mode, flags;	/* arguments; -1: none */
	} calls[] = {
		{ "chmod", 1, -1 }, { "fchmod", 1, -1 }, { "fchmodat", 2, -1 },
		{ "fchmodat2", 2, -1 }, { "creat", 1, -1 }, { "mkdir", 1, -1 },
		{ "mkdirat", 2, -1 }, { "mknod", 1, -1 }, { "mknodat", 2, -1 },
		{ "open", 2, 1 }, { "openat", 3, 2 },
	};
	uint32_t nr = (uint32_t)data->nr;
	const struct oracle_call *call = oracle_find_nr(arch, nr);

	if (data->arch != arch_tokens[arch])
		return SECCOMP_RET_KILL_PROCESS;
	if (nr >= 0x40000000 || (call && strcmp(call->name, "openat2") == 0))
		return NO(ENOSYS);
	if (version == 2 && call && strstr(call->name, "setxattr"))
		return NO(EOPNOTSUPP);
	for (size_t i = 0; call && i < sizeof calls / sizeof calls[0]; i++)
		if (strcmp(calls[i].name, call->name) == 0 &&
		    (data->args[calls[i].mode] & 06000) != 0 &&
		    (calls[i].flags < 0 ||
		    (data->args[calls[i].flags] & 020000100) != 0))
			return NO(EPERM);
	return SECCOMP_RET_ALLOW;
}
