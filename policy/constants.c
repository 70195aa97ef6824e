/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define N_OF(a) (sizeof (a) / sizeof (a)[0])
#define SAME(name) { #name, name }

struct constant {
	const char	*name;
	uint64_t	value;
};

/*
 * Only what is the same number on every architecture of ours: O_DIRECTORY,
 * O_NOFOLLOW, O_DIRECT and O_LARGEFILE are not.
 */
static const struct constant constants[] = {
	SAME(AF_UNSPEC), SAME(AF_UNIX), SAME(AF_INET), SAME(AF_INET6),
	SAME(AF_NETLINK), SAME(AF_PACKET), SAME(AF_ALG), SAME(AF_VSOCK),
	SAME(SOCK_STREAM), SAME(SOCK_DGRAM), SAME(SOCK_RAW),
	SAME(SOCK_SEQPACKET), SAME(SOCK_NONBLOCK), SAME(SOCK_CLOEXEC),
	{ "SOCK_TYPE_MASK", 0xf },	/* the kernel's own; not exported */
	SAME(IPPROTO_IP), SAME(IPPROTO_TCP), SAME(IPPROTO_UDP),
	SAME(NETLINK_ROUTE), SAME(MSG_OOB),
	SAME(TIOCSTI), SAME(TIOCLINUX), SAME(TIOCCONS), SAME(TIOCSETD),
	SAME(PR_SET_MM), SAME(PR_SET_SYSCALL_USER_DISPATCH),
	SAME(PR_SET_SECCOMP), SAME(PR_SET_NO_NEW_PRIVS),
	SAME(PER_LINUX), { "PER_LINUX32", 8 }, { "UNAME26", 0x20000 },
	SAME(ADDR_NO_RANDOMIZE), SAME(READ_IMPLIES_EXEC),
	SAME(RLIMIT_AS), SAME(RLIMIT_CORE), SAME(RLIMIT_CPU),
	SAME(RLIMIT_FSIZE), SAME(RLIMIT_MEMLOCK), SAME(RLIMIT_NOFILE),
	SAME(RLIMIT_NPROC), SAME(RLIMIT_STACK),
	SAME(O_WRONLY), SAME(O_RDWR), SAME(O_CREAT), SAME(O_EXCL),
	SAME(O_TRUNC), SAME(O_APPEND), SAME(O_CLOEXEC), SAME(O_PATH),
	SAME(F_SETLEASE),
	SAME(PRIO_PROCESS), SAME(PRIO_PGRP), SAME(PRIO_USER),
	{ "IOPRIO_WHO_USER", 3 },
	/* O_TMPFILE without the O_DIRECTORY that it implies. */
	{ "O_TMPFILE_BIT", 020000000 },
	SAME(S_ISUID), SAME(S_ISGID), SAME(S_ISVTX),
};

static const struct constant errnos[] = {
	SAME(EPERM), SAME(ENOENT), SAME(ESRCH), SAME(EINTR), SAME(EIO),
	SAME(ENXIO), SAME(E2BIG), SAME(ENOEXEC), SAME(EBADF), SAME(ECHILD),
	SAME(EAGAIN), SAME(ENOMEM), SAME(EACCES), SAME(EFAULT),
	SAME(ENOTBLK), SAME(EBUSY), SAME(EEXIST), SAME(EXDEV), SAME(ENODEV),
	SAME(ENOTDIR), SAME(EISDIR), SAME(EINVAL), SAME(ENFILE),
	SAME(EMFILE), SAME(ENOTTY), SAME(ETXTBSY), SAME(EFBIG),
	SAME(ENOSPC), SAME(ESPIPE), SAME(EROFS), SAME(EMLINK), SAME(EPIPE),
	SAME(EDOM), SAME(ERANGE), SAME(EDEADLK), SAME(ENAMETOOLONG),
	SAME(ENOLCK), SAME(ENOSYS), SAME(ENOTEMPTY), SAME(ELOOP),
	SAME(ENODATA), SAME(EPROTO), SAME(EOVERFLOW), SAME(ENOTSOCK),
	SAME(EDESTADDRREQ), SAME(EMSGSIZE), SAME(EPROTOTYPE),
	SAME(ENOPROTOOPT), SAME(EPROTONOSUPPORT), SAME(ESOCKTNOSUPPORT),
	SAME(EOPNOTSUPP), SAME(EPFNOSUPPORT), SAME(EAFNOSUPPORT),
	SAME(EADDRINUSE), SAME(EADDRNOTAVAIL), SAME(ENETDOWN),
	SAME(ENETUNREACH), SAME(ECONNABORTED), SAME(ECONNRESET),
	SAME(ENOBUFS), SAME(EISCONN), SAME(ENOTCONN), SAME(ETIMEDOUT),
	SAME(ECONNREFUSED), SAME(EHOSTUNREACH), SAME(EALREADY),
	SAME(EINPROGRESS), SAME(EDQUOT), SAME(ECANCELED),
};

