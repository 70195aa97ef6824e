/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe [NAME=VALUE]... --all [PREFIX] | --list | ID...: see probe.h. */
#include "probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 10 };

static const struct probe_check *const groups[] = {
	probe_proc, probe_proc_one, probe_dev, probe_ns, probe_sec, probe_fs,
	probe_setid, probe_mnt, probe_fd, probe_env, probe_net, probe_net_unix,
	probe_res, probe_limits, probe_xp,
};

static char **words;
static int n_words;
static const char *current;

static const char *
errno_name(int errnum)
{
	const char *name = errnum > 0 ? strerrorname_np(errnum) : NULL;

	return name ? name : "-";
}

/* One line in one write: several checks' children may be alive. */
__attribute__((format(printf, 3, 0)))
static _Noreturn void
say(const char *result, const char *name, const char *format, va_list ap)
{
	char line[1024];
	int n, size = (int)sizeof line - 1;

	n = snprintf(line, sizeof line, "%s %s %s ", current, result, name);
	n += vsnprintf(line + n, (size_t)(size - n), format, ap);
	if (n >= size)
		n = size - 1;
	for (int i = 0; i < n; i++)
		if (line[i] == '\n' || line[i] == '\t')
			line[i] = ' ';
	line[n++] = '\n';
	_exit(write(STDOUT_FILENO, line, (size_t)n) == n ? 0 : 1);
}

void
probe_open(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("open", "-", format, ap);
}

void
probe_blocked(int errnum, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("blocked", errno_name(errnum), format, ap);
}

void
probe_contained(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("contained", "-", format, ap);
}

void
probe_skip(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say("n/a", "-", format, ap);
}

void
probe_result(long rc, const char *what)
{
	if (rc < 0)
		probe_blocked(errno, "%s", what);
	probe_open("%s: %ld", what, rc);
}

bool
probe_has(const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < n_words; i++)
		if (!strncmp(words[i], name, n) && words[i][n] == '=')
			return true;
	return false;
}

const char *
probe_param(const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < n_words; i++)
		if (!strncmp(words[i], name, n) && words[i][n] == '=')
			return words[i] + n + 1;
	probe_skip("no %s= on the command line", name);
}

long
probe_number(const char *name)
{
	return strtol(probe_param(name), NULL, 0);
}

pid_t
probe_pid1(void)
{
	long pid = probe_number("pid1");
	char title[32] = "";

	if (pid == 1) {
		probe_read("/proc/1/cmdline", title, sizeof title);
		if (strcmp(title, "oc-nsrun-init"))
			probe_skip("pid 1 is not a sandbox's: %s", title);
	}
	return (pid_t)pid;
}

const char *
probe_proc_path(long pid, const char *name)
{
	static char path[512];

	snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
	return path;
}

ssize_t
probe_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = -1;

	while (fd >= 0 && done < size - 1 &&
	    (n = read(fd, buf + done, size - 1 - done)) > 0)
		done += (size_t)n;
	if (fd >= 0) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	buf[done] = '\0';
	return n < 0 ? -1 : (ssize_t)done;
}

int
probe_try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	    0644);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static void
walk_one(struct probe_walk *walk, const char *path, int flags)
{
	walk->n_files++;
	if (probe_try_open(path, flags) == 0) {
		if (!walk->n_opened++)
			snprintf(walk->first, sizeof walk->first, "%s", path);
	} else if (!walk->errnum) {
		walk->errnum = errno;
	} else if (walk->errnum != errno) {
		walk->others++;
	}
}

void
probe_walk(struct probe_walk *walk, const char *dir, int flags,
    unsigned int depth)
{
	char path[512];
	const struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof path, "%s/%s", dir, entry->d_name) >=
		    (int)sizeof path)
			continue;
		if (walk->skip && !strcmp(path, walk->skip))
			continue;
		if (entry->d_type == DT_DIR && depth > 0)
			probe_walk(walk, path, flags, depth - 1);
		else if (entry->d_type == DT_REG)
			walk_one(walk, path, flags);
	}
	if (d)
		closedir(d);
}

pid_t
probe_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		probe_blocked(errno, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

pid_t
probe_idle_child(void)
{
	pid_t pid = probe_fork();

	while (pid == 0)
		pause();
	return pid;
}

bool
probe_on_host(void)
{
	char map[128];

	return probe_read("/proc/self/uid_map", map, sizeof map) <= 0 ||
	    strstr(map, "4294967295");
}

/*
 * clone(2) and its like return twice: the copy goes away in silence. What
 * would take the host's own mounts apart is tried in namespaces only.
 */
static _Noreturn void
run_call(const struct probe_call *c)
{
	long before = syscall(SYS_getpid), rc;

	if ((!strncmp(c->id, "MNT-01", 6) || !strncmp(c->id, "MNT-02", 6)) &&
	    probe_on_host())
		probe_skip("never on the host itself");
	errno = 0;
	rc = syscall(c->nr, c->arg[0], c->arg[1], c->arg[2], c->arg[3],
	    c->arg[4], c->arg[5]);
	if (syscall(SYS_getpid) != before)
		_exit(0);
	probe_result(rc, "system call");
}

static void
run(const char *id, void (*check)(void), const struct probe_call *c)
{
	pid_t pid;
	int status = 0;

	current = id;
	fflush(stdout);
	/* The last check's children may not be quite gone yet. */
	for (int i = 0; (pid = fork()) < 0 && errno == EAGAIN && i < 100; i++)
		usleep(20000);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(PATIENCE_S);
		if (c)
			run_call(c);
		check();
		probe_skip("the check ended without a result");
	}
	if (pid < 0)
		printf("%s broken %s fork\n", id, errno_name(errno));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (pid > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("%s hung - \n", id);
	else if (pid > 0 && WIFSIGNALED(status))
		printf("%s killed SIG%s \n", id,
		    sigabbrev_np(WTERMSIG(status)));
	else if (pid > 0 && WEXITSTATUS(status))
		printf("%s broken - no line\n", id);
}

/* All checks whose id is `id`, or begins with it when `prefix` is set. */
static int
run_matching(const char *id, bool prefix, bool list)
{
	size_t n = prefix ? strlen(id) : 1 << 10;
	int found = 0;

	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
		for (const struct probe_check *c = groups[g]; c->id; c++)
			if (!strncmp(c->id, id, n) && ++found) {
				if (list)
					puts(c->id);
				else
					run(c->id, c->run, NULL);
			}
	for (const struct probe_call *c = probe_calls; c->id; c++)
		if (!strncmp(c->id, id, n) && ++found) {
			if (list)
				puts(c->id);
			else
				run(c->id, NULL, c);
		}
	return found;
}

int
main(int argc, char *argv[])
{
	int i = 1;

	words = argv + 1;
	for (; i < argc && argv[i][0] != '-' && strchr(argv[i], '='); i++)
		n_words++;
	if (i >= argc) {
		fprintf(stderr, "probe [NAME=VALUE]... --all [PREFIX] | --list"
		    " | ID...\n");
		return 2;
	}
	/* What a set-user-ID copy of us is asked: are you still that one? */
	if (!strcmp(argv[i], "--euid"))
		return argv[i + 1] && geteuid() != (uid_t)atol(argv[i + 1]);
	if (!strcmp(argv[i], "--list"))
		return run_matching("", true, true) ? 0 : 1;
	if (!strcmp(argv[i], "--all"))
		return run_matching(argv[i + 1] ? argv[i + 1] : "", true,
		    false) ? 0 : 1;
	for (; i < argc; i++)
		if (!run_matching(argv[i], false, false))
			printf("%s broken - no such check\n", argv[i]);
	return 0;
}
