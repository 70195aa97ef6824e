/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* aide SUBCOMMAND...: see the table at the end. */
#include "aide.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

void
aide_fail(const char *what)
{
	fprintf(stderr, "aide: %s: %s\n", what, strerror(errno));
	exit(99);
}

void
aide_exec(char *argv[])
{
	if (!argv[0])
		aide_fail("no command");
	execvp(argv[0], argv);
	aide_fail(argv[0]);
}

/* argv is NAME... "--" CMD...: the command, n words of arguments before it. */
static char **
command(char *argv[], int n)
{
	for (int i = 0; i < n; i++)
		if (!argv[i])
			aide_fail("too few arguments");
	if (!argv[n] || strcmp(argv[n], "--"))
		aide_fail("-- is missing");
	return argv + n + 1;
}

/* fds HIGH -- CMD: 3 to 1023 are open, and HIGH; none is close-on-exec. */
static int
do_fds(char *argv[])
{
	char **cmd = command(argv, 1);
	struct rlimit limit;
	int kinds[5], pair[2];
	rlim_t high = (rlim_t)atol(argv[0]);

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max > limit.rlim_cur)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		aide_fail("socketpair");
	kinds[0] = open("/", O_RDONLY | O_DIRECTORY);
	kinds[1] = open("/etc/passwd", O_RDONLY);
	kinds[2] = pair[0];
	kinds[3] = eventfd(0, 0);
	kinds[4] = memfd_create("escape", 0);
	for (int fd = 3; fd < 1024 && (rlim_t)fd < limit.rlim_cur; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			dup2(kinds[fd % 5], fd);
	if (high >= limit.rlim_cur)
		high = limit.rlim_cur - 1;
	if (dup2(kinds[0], (int)high) < 0)
		aide_fail("dup2");
	aide_exec(cmd);
}

/* closed -- CMD: 0 and 2 are not open. */
static int
do_closed(char *argv[])
{
	char **cmd = command(argv, 0);

	close(0);
	close(2);
	aide_exec(cmd);
}

/* Pass a directory along, as an outside helper might by accident. */
static void
send_directory(int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { (void *)(size_t)"x", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof control,
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int directory = open("/", O_RDONLY | O_DIRECTORY);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &directory, sizeof(int));
	if (sendmsg(fd, &msg, 0) < 0)
		aide_fail("sendmsg");
	close(directory);
}

/* stdin KIND PATH -- CMD */
static int
do_stdin(char *argv[])
{
	char **cmd = command(argv, 2);
	int fd = -1, pair[2];

	if (!strcmp(argv[0], "socket")) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			aide_fail("socketpair");
		send_directory(pair[1]);
		fd = pair[0];
	} else {
		fd = open(argv[1], !strcmp(argv[0], "directory") ?
		    O_RDONLY | O_DIRECTORY : !strcmp(argv[0], "path") ?
		    O_PATH : !strcmp(argv[0], "rdwr") ? O_RDWR : O_RDONLY);
	}
	if (fd < 0 || dup2(fd, 0) < 0)
		aide_fail(argv[1]);
	close(fd);
	aide_exec(cmd);
}

/* log FILE -- CMD: standard error is appended to it. */
static int
do_log(char *argv[])
{
	char **cmd = command(argv, 1);
	int fd = open(argv[0], O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0 || dup2(fd, 2) < 0)
		aide_fail(argv[0]);
	aide_exec(cmd);
}

/* plain -- CMD: what a shell ignores for a background job is not ignored. */
static int
do_plain(char *argv[])
{
	char **cmd = command(argv, 0);

	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	aide_exec(cmd);
}

/* argc0 PATH [ENTRY]...: no argv[0]; the entries are its whole environment. */
static int
do_argc0(char *argv[])
{
	char *none[] = { NULL };

	if (!argv[0])
		aide_fail("argc0 PATH");
	execve(argv[0], none, environ);
	aide_fail(argv[0]);
}

/* env ENTRY... -- CMD: entries as they are, after the environment. */
static int
do_env(char *argv[])
{
	size_t n = 0, more = 0;
	char **env;

	while (environ[n])
		n++;
	while (argv[more] && strcmp(argv[more], "--"))
		more++;
	if (!argv[more])
		aide_fail("-- is missing");
	env = calloc(n + more + 1, sizeof *env);
	if (!env)
		aide_fail("memory");
	memcpy(env, environ, n * sizeof *env);
	memcpy(env + n, argv, more * sizeof *env);
	execvpe(argv[more + 1], argv + more + 1, env);
	aide_fail(argv[more + 1]);
}

