/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One run of one program. Settings of a row, where $F is the fixture, $S is
 * $F/src, $D is $F/dst, $P the probe, as in the command line:
 *
 *	N<text:TEXT	descriptor N reads TEXT (a memfd at its start)
 *	N<pipe:TEXT	the same from a pipe that nobody writes to any more
 *	N<hold		a pipe that is never written to nor closed
 *	N<file:PATH	open for reading
 *	N<path:PATH	open with O_PATH
 *	N<write:PATH	open for writing only
 *	N<seccomp:KIND	a filter, see filters
 *	N<userns N<pidns N<userns-child		of processes that live on
 *	N<gone:PATH	a directory that is made, opened and removed
 *	N>		what is written there is compared
 *	close=N		not open
 *	in=TEXT cwd=DIR umask=OCTAL env=NAME=VALUE unset=NAME
 *	ignore=N block=N	signals
 *	rlimit-nofile=N
 *	signal=N	to the program, once the command has printed something
 *	lock=PATH	the driver holds a write lock on it
 *	tty=in tty=all	a terminal that controls it: stdin, or all three
 *	tries=only=root	belongs to diff.c
 */
#include "diff.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <dirent.h>
#include <unistd.h>

#include "tree.h"

enum {
	HIGH = 100,		/* ours are above what rows use */
	FDS_MAX = 32,
	TIMEOUT_MS = 10000,
	GRACE_MS = 300,		/* for what is ending anyway */
	OUTPUT_MAX = 1 << 20,
};

volatile sig_atomic_t run_stopped;

struct run {
	const struct place *place;
	const struct row *row;
	struct { int number, fd; bool captured; } fds[FDS_MAX];
	size_t		n_fds;
	int		held[FDS_MAX];	/* ours alone: ends of pipes */
	size_t		n_held;
	int		in, out, err;
	int		terminal;	/* the master, or -1 */
	bool		terminal_out;
	char		*cwd;
	mode_t		mask;
	int		signal_nr;
	rlim_t		nofile;
	char		*env[64];
	size_t		n_env;
	FILE		*seen;		/* of the terminal */
	char		*seen_text;
	size_t		seen_size;
};

/* A descriptor above those of rows. */
static int
high(int fd)
{
	int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

	if (moved < 0)
		diff_die("a descriptor: %s", strerror(errno));
	close(fd);
	return moved;
}

static void
write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t n = write(fd, text, length);

		if (n < 0)
			diff_die("write: %s", strerror(errno));
		text += n;
		length -= (size_t)n;
	}
}

static int
memory(const char *text, size_t length)
{
	int fd = high(memfd_create("diff", MFD_CLOEXEC));

	write_all(fd, text, length);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static char *
expand(const struct place *place, const char *word)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	for (; *word; word++) {
		bool whole = word[0] == '$' && word[1] &&
		    !isalnum((unsigned char)word[2]) && word[2] != '_';

		if (whole && strchr("FSDP", word[1])) {
			word++;
			fputs(*word == 'P' ? place->probe : place->fixture, f);
			fputs(*word == 'S' ? "/src" : *word == 'D' ? "/dst" :
			    "", f);
		} else {
			putc(*word, f);
		}
	}
	fclose(f);
	return out;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	offsetof(struct seccomp_data, field))
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)
#define REFUSE(call, errnum) \
	LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), \
	RETURN(SECCOMP_RET_ERRNO | (errnum)), RETURN(SECCOMP_RET_ALLOW)

static const struct sock_filter
    filter_allow[] = { RETURN(SECCOMP_RET_ALLOW) },
    filter_sysinfo[] = { REFUSE(SYS_sysinfo, EPERM) },
    filter_sched[] = { REFUSE(SYS_sched_get_priority_max, ENOSYS) },
    filter_prctl[] = { REFUSE(SYS_prctl, EPERM) },
    filter_execve[] = { REFUSE(SYS_execve, EACCES) },
    filter_endless[] = { LOAD(nr) },
    filter_invalid[] = { BPF_STMT(0xffff, 0) };