static const struct {
	const char	*name;
	uint32_t	audit;
} arches[NSRUN_N_ARCHES] = {
	[NSRUN_ARCH_X86_64]	= { "x86_64", AUDIT_ARCH_X86_64 },
	[NSRUN_ARCH_AARCH64]	= { "aarch64", AUDIT_ARCH_AARCH64 },
};

static const struct constant *
find(const struct constant *table, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(table[i].name) == len &&
		    memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

enum nsrun_arch
nsrun_arch_find(const char *name)
{
	int a = 0;

	while (a < NSRUN_N_ARCHES && strcmp(arches[a].name, name) != 0)
		a++;
	return (enum nsrun_arch)a;
}

const char *
nsrun_arch_name(enum nsrun_arch arch)
{
	return arches[arch].name;
}

uint32_t
nsrun_arch_audit(enum nsrun_arch arch)
{
	return arches[arch].audit;
}

/* What a digit counts, or 16 for any other character. */
static unsigned int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

static const char *
parse_number(const char *s, size_t len, uint64_t *value)
{
	unsigned int base = 10;
	size_t i = 0;

	if (len > 1 && s[0] == '0') {
		base = s[1] == 'x' ? 16 : 8;
		i = s[1] == 'x' ? 2 : 1;
	}
	if (i == len)
		return "not a number";
	for (*value = 0; i < len; i++) {
		if (digit(s[i]) >= base)
			return "not a number";
		if (*value > (UINT64_MAX - digit(s[i])) / base)
			return "a number of more than 64 bits";
		*value = *value * base + digit(s[i]);
	}
	return NULL;
}

const char *
nsrun_value_parse(const char *word, uint64_t *value)
{
	*value = 0;
	for (;;) {
		size_t len = strcspn(word, "|");
		const struct constant *c =
		    find(constants, N_OF(constants), word, len);
		uint64_t part = c ? c->value : 0;
		const char *wrong = NULL;

		if (!c && *word >= '0' && *word <= '9')
			wrong = parse_number(word, len, &part);
		else if (!c)
			wrong = "unknown constant";
		if (wrong)
			return wrong;
		*value |= part;
		if (word[len] == '\0')
			return NULL;
		word += len + 1;
	}
}

const char *
nsrun_action_parse(const char *word, uint32_t *action)
{
	const struct constant *c =
	    find(errnos, N_OF(errnos), word, strlen(word));
	uint64_t number = c ? c->value : 0;

	if (strcmp(word, "allow") == 0)
		*action = SECCOMP_RET_ALLOW;
	else if (strcmp(word, "kill") == 0)
		*action = SECCOMP_RET_KILL_PROCESS;
	else if (strcmp(word, "success") == 0)
		*action = SECCOMP_RET_ERRNO;
	else if (!c && (*word < '0' || *word > '9'))
		return "unknown action";
	else if (!c && parse_number(word, strlen(word), &number))
		return "not a number";
	else if (number < 1 || number > 4095)	/* the kernel's MAX_ERRNO */
		return "an errno is 1 to 4095";
	else
		*action = SECCOMP_RET_ERRNO | (uint32_t)number;
	return NULL;
}
