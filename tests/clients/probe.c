/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe WORD OPERAND...
 *
 * Around bwrap, each ending in CMD...:
 *   only FDS CMD           no descriptor above 2 but these: "-", or a list with
 *                          commas of N, N=FILE, N@FILE (with O_PATH), N+FILE
 *                          (made, for writing)
 *   memfd N FILE CMD       a copy of the file as a memfd on N
 *   rlimits CMD            OpenClaudia's
 *   inner FILTER CMD       under this filter, as codex's second stage
 *   helper CMD             as sandbox-runtime's apply-seccomp: helper.c
 *   filter NAME            a program for --seccomp on standard output
 *   lock FILE CMD          with a write lock on it
 *   serve SOCKET           accepts one peer, says hello to it, ends
 *
 * Inside:
 *   fds                    the open descriptors
 *   try CALL...            each call and how it ends: try.c
 *   argv0                  argv[0]
 *   locked FILE            does somebody hold a lock on it: held or free
 *   connect SOCKET         what its peer says
 *   lo                     a TCP connection to itself over 127.0.0.1
 *   caps                   the five sets, in hexadecimal, if not all the same
 */
#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_FD = 1024, PATIENCE_S = 20 };

static const char *myself;

_Noreturn void
die(const char *what)
{
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(99);
}

const char *
errno_name(int errnum)
{
	static const struct {
		int errnum;
		const char *name;
	} names[] = {
		{ EACCES, "EACCES" }, { EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ EBADF, "EBADF" }, { EFAULT, "EFAULT" }, { EINVAL, "EINVAL" },
		{ ENOENT, "ENOENT" }, { ENOSPC, "ENOSPC" },
		{ ENOSYS, "ENOSYS" }, { ENOTTY, "ENOTTY" },
		{ EOPNOTSUPP, "EOPNOTSUPP" },
		{ EPERM, "EPERM" }, { EROFS, "EROFS" },
	};
	static char number[16];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].errnum == errnum)
			return names[i].name;
	snprintf(number, sizeof number, "%d", errnum);
	return number;
}

_Noreturn void
run_exec(char **words)
{
	if (!words[0]) {
		fprintf(stderr, "probe: no command\n");
		exit(99);
	}
	execvp(words[0], words);
	die(words[0]);
}

/* One item of "only"'s list. Returns the descriptor that is kept. */
static int
keep(char *item)
{
	char *file;
	long fd = strtol(item, &file, 10);
	int flags = *file == '@' ? O_PATH :
	    *file == '+' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, opened;

	if (fd < 0 || fd >= MAX_FD)
		die("only: a number");
	if (*file == '\0')
		return (int)fd;
	opened = open(file + 1, flags, 0666);
	if (opened < 0)
		die(file + 1);
	if (opened != fd) {
		if (dup2(opened, (int)fd) < 0)
			die("only: dup2");
		close(opened);
	}
	return (int)fd;
}

static int
run_only(char **words)
{
	char kept[MAX_FD] = { 1, 1, 1 };
	char *list = words[0];

	if (!list)
		die("only");
	if (strcmp(list, "-") != 0)
		for (char *item; (item = strsep(&list, ",")) != NULL;)
			kept[keep(item)] = 1;
	for (int fd = 0; fd < MAX_FD; fd++)
		if (!kept[fd])
			close(fd);
	run_exec(words + 1);
}

static int
run_memfd(char **words)
{
	int from = words[0] && words[1] ? open(words[1], O_RDONLY) : -1;
	int fd = memfd_create("bwrap-args", 0);
	char buf[65536];
	ssize_t n;

	if (fd < 0 || from < 0)
		die("memfd");
	while ((n = read(from, buf, sizeof buf)) > 0)
		if (write(fd, buf, (size_t)n) != n)
			die("memfd: write");
	close(from);
	if (n < 0 || lseek(fd, 0, SEEK_SET) < 0)
		die("memfd: read");
	if (fd != atoi(words[0])) {
		if (dup2(fd, atoi(words[0])) < 0)
			die("memfd: dup2");
		close(fd);
	}
	run_exec(words + 2);
}