static const struct {
	const char	*name;
	const void	*bytes;
	size_t		size;
} filters[] = {
	{ "allow", filter_allow, sizeof filter_allow },
	{ "sysinfo", filter_sysinfo, sizeof filter_sysinfo },
	{ "sched", filter_sched, sizeof filter_sched },
	{ "prctl", filter_prctl, sizeof filter_prctl },
	{ "execve", filter_execve, sizeof filter_execve },
	{ "endless", filter_endless, sizeof filter_endless },
	{ "invalid", filter_invalid, sizeof filter_invalid },
	{ "odd", filter_sysinfo, sizeof filter_sysinfo - 3 },
	{ "half", filter_sysinfo, 12 },
	{ "empty", "", 0 },
};

static int
filter(const char *name)
{
	char *bytes;
	int fd;

	for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
		if (!strcmp(filters[i].name, name))
			return memory(filters[i].bytes, filters[i].size);
	if (strcmp(name, "long"))
		diff_die("no filter %s", name);
	bytes = calloc(5000, sizeof *filter_allow);
	for (size_t i = 0; bytes && i < 5000; i++)
		memcpy(bytes + i * sizeof *filter_allow, filter_allow,
		       sizeof *filter_allow);
	fd = memory(bytes, 5000 * sizeof *filter_allow);
	free(bytes);
	return fd;
}

static int
opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		diff_die("%s: %s", path, strerror(errno));
	return high(fd);
}

static int
open_pipe(struct run *run, const char *text, size_t length, bool keep)
{
	int ends[2], reader;

	if (pipe2(ends, O_CLOEXEC) < 0)
		diff_die("pipe: %s", strerror(errno));
	reader = high(ends[0]);
	ends[1] = high(ends[1]);
	write_all(ends[1], text, length);
	if (keep)
		run->held[run->n_held++] = ends[1];
	else
		close(ends[1]);
	return reader;
}

static int
open_gone(const char *path)
{
	int fd;

	if (mkdir(path, 0755) < 0)
		diff_die("%s: %s", path, strerror(errno));
	fd = opened(path, O_RDONLY | O_DIRECTORY);
	rmdir(path);
	return fd;
}

/* What stands behind `N<`. */
static int
open_source(struct run *run, const char *kind)
{
	const struct place *place = run->place;
	char *colon = strchr(kind, ':'), *path = NULL, *text = NULL;
	size_t length = 0;
	int fd = -1;

	if (colon) {
		path = expand(place, colon + 1);
		text = rows_unescape(path, &length);
	}
	if (!strcmp(kind, "hold"))
		fd = open_pipe(run, "", 0, true);
	else if (!strcmp(kind, "userns"))
		fd = high(dup(place->userns));
	else if (!strcmp(kind, "pidns"))
		fd = high(dup(place->pidns));
	else if (!strcmp(kind, "userns-child"))
		fd = high(dup(place->userns_child));
	else if (!colon)
		diff_die("no such setting: %s", kind);
	else if (!strncmp(kind, "text:", 5))
		fd = memory(text, length);
	else if (!strncmp(kind, "pipe:", 5))
		fd = open_pipe(run, text, length, false);
	else if (!strncmp(kind, "file:", 5))
		fd = opened(path, O_RDONLY);
	else if (!strncmp(kind, "path:", 5))
		fd = opened(path, O_PATH);
	else if (!strncmp(kind, "write:", 6))
		fd = opened(path, O_WRONLY);
	else if (!strncmp(kind, "gone:", 5))
		fd = open_gone(path);
	else if (!strncmp(kind, "seccomp:", 8))
		fd = filter(path);
	else
		diff_die("no such setting: %s", kind);
	free(path);
	free(text);
	return fd;
}

static void
add_fd(struct run *run, int number, int fd, bool captured)
{
	if (run->n_fds == FDS_MAX)
		diff_die("too many descriptors");
	run->fds[run->n_fds].number = number;
	run->fds[run->n_fds].fd = fd;
	run->fds[run->n_fds++].captured = captured;
}

static void
set_env(struct run *run, char *entry)
{
	size_t name = strcspn(entry, "=");

	for (size_t i = 0; i < run->n_env; i++)
		if (!strncmp(run->env[i], entry, name) &&
		    run->env[i][name] == '=') {
			free(run->env[i]);
			run->env[i] = run->env[--run->n_env];
		}
	if (run->n_env + 1 == sizeof run->env / sizeof *run->env)
		diff_die("too many variables");
	if (entry[name])
		run->env[run->n_env++] = entry;
	else
		free(entry);
	run->env[run->n_env] = NULL;
}