/* odd -- CMD: blocked and ignored signals, a strange execution domain. */
static int
do_odd(char *argv[])
{
	/* struct sigaction as the kernel has it, SIG_IGN first. */
	static const unsigned long ignored[4] = { 1 };
	char **cmd = command(argv, 0);
	sigset_t all;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	/* As posix_spawn(3) of glibc leaves them, in its children. */
	syscall(SYS_rt_sigaction, 32, ignored, NULL, 8);
	syscall(SYS_rt_sigaction, 33, ignored, NULL, 8);
	sigemptyset(&all);
	sigaddset(&all, SIGUSR2);
	sigaddset(&all, SIGALRM);
	sigaddset(&all, SIGWINCH);
	sigprocmask(SIG_BLOCK, &all, NULL);
	personality(ADDR_NO_RANDOMIZE);
	aide_exec(cmd);
}

/* In a session of its own on the terminal; @ in a word is its numbers. */
static void
run_on_terminal(int slave, char *cmd[])
{
	static char device[64], number[64];
	struct stat st;

	if (fstat(slave, &st) < 0)
		aide_fail("terminal");
	snprintf(device, sizeof device, "ttydev=%lu", (unsigned long)st.st_dev);
	snprintf(number, sizeof number, "ttyrdev=%lu",
	    (unsigned long)st.st_rdev);
	for (char **word = cmd; *word; word++)
		if (!strcmp(*word, "ttydev=@"))
			*word = device;
		else if (!strcmp(*word, "ttyrdev=@"))
			*word = number;
	setsid();
	if (ioctl(slave, TIOCSCTTY, 0) < 0)
		aide_fail("TIOCSCTTY");
	for (int i = 0; i < 3; i++)
		dup2(slave, i);
	aide_exec(cmd);
}

static void
copy_output(int master)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(master, buf, sizeof buf)) > 0)
		if (write(1, buf, (size_t)n) < 0)
			break;
}

/*
 * pty -- CMD: on a terminal of its own, whose output is copied. Last a line:
 * "terminal same" or "terminal changed", as its settings are.
 */
static int
do_pty(char *argv[])
{
	char **cmd = command(argv, 0);
	int unlock = 0, slave, status = 0;
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios before, after;
	pid_t pid;

	if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) < 0)
		aide_fail("/dev/ptmx");
	slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0 || tcgetattr(slave, &before) < 0)
		aide_fail("terminal");
	pid = fork();
	if (pid == 0)
		run_on_terminal(slave, cmd);
	/* Our slave stays open: without it the settings would be gone. */
	for (struct pollfd p = { master, POLLIN, 0 };
	    waitpid(pid, &status, WNOHANG) == 0; )
		if (poll(&p, 1, 50) > 0) {
			char buf[4096];
			ssize_t n = read(master, buf, sizeof buf);

			if (n > 0 && write(1, buf, (size_t)n) < 0)
				break;
		}
	fcntl(master, F_SETFL, O_NONBLOCK);
	copy_output(master);
	tcgetattr(slave, &after);
	printf("terminal %s\n", memcmp(&before, &after, sizeof before) ?
	    "changed" : "same");
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

/* filter PID N: the N-th filter that PID carries, as bytes. */
static int
do_filter(char *argv[])
{
	static struct sock_filter insns[4096];
	pid_t pid;
	long n;

	if (!argv[0] || !argv[1])
		aide_fail("filter PID N");
	pid = (pid_t)atoi(argv[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 ||
	    waitpid(pid, NULL, __WALL) < 0)
		aide_fail("ptrace");
	n = ptrace(PTRACE_SECCOMP_GET_FILTER, pid, atol(argv[1]), insns);
	if (n < 0)
		aide_fail("PTRACE_SECCOMP_GET_FILTER");
	fwrite(insns, sizeof *insns, (size_t)n, stdout);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char *argv[]);
} subcommands[] = {
	{ "argc0", do_argc0 },
	{ "closed", do_closed },
	{ "confined", aide_confined },
	{ "daemons", aide_daemons },
	{ "env", do_env },
	{ "fds", do_fds },
	{ "filter", do_filter },
	{ "log", do_log },
	{ "odd", do_odd },
	{ "pause", aide_pause },
	{ "plain", do_plain },
	{ "pty", do_pty },
	{ "random", aide_random },
	{ "sentinel", aide_sentinel },
	{ "stdin", do_stdin },
	{ "swap", aide_swap },
	{ "thread", aide_thread },
	{ "zombies", aide_zombies },
};

int
main(int argc, char *argv[])
{
	for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
		if (argc > 1 && !strcmp(argv[1], subcommands[i].name))
			return subcommands[i].run(argv + 2);
	fprintf(stderr, "aide: no such subcommand\n");
	return 99;
}
