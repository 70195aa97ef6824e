/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cmocka.h>

#define SAME(name) { #name, name }

static const struct {
	const char	*name;
	uint64_t	value;
} constants[] = {
	SAME(AF_UNIX), SAME(AF_INET), SAME(AF_INET6), SAME(AF_NETLINK),
	SAME(AF_PACKET), SAME(AF_ALG), SAME(AF_VSOCK),
	SAME(SOCK_STREAM), SAME(SOCK_DGRAM), SAME(SOCK_RAW),
	SAME(SOCK_SEQPACKET), SAME(SOCK_CLOEXEC), SAME(SOCK_NONBLOCK),
	SAME(IPPROTO_TCP), SAME(IPPROTO_UDP), SAME(IPPROTO_ICMP),
	SAME(IPPROTO_SCTP), { "IPPROTO_MPTCP", 262 },
	SAME(NETLINK_ROUTE), SAME(NETLINK_NETFILTER), SAME(NETLINK_XFRM),
	SAME(MSG_OOB), SAME(MSG_PEEK), SAME(MSG_NOSIGNAL),
	SAME(TIOCSTI), SAME(TIOCLINUX), SAME(TIOCCONS), SAME(TIOCSETD),
	SAME(TIOCGWINSZ), SAME(TCGETS),
	SAME(PR_SET_MM), SAME(PR_SET_SYSCALL_USER_DISPATCH), SAME(PR_SET_NAME),
	SAME(RLIMIT_CORE), SAME(RLIMIT_NOFILE),
	SAME(CLONE_VM), SAME(CLONE_THREAD), SAME(CLONE_NEWNS),
	SAME(CLONE_NEWCGROUP), SAME(CLONE_NEWUTS), SAME(CLONE_NEWIPC),
	SAME(CLONE_NEWUSER), SAME(CLONE_NEWPID), SAME(CLONE_NEWNET),
	SAME(O_RDWR), SAME(O_CREAT), SAME(__O_TMPFILE),
};

static const struct {
	const char	*name;
	uint32_t	answer;
} answers[] = {
	{ "allow",		SECCOMP_RET_ALLOW },
	{ "kill",		SECCOMP_RET_KILL_PROCESS },
	{ "success",		SECCOMP_RET_ERRNO },
	{ "EPERM",		SECCOMP_RET_ERRNO | EPERM },
	{ "EINVAL",		SECCOMP_RET_ERRNO | EINVAL },
	{ "ENOSYS",		SECCOMP_RET_ERRNO | ENOSYS },
	{ "EISCONN",		SECCOMP_RET_ERRNO | EISCONN },
	{ "EOPNOTSUPP",		SECCOMP_RET_ERRNO | EOPNOTSUPP },
	{ "EAFNOSUPPORT",	SECCOMP_RET_ERRNO | EAFNOSUPPORT },
	{ "EPROTONOSUPPORT",	SECCOMP_RET_ERRNO | EPROTONOSUPPORT },
};

const char *const arch_names[N_ARCHES] = { "x86_64", "aarch64" };
const char *const variant_names[N_VARIANTS] = { "denied", "isolated" };
const uint32_t arch_tokens[N_ARCHES] = {
	AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64,
};

static size_t
split(char *line, char *words[ROW_WORDS_MAX])
{
	char *save;
	size_t n = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (char *w = strtok_r(line, " \t", &save); w && n < ROW_WORDS_MAX;
	    w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	return n;
}

size_t
rows_read(const char *file,
    void (*row)(const char *place, char *words[ROW_WORDS_MAX], size_t n))
{
	const char *srcdir = getenv("srcdir");
	char path[4096], place[128], line[512], *words[ROW_WORDS_MAX];
	unsigned int number = 0;
	size_t n_rows = 0, n;
	FILE *in;

	snprintf(path, sizeof path, "%s/tests/filter/%s",
	    srcdir ? srcdir : ".", file);
	in = fopen(path, "re");
	if (!in)
		fail_msg("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof line, in)) {
		snprintf(place, sizeof place, "%s:%u", file, ++number);
		n = split(line, words);
		if (n == 0)
			continue;
		row(place, words, n);
		n_rows++;
	}
	fclose(in);
	assert_true(n_rows > 0);
	return n_rows;
}

static uint64_t
value(const char *place, const char *word)
{
	unsigned long long number;
	char *end;

	for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++)
		if (strcmp(constants[i].name, word) == 0)
			return constants[i].value;
	number = strtoull(word, &end, 0);
	if (end == word || *end)
		fail_msg("%s: unknown value %s", place, word);
	return number;
}

uint64_t
rows_value(const char *place, char *words)
{
	uint64_t sum = 0;
	char *save;

	for (char *w = strtok_r(words, "|", &save); w;
	    w = strtok_r(NULL, "|", &save))
		sum |= value(place, w);
	return sum;
}

uint32_t
rows_answer(const char *place, const char *word)
{
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
		if (strcmp(answers[i].name, word) == 0)
			return answers[i].answer;
	fail_msg("%s: unknown answer %s", place, word);
	return 0;
}