/* Held until the driver closes it: locks belong to a process. */
static void
hold_lock(struct run *run, const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = opened(path, O_RDWR);

	if (fcntl(fd, F_SETLK, &lock) < 0)
		diff_die("lock %s: %s", path, strerror(errno));
	run->held[run->n_held++] = fd;
}

static void
open_terminal(struct run *run, bool all)
{
	run->terminal = high(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
	if (grantpt(run->terminal) < 0 || unlockpt(run->terminal) < 0)
		diff_die("no terminal: %s", strerror(errno));
	run->terminal_out = all;
	run->seen = open_memstream(&run->seen_text, &run->seen_size);
}

static void
take_setting(struct run *run, const char *setting)
{
	const char *value = strchr(setting, '=');
	char *after, *text;
	int number = (int)strtol(setting, &after, 10);
	size_t length;

	if (after != setting && *after == '<') {
		add_fd(run, number, open_source(run, after + 1), false);
		return;
	}
	if (after != setting && !strcmp(after, ">")) {
		add_fd(run, number, memory("", 0), true);
		return;
	}
	if (!value)
		diff_die("%s: no such setting: %s", run->row->name, setting);
	text = expand(run->place, ++value);
	number = atoi(text);
	if (!strncmp(setting, "close=", 6)) {
		add_fd(run, number, -1, false);
	} else if (!strncmp(setting, "in=", 3)) {
		char *bytes = rows_unescape(text, &length);

		close(run->in);
		run->in = memory(bytes, length);
		free(bytes);
	} else if (!strncmp(setting, "cwd=", 4)) {
		free(run->cwd);
		run->cwd = strdup(text);
	} else if (!strncmp(setting, "umask=", 6)) {
		run->mask = (mode_t)strtoul(text, NULL, 8);
	} else if (!strncmp(setting, "env=", 4) ||
		   !strncmp(setting, "unset=", 6)) {
		set_env(run, strdup(text));
	} else if (!strncmp(setting, "rlimit-nofile=", 14)) {
		run->nofile = (rlim_t)number;
	} else if (!strncmp(setting, "signal=", 7)) {
		run->signal_nr = number;
	} else if (!strncmp(setting, "lock=", 5)) {
		hold_lock(run, text);
	} else if (!strncmp(setting, "tty=", 4)) {
		open_terminal(run, !strcmp(text, "all"));
	} else if (strncmp(setting, "ignore=", 7) &&
		   strncmp(setting, "block=", 6) &&
		   strncmp(setting, "only=", 5)) {
		diff_die("%s: no such setting: %s", run->row->name, setting);
	}
	free(text);
}

static void
prepare(struct run *run)
{
	static const char *const environment[] = {
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=$F/home",
		"USER=tester", "LC_ALL=C.UTF-8", "TERM=dumb", "SECRET=value",
		"PWD=$F/cwd", "EMPTY=",
	};

	run->in = opened("/dev/null", O_RDONLY);
	run->out = memory("", 0);
	run->err = memory("", 0);
	fcntl(run->out, F_SETFL, O_APPEND);
	fcntl(run->err, F_SETFL, O_APPEND);
	run->terminal = -1;
	run->mask = 022;
	run->nofile = RLIM_INFINITY;
	run->cwd = expand(run->place, "$F/cwd");
	for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
		set_env(run, expand(run->place, environment[i]));
	for (char **setting = run->row->settings; setting && *setting;
	     setting++)
		take_setting(run, *setting);
}

/* ---- the child ---- */

static void
child_terminal(const struct run *run)
{
	int fd;

	setsid();
	fd = open(ptsname(run->terminal), O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) < 0)
		_exit(124);
	dup2(fd, 0);
	if (run->terminal_out) {
		dup2(fd, 1);
		dup2(fd, 2);
	}
	close(fd);
}

static void
child_signals(const struct run *run)
{
	for (char **s = run->row->settings; s && *s; s++) {
		sigset_t set;

		if (!strncmp(*s, "ignore=", 7))
			signal(atoi(*s + 7), SIG_IGN);
		if (!strncmp(*s, "block=", 6)) {
			sigemptyset(&set);
			sigaddset(&set, atoi(*s + 6));
			sigprocmask(SIG_BLOCK, &set, NULL);
		}
	}
}

