/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SEC: ways past the filter, and who carries it. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
static _Noreturn void
int80(long nr, long a, long b, long c)
{
	long rc;

	__asm__ volatile("int $0x80" : "=a"(rc)
	    : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10",
	    "r11");
	errno = rc < 0 ? (int)-rc : 0;
	probe_result(rc < 0 ? -1 : rc, "int 0x80");
}

static void
int80_getpid(void)
{
	int80(20, 0, 0, 0);
}

static void
int80_socket(void)
{
	int80(359, 1, 1, 0);
}

/* socketcall(SYS_SOCKET, NULL): EFAULT where it is reached. */
static void
int80_socketcall(void)
{
	int80(102, 1, 0, 0);
}

/* The smallest 32-bit program there is: exit(42). */
static const unsigned char elf32[] = {
	0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	2, 0, 3, 0, 1, 0, 0, 0, 0x54, 0x80, 0x04, 0x08, 0x34, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0x34, 0, 0x20, 0, 1, 0, 0x28, 0,
	0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x04, 0x08,
	0, 0x80, 0x04, 0x08, 0x60, 0, 0, 0, 0x60, 0, 0, 0, 5, 0, 0, 0,
	0, 0x10, 0, 0, 0xb8, 1, 0, 0, 0, 0xbb, 42, 0, 0, 0, 0xcd, 0x80,
};

static void
elf(void)
{
	static const char path[] = "nsrun-escape-elf32";
	int status, fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	pid_t pid;

	if (fd < 0 || write(fd, elf32, sizeof elf32) != sizeof elf32)
		probe_skip("cannot be written here: %s", strerror(errno));
	close(fd);
	pid = probe_fork();
	if (pid == 0) {
		execl(path, path, (char *)NULL);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	waitpid(pid, &status, 0);
	unlink(path);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		probe_blocked(0, "killed by SIGSYS");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 42)
		probe_open("a 32-bit program ran");
	probe_skip("status 0x%x: no 32-bit programs here", status);
}

static void
x32_getpid(void)
{
	probe_result(syscall(0x40000000 | SYS_getpid), "x32 getpid");
}

static void
x32_socket(void)
{
	probe_result(syscall(0x40000000 | SYS_socket, 1, 1, 0), "x32 socket");
}

static void
x32_ptrace(void)
{
	probe_result(syscall(0x40000000 | 521, 0, 0, 0, 0), "x32 ptrace");
}
#endif

/* Numbers that nobody uses, and what the kernel makes of the high half. */
static void
unknown(void)
{
	static const long numbers[] = { 470, 471, 472, 480, 512, 547, 600, 1023,
		0x3fffffff, 0x40000000, 0x7fffffff, -1, -2 };

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		long rc = syscall(numbers[i], -1, -1, -1, -1, -1, -1);

		if (rc >= 0)
			probe_open("number %ld", numbers[i]);
		if (errno != ENOSYS)
			probe_blocked(errno, "number %ld", numbers[i]);
	}
	probe_blocked(ENOSYS, "all");
}

/* The kernel reads 32 bits of the number; so must the filter. */
static void
high_half(void)
{
	probe_result(syscall(1L << 32 | SYS_adjtimex, &(struct timex){ 0 }),
	    "adjtimex with bit 32");
}

/*
 * A filter of our own over the sandbox's: of two verdicts the kernel takes the
 * stricter. adjtimex(2) without modes only reads.
 */
static _Noreturn void
relax(uint32_t verdict, unsigned long flags)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_adjtimex, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, insns };
	struct timex now = { 0 };
	long fd;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0)
		probe_skip("no filter of our own: %s", strerror(errno));
	if (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER)
		close((int)fd);
	probe_result(syscall(SYS_adjtimex, &now),
	    "adjtimex under a filter of ours");
}

static void
relax_allow(void)
{
	relax(SECCOMP_RET_ALLOW, 0);
}

static void
relax_tsync(void)
{
	relax(SECCOMP_RET_ALLOW, SECCOMP_FILTER_FLAG_TSYNC);
}