static int
run_rlimits(char **words)
{
	static const struct {
		int what;
		rlim_t most;
	} limits[] = {
		{ RLIMIT_CORE, 0 }, { RLIMIT_NOFILE, 1024 },
		{ RLIMIT_FSIZE, 268435456 }, { RLIMIT_CPU, 300 },
		{ RLIMIT_AS, 4294967296 },
	};

	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		struct rlimit r = { limits[i].most, limits[i].most };

		if (setrlimit(limits[i].what, &r) != 0)
			die("setrlimit");
	}
	run_exec(words);
}

static int
run_inner(char **words)
{
	if (!words[0])
		die("inner");
	filter_load(words[0]);
	run_exec(words + 1);
}

static int
run_filter(char **words)
{
	struct sock_filter insns[MAX_INSNS];
	size_t n = filter_make(words[0], insns);

	return fwrite(insns, sizeof *insns, n, stdout) == n ? 0 : 99;
}

static struct flock
whole(int type)
{
	return (struct flock){ .l_type = (short)type, .l_whence = SEEK_SET };
}

static int
run_lock(char **words)
{
	struct flock l = whole(F_WRLCK);
	int fd = words[0] ? open(words[0], O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0 || fcntl(fd, F_SETLK, &l) != 0)
		die("lock");
	run_exec(words + 1);
}

static int
run_locked(char **words)
{
	struct flock l = whole(F_WRLCK);
	int fd = words[0] ? open(words[0], O_RDONLY) : -1;

	if (fd < 0 || fcntl(fd, F_GETLK, &l) != 0)
		die("locked");
	puts(l.l_type == F_UNLCK ? "free" : "held");
	return 0;
}

static int
unix_socket(const char *path, struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*name = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!path || strlen(path) >= sizeof name->sun_path)
		die("a socket's name");
	strcpy(name->sun_path, path);
	if (fd < 0)
		die("socket");
	return fd;
}

static int
run_serve(char **words)
{
	struct sockaddr_un name;
	int fd = unix_socket(words[0], &name), peer;

	alarm(PATIENCE_S);
	if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
	    listen(fd, 1) != 0)
		die("serve");
	peer = accept(fd, NULL, NULL);
	if (peer < 0 || write(peer, "hello\n", 6) != 6)
		die("serve: accept");
	return 0;
}

static int
run_connect(char **words)
{
	struct sockaddr_un name;
	int fd = unix_socket(words[0], &name);
	char buf[64];
	ssize_t n;

	alarm(PATIENCE_S);
	if (connect(fd, (struct sockaddr *)&name, sizeof name) != 0)
		die("connect");
	while ((n = read(fd, buf, sizeof buf)) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	return 0;
}

static int
run_lo(char **words)
{
	struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof name;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)words;
	alarm(PATIENCE_S);
	if (listener < 0 || fd < 0 ||
	    bind(listener, (struct sockaddr *)&name, sizeof name) != 0 ||
	    listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&name, &size) != 0 ||
	    connect(fd, (struct sockaddr *)&name, sizeof name) != 0)
		die("lo");
	puts("up");
	return 0;
}

static int
run_fds(char **words)
{
	const char *blank = "";

	(void)words;
	for (int fd = 0; fd < MAX_FD; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		printf("%s%d", blank, fd);
		blank = " ";
	}
	putchar('\n');
	return 0;
}

static int
run_argv0(char **words)
{
	(void)words;
	puts(myself);
	return 0;
}

/* "none" is what callers hope for. */
static int
run_caps(char **words)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int some = 0;

	(void)words;
	if (!f)
		die("/proc/self/status");
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, "Cap", 3) != 0 ||
		    strtoull(strchr(line, ':') + 1, NULL, 16) == 0)
			continue;
		some = 1;
		fputs(line, stdout);
	}
	fclose(f);
	if (!some)
		puts("none");
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct verb verbs[] = {
		{ "argv0", run_argv0 }, { "caps", run_caps },
		{ "connect", run_connect }, { "fds", run_fds },
		{ "filter", run_filter }, { "helper", run_helper },
		{ "inner", run_inner }, { "lo", run_lo },
		{ "lock", run_lock }, { "locked", run_locked },
		{ "memfd", run_memfd }, { "only", run_only },
		{ "rlimits", run_rlimits }, { "serve", run_serve },
		{ "try", run_try },
	};

	myself = argv[0];
	for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(verbs[i].name, argv[1]) == 0)
			return verbs[i].run(argv + 2);
	fprintf(stderr, "probe: no such word; see tests/clients/probe.c\n");
	return 99;
}