static _Noreturn void
child(const struct run *run, const char *program, char *argv[])
{
	struct rlimit limit = { run->nofile, run->nofile };

	/* A group of its own: kill(0) inside is not to reach the driver. */
	if (run->terminal < 0)
		setpgid(0, 0);
	umask(run->mask);
	if (chdir(run->cwd) < 0)
		_exit(124);
	dup2(run->in, 0);
	dup2(run->out, 1);
	dup2(run->err, 2);
	if (run->terminal >= 0)
		child_terminal(run);
	for (size_t i = 0; i < run->n_fds; i++) {
		if (run->fds[i].fd < 0)
			close(run->fds[i].number);
		else
			dup2(run->fds[i].fd, run->fds[i].number);
	}
	if (run->nofile != RLIM_INFINITY)
		setrlimit(RLIMIT_NOFILE, &limit);
	child_signals(run);
	execve(program, argv, (char **)run->env);
	_exit(124);
}

/* ---- waiting ---- */

static long
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static off_t
size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

static void
read_terminal(struct run *run)
{
	char text[4096];
	ssize_t n = read(run->terminal, text, sizeof text);

	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (text[i] != '\r')
			putc(text[i], run->seen);
}

/* Until pid has ended: true. False: it took too long. */
static bool
wait_for(struct run *run, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	long end = now_ms() + TIMEOUT_MS;
	bool ended = false;

	if (pidfd < 0)
		diff_die("pidfd_open: %s", strerror(errno));
	while (!ended && !run_stopped && now_ms() < end) {
		struct pollfd polls[] = {
			{ .fd = pidfd, .events = POLLIN },
			{ .fd = run->terminal, .events = POLLIN },
		};

		/* A terminal that nobody has open says HUP all the time. */
		poll(polls, run->terminal < 0 ? 1 : 2,
		     run->signal_nr ? 5 : 200);
		ended = polls[0].revents;
		if (run->terminal >= 0 && polls[1].revents & POLLIN)
			read_terminal(run);
		else if (polls[1].revents && !ended)
			usleep(1000);
		if (run->signal_nr && size_of(run->out)) {
			kill(pid, run->signal_nr);
			run->signal_nr = 0;
		}
	}
	close(pidfd);
	return ended;
}

/* Ours and nobody else's: of which we are the parent. */
static void
kill_children(void)
{
	DIR *d = opendir("/proc");
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		char path[300], line[512], *paren;
		int pid = atoi(entry->d_name), parent = 0;
		FILE *f;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof path, "/proc/%d/stat", pid);
		f = fopen(path, "re");
		if (f && fgets(line, sizeof line, f) &&
		    (paren = strrchr(line, ')')) &&
		    sscanf(paren + 1, " %*c %d", &parent) == 1 &&
		    parent == getpid())
			kill(pid, SIGKILL);
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
}

bool
run_reap(void)
{
	long grace = now_ms() + GRACE_MS, end = now_ms() + TIMEOUT_MS;
	bool left = false;

	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return left;
		if (pid > 0)
			continue;
		if (run_stopped || now_ms() > grace) {
			left = true;
			kill_children();
			if (now_ms() > end)
				diff_die("something cannot be killed");
		}
		usleep(1000);
	}
}

/* ---- the lines ---- */

static char *
content(int fd)
{
	size_t size = (size_t)size_of(fd);
	char *text;
	ssize_t n;

	if (size > OUTPUT_MAX)
		size = OUTPUT_MAX;
	text = malloc(size + 1);
	n = text ? pread(fd, text, size, 0) : -1;
	if (n < 0)
		diff_die("no output: %s", strerror(errno));
	/* The report is text: what is not is shown as such. */
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = '?';
	text[n] = '\0';
	return text;
}

/* Where the last `: ERRNO` of a message begins, and which it is, or 0. */
static int
errno_part(const char *text, const char **part)
{
	int found = 0;

	for (const char *p = text; (p = strstr(p, ": ")); p++) {
		for (int i = 1; i < 134; i++) {
			const char *name = strerror(i);
			size_t n = strlen(name);

			/* A hint may follow. */
			if (strncmp(p + 2, name, n) ||
			    (p[2 + n] && strncmp(p + 2 + n, " (", 2)))
				continue;
			found = i;
			*part = p;
		}
	}
	return found;
}