static void
relax_trace(void)
{
	relax(SECCOMP_RET_TRACE, 0);
}

static void
relax_log(void)
{
	relax(SECCOMP_RET_LOG, 0);
}

static void
relax_listener(void)
{
	relax(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

static void
no_new_privs(void)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		probe_blocked(0, "no_new_privs is set");
	probe_open("no_new_privs is not set");
}

/* A copy of us that belongs to root and is set-user-ID. */
static void
setuid_program(void)
{
	const char *path = probe_param("suid");
	char uid[16];
	pid_t pid;
	int status;

	if (access(path, X_OK) < 0)
		probe_skip("%s: %s", path, strerror(errno));
	snprintf(uid, sizeof uid, "%u", geteuid());
	pid = probe_fork();
	if (pid == 0) {
		execl(path, "probe", "--euid", uid, (char *)NULL);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		probe_skip("status 0x%x", status);
	if (WEXITSTATUS(status))
		probe_open("its effective uid changed");
	probe_blocked(0, "its effective uid stays %s", uid);
}

static void *
sleeper(void *argument)
{
	for (;;)
		pause();
	return argument;
}

/* One task's status against what every task of a sandbox has. */
static void
check_task(const char *pid, const char *tid)
{
	static const char *const lines[] = {
		"\nCapInh:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n",
		"\nCapEff:\t0000000000000000\n",
		"\nCapBnd:\t0000000000000000\n",
		"\nCapAmb:\t0000000000000000\n", "\nNoNewPrivs:\t1\n",
		"\nSeccomp:\t2\n",
	};
	char path[64], text[8192];

	snprintf(path, sizeof path, "/proc/%.16s/task/%.16s/status", pid, tid);
	if (probe_read(path, text, sizeof text) <= 0)
		return;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (!strstr(text, lines[i]))
			probe_open("%s lacks %.12s", path, lines[i] + 1);
}

/* Every task: pid 1, threads, orphans. */
static void
all_tasks(void)
{
	const struct dirent *entry, *task;
	DIR *proc = opendir("/proc"), *tasks;
	pthread_t thread;
	char path[300];
	int n = 0;

	probe_idle_child();
	if (pthread_create(&thread, NULL, sleeper, NULL))
		probe_skip("no thread");
	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof path, "/proc/%s/task", entry->d_name);
		tasks = opendir(path);
		while (tasks && (task = readdir(tasks)))
			if (task->d_name[0] != '.' && ++n)
				check_task(entry->d_name, task->d_name);
		if (tasks)
			closedir(tasks);
	}
	if (n < 4)
		probe_skip("only %d tasks are visible", n);
	probe_blocked(0, "%d tasks, all confined", n);
}

/* securebits: a uid 0 that exec would make powerful is not possible. */
static void
securebits(void)
{
	int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);

	if ((bits & 0xef) == 0xef)
		probe_blocked(0, "locked: 0x%x", bits);
	probe_open("0x%x", bits);
}

const struct probe_check probe_sec[] = {
#ifdef __x86_64__
	{ "SEC-01.getpid", int80_getpid },
	{ "SEC-01.socket", int80_socket },
	{ "SEC-01.socketcall", int80_socketcall },
	{ "SEC-01.elf32", elf },
	{ "SEC-02.getpid", x32_getpid },
	{ "SEC-02.socket", x32_socket },
	{ "SEC-02.ptrace", x32_ptrace },
#endif
	{ "SEC-03.unknown", unknown },
	{ "SEC-03.high_half", high_half },
	{ "SEC-06.allow", relax_allow },
	{ "SEC-06.tsync", relax_tsync },
	{ "SEC-06.trace", relax_trace },
	{ "SEC-06.log", relax_log },
	{ "SEC-06.listener", relax_listener },
	{ "SEC-07.nnp", no_new_privs },
	{ "SEC-07.setuid", setuid_program },
	{ "SEC-08.tasks", all_tasks },
	{ "SEC-08.securebits", securebits },
	{ NULL, NULL }
};
