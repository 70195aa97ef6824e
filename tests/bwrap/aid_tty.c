/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pty CMD: runs CMD as the leader of a session on a new terminal, and does
 * what the lines of standard input say:
 *
 *	send TEXT	types it; \n ends a line, \3 is Ctrl-C, \26 is Ctrl-Z
 *	expect TEXT	waits for it in the output since the last one
 *	size N		makes the terminal N columns wide
 *	end		waits for CMD's end and prints its status
 *
 * Whatever is not there within ten seconds is told, with what was.
 *
 * type: types into its terminal, by TIOCSTI and TIOCLINUX, under each number
 * that ioctl(2) has on this machine, and prints how that ended.
 */
#include "aid.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000 };

static struct {
	int	fd;
	pid_t	pid;
	char	seen[65536];	/* output that nobody has waited for */
	size_t	n;
} tty;

static long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What CMD writes within so many milliseconds; false: no more will come. */
static bool
listen_to(long ms)
{
	struct pollfd p = { tty.fd, POLLIN, 0 };
	ssize_t n;

	if (ms < 0 || poll(&p, 1, (int)ms) <= 0)
		return ms >= 0;
	if (tty.n == sizeof tty.seen - 1)
		tty.n = 0;
	n = read(tty.fd, tty.seen + tty.n, sizeof tty.seen - 1 - tty.n);
	if (n <= 0)
		return false;
	/* A NUL would end what is searched. */
	for (ssize_t i = 0; i < n; i++)
		if (tty.seen[tty.n + (size_t)i] == '\0')
			tty.seen[tty.n + (size_t)i] = '@';
	tty.n += (size_t)n;
	tty.seen[tty.n] = '\0';
	return true;
}

static bool
expect(const char *text)
{
	long deadline = now_ms() + PATIENCE_MS;
	bool more = true;

	for (;;) {
		char *at = strstr(tty.seen, text);

		if (at) {
			at += strlen(text);
			tty.n -= (size_t)(at - tty.seen);
			memmove(tty.seen, at, tty.n + 1);
			return true;
		}
		if (!more || now_ms() > deadline) {
			printf("no \"%s\" in: %s\n", text, tty.seen);
			return false;
		}
		more = listen_to(deadline - now_ms());
	}
}

/* Whether anybody still reads it is seen by what comes. */
static bool
send_text(const char *s)
{
	while (*s) {
		char c = *s++;

		if (c == '\\' && *s == 'n') {
			c = '\n';
			s++;
		} else if (c == '\\') {
			char *end;

			c = (char)strtol(s, &end, 10);
			s = end;
		}
		if (write(tty.fd, &c, 1) != 1)
			break;
	}
	return true;
}

static bool
end(void)
{
	long deadline = now_ms() + PATIENCE_MS;
	int status;

	for (;;) {
		pid_t pid = waitpid(tty.pid, &status, WNOHANG);

		if (pid == tty.pid)
			break;
		if (pid < 0 || now_ms() > deadline) {
			printf("no end; last: %s\n", tty.seen);
			return false;
		}
		/* Its last words may be what it waits to be rid of. */
		if (!listen_to(20))
			usleep(2000);
	}
	tty.pid = 0;
	printf("status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status));
	return true;
}

static bool
obey(const char *line)
{
	struct winsize size = { .ws_row = 24 };

	if (strncmp(line, "send ", 5) == 0)
		return send_text(line + 5);
	if (strncmp(line, "expect ", 7) == 0)
		return expect(line + 7);
	if (strcmp(line, "end") == 0)
		return end();
	if (strncmp(line, "size ", 5) != 0)
		return false;
	size.ws_col = (unsigned short)atoi(line + 5);
	return ioctl(tty.fd, TIOCSWINSZ, &size) == 0;
}

int
run_pty(char **words)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	char line[4096];
	bool good = true;

	tty.pid = forkpty(&tty.fd, NULL, NULL, &size);
	if (tty.pid == 0) {
		execvp(words[0], words);
		die(words[0]);
	}
	if (tty.pid < 0)
		die("forkpty");
	while (good && fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		good = !*line || obey(line);
		if (!good)
			printf("failed: %s\n", line);
	}
	if (tty.pid > 0) {
		kill(-tty.pid, SIGKILL);
		kill(tty.pid, SIGKILL);
	}
	close(tty.fd);
	if (good)
		puts("done");
	return !good;
}

#if defined __x86_64__
/* By the gate of 32-bit programs, which 64-bit ones can use as well. */
static int
ioctl_32(unsigned long request, void *arg)
{
	long rc = 54;

	__asm__ volatile ("int $0x80" : "+a"(rc)
	    : "b"(0), "c"((uint32_t)request), "d"((uint32_t)(uintptr_t)arg)
	    : "memory", "r8", "r9", "r10", "r11");
	return rc < 0 ? (int)-rc : 0;
}
#endif

static int
ioctl_nr(long nr, unsigned long request, const void *arg)
{
	return syscall(nr, 0, request, arg) < 0 ? errno : 0;
}

static void
try_request(const char *name, unsigned long request, char *arg)
{
	const unsigned long high = 1ul << 32;

	printf(" %s %s", name, error_name(ioctl_nr(SYS_ioctl, request, arg)));
	printf(" %s", error_name(ioctl_nr(SYS_ioctl, request | high, arg)));
#if defined __x86_64__
	printf(" %s", error_name(ioctl_nr(0x40000000 | 514, request, arg)));
	printf(" %s", error_name(ioctl_32(request, arg)));
#endif
}

int
run_type(char **words)
{
	const char *text = "touch typed\n";
	struct winsize size;
#if defined __x86_64__
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
#else
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif

	(void)words;
	if (low == MAP_FAILED)
		die("mmap");
	for (size_t i = 0; i < strlen(text); i++) {
		*low = text[i];
		(void)ioctl(0, TIOCSTI, low);
	}
	*low = ' ';
	printf("typed:");
	try_request("TIOCSTI", TIOCSTI, low);
	*low = 0;	/* and it would be TIOCL_SETSEL with 2 */
	try_request("TIOCLINUX", TIOCLINUX, low);
	/* What is no such request is let through, whatever the number. */
#if defined __x86_64__
	printf(" else %s", error_name(ioctl_32(TIOCGWINSZ, low)));
#else
	printf(" else OK");
#endif
	printf(" %s.\n", error_name(ioctl(0, TIOCGWINSZ, &size) < 0 ? errno :
	    0));
	return 0;
}