/*
 * The class of a message: its first words, where a path is P, and the errno.
 * More would make every better wording a difference; DIFF_TEXT shows them.
 */
static void
print_class(FILE *out, const char *text)
{
	const char *part = text + strlen(text);
	int errnum = errno_part(text, &part);
	size_t length = (size_t)(part - text);
	char *head = strndup(text, length), *save;
	int words = 0;

	fputs("error", out);
	for (char *word = strtok_r(head, " ", &save); word && words < 3;
	     word = strtok_r(NULL, " ", &save), words++)
		fprintf(out, " %s", strchr(word, '/') ? "P" : word);
	fprintf(out, "%s%s\n", errnum ? ": " : "",
		errnum ? strerror(errnum) : "");
	if (getenv("DIFF_TEXT"))
		fprintf(out, "text %s\n", text);
	free(head);
}

static void
print_errors(FILE *out, char *text)
{
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "usage: ", 7)) {
			/* The list of options is another one. */
			fprintf(out, "error %s\n", line);
			return;
		}
		if (!strncmp(line, "bwrap: ", 7))
			print_class(out, line + 7);
		else
			fprintf(out, "stderr %s\n", line);
	}
}

static void
print_output(FILE *out, const char *field, char *text)
{
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (line[0] == '\t' && strchr(line, ' ')) {
			fprintf(out, "%s\n", line + 1);
			continue;
		}
		fprintf(out, "%s ", field);
		tree_escape(out, line, strlen(line));
		putc('\n', out);
		if (!strncmp(line, "usage: ", 7))
			return;
	}
}

/* ---- what differs between any two runs ---- */

struct name {
	char		number[24];
	char		text[32];
};

static size_t
add_name(struct name *names, size_t n, size_t max, const char *number,
    const char *prefix, const char *kind)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i].number, number))
			return n;
	if (n == max)
		return n;
	snprintf(names[n].number, sizeof names->number, "%s", number);
	snprintf(names[n].text, sizeof names->text, "%s-%s", prefix, kind);
	return n + 1;
}

/* Namespaces of ours, and then those the probe was in. */
static size_t
find_names(struct name *names, size_t max, const char *text)
{
	static const char *const kinds[] = {
		"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts",
	};
	size_t n = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char path[64], number[32];
		struct stat st;

		snprintf(path, sizeof path, "/proc/self/ns/%s", kinds[i]);
		if (stat(path, &st) < 0)
			continue;
		snprintf(number, sizeof number, "%lu",
			 (unsigned long)st.st_ino);
		n = add_name(names, n, max, number, "host", kinds[i]);
	}
	for (const char *p = text; p && *p; p = strchr(p, '\n'),
	     p += p ? 1 : 0) {
		char kind[24], number[24];

		if (sscanf(p, "ns %23s %23[0-9]\n", kind, number) == 2)
			n = add_name(names, n, max, number, "new", kind);
	}
	return n;
}

static void
print_number(FILE *out, const char **p, const struct name *names, size_t n)
{
	size_t length = strspn(*p, "0123456789");

	for (size_t i = 0; i < n; i++)
		if (strlen(names[i].number) == length &&
		    !strncmp(names[i].number, *p, length)) {
			fputs(names[i].text, out);
			*p += length;
			return;
		}
	if (length == 10 && !strncmp(*p, "402653", 6))
		fputs("other-namespace", out);
	else
		fprintf(out, "%.*s", (int)length, *p);
	*p += length;
}

/* Names instead of what the machine chose; takes the text. */
static char *
normalise(char *text, const struct place *place)
{
	static const char child_pid[] = "\"child-pid\": ";
	struct name names[32];
	size_t n = find_names(names, 32, text), size;
	char *out = NULL;
	FILE *f = open_memstream(&out, &size);
	const char *p = text;

	while (*p) {
		if (!strncmp(p, place->fixture, strlen(place->fixture))) {
			fputs("$F", f);
			p += strlen(place->fixture);
		} else if (!strncmp(p, place->probe, strlen(place->probe))) {
			fputs("$P", f);
			p += strlen(place->probe);
		} else if (!strncmp(p, child_pid, sizeof child_pid - 1)) {
			p += sizeof child_pid - 1;
			fprintf(f, "%sN", child_pid);
			p += strspn(p, "0123456789");
		} else if (isdigit((unsigned char)*p)) {
			print_number(f, &p, names, n);
		} else {
			putc(*p++, f);
		}
	}
	fclose(f);
	free(text);
	return out;
}

static char *
host_state(const struct place *place)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	tree_print(f, "host", place->fixture, 6);
	fclose(f);
	return text;
}

static char *
collect(struct run *run, const char *ending, bool left, const char *host)
{
	char *out = NULL, *text;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	fprintf(f, "%s\n", ending);
	if (left)
		fputs("left processes\n", f);
	text = content(run->out);
	print_output(f, "stdout", text);
	free(text);
	if (run->seen) {
		fclose(run->seen);
		print_output(f, "stdout", run->seen_text);
		free(run->seen_text);
	}
	text = content(run->err);
	print_errors(f, text);
	free(text);
	for (size_t i = 0; i < run->n_fds; i++) {
		char field[16];

		if (!run->fds[i].captured)
			continue;
		snprintf(field, sizeof field, "out%d", run->fds[i].number);
		text = content(run->fds[i].fd);
		print_output(f, field, text);
		free(text);
	}
	fputs(host, f);
	fclose(f);
	return normalise(out, run->place);
}

static void
release(struct run *run)
{
	for (size_t i = 0; i < run->n_fds; i++)
		if (run->fds[i].fd >= 0)
			close(run->fds[i].fd);
	for (size_t i = 0; i < run->n_held; i++)
		close(run->held[i]);
	for (size_t i = 0; i < run->n_env; i++)
		free(run->env[i]);
	if (run->terminal >= 0)
		close(run->terminal);
	close(run->in);
	close(run->out);
	close(run->err);
	free(run->cwd);
}

static char **
make_argv(const struct row *row, const struct place *place)
{
	char **argv;
	size_t n = 0;

	while (row->argv && row->argv[n])
		n++;
	argv = calloc(n + 2, sizeof *argv);
	if (!argv)
		diff_die("no memory");
	argv[0] = strdup("bwrap");
	for (size_t i = 0; i < n; i++) {
		char *word = expand(place, row->argv[i]);

		argv[i + 1] = rows_unescape(word, NULL);
		free(word);
	}
	return argv;
}

/*
 * A fixture that looks as it did when it was new is as good as a new one, and
 * making one takes longer than running most rows.
 */
static char *pristine;

static void
fresh_fixture(const struct place *place)
{
	if (pristine)
		return;
	fixture_remove(place->fixture);
	fixture_make(place->fixture);
	pristine = host_state(place);
}

static void
keep_fixture(const char *host)
{
	if (!strcmp(host, pristine))
		return;
	free(pristine);
	pristine = NULL;
}

char *
run_row(const struct row *row, const char *program, const struct place *place)
{
	struct run run = { .place = place, .row = row };
	char **argv = make_argv(row, place), ending[64], *lines, *host;
	int status;
	bool left;
	pid_t pid;

	fresh_fixture(place);
	prepare(&run);
	pid = fork();
	if (pid < 0)
		diff_die("fork: %s", strerror(errno));
	if (pid == 0)
		child(&run, program, argv);
	if (!wait_for(&run, pid)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		snprintf(ending, sizeof ending, "exit never");
	} else {
		waitpid(pid, &status, 0);
		snprintf(ending, sizeof ending, "exit %s%d",
			 WIFSIGNALED(status) ? "by signal " : "",
			 WIFSIGNALED(status) ? WTERMSIG(status) :
			 WEXITSTATUS(status));
	}
	if (!strcmp(ending, "exit 124"))
		diff_die("%s: %s cannot be started", row->name, program);
	left = run_reap();
	if (run.terminal >= 0) {
		/* What is still in the buffer, without waiting for more. */
		fcntl(run.terminal, F_SETFL, O_NONBLOCK);
		for (int i = 0; i < 16; i++)
			read_terminal(&run);
	}
	host = host_state(place);
	lines = collect(&run, ending, left, host);
	release(&run);
	keep_fixture(host);
	free(host);
	for (char **word = argv; *word; word++)
		free(*word);
	free(argv);
	return lines;
}
