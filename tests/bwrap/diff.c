/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff CALLER ROWS DIFFERENCES REFERENCE PROGRAM PROBE DIRECTORY
 *
 * Runs every row with both programs, in as many workers as there are
 * processors, and prints `pass NAME`, `skip NAME`, or `fail NAME` and lines
 * that begin with #. DIRECTORY/used gets the numbers of the lines of
 * DIFFERENCES that accepted something. With DIFF_ROWS=GLOB only those rows are
 * run; with DIFF_SHOW every difference that was accepted is shown as well.
 *
 * A line of DIFFERENCES is
 *
 *	ROW FIELD LINE REASON...
 *
 * three globs: ROW of CALLER:NAME, FIELD of the field, LINE of what stands in
 * one of the two alone: - and its text if that is the reference, + if it is
 * the program. A blank in it is written as ?. The first that matches is used.
 */
#include "diff.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WORKERS_MAX = 8,
	SHOWN_MAX = 5,		/* lines of one field of a row that fails */
	HIGH = 100,
};

struct difference {
	char	*row, *field, *line;
	int	number;		/* of its line in the file */
};

/* Of all workers. */
struct shared {
	atomic_size_t	next;
	atomic_bool	used[4096];
};

struct diff {
	const char		*caller, *reference, *program;
	const char		*directory;
	struct rows		rows;
	struct difference	*list;
	size_t			n_list;
	struct shared		*shared;
	struct place		place;
	pid_t			workers[WORKERS_MAX];
	FILE			*results[WORKERS_MAX];
	size_t			n_workers;
};

void
diff_die(const char *format, ...)
{
	va_list ap;

	fputs("diff: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	putc('\n', stderr);
	exit(99);
}

char *
diff_print(const char *format, ...)
{
	char *text;
	va_list ap;
	int rc;

	va_start(ap, format);
	rc = vasprintf(&text, format, ap);
	va_end(ap);
	if (rc < 0)
		diff_die("no memory");
	return text;
}

static void
read_differences(struct diff *diff, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	int number = 0;

	if (!f)
		diff_die("%s: %s", path, strerror(errno));
	while (getline(&line, &size, f) >= 0) {
		struct difference *d;
		char row[256], field[64], text[512], reason[2];

		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (sscanf(line, "%255s %63s %511s %1s", row, field, text,
			   reason) != 4)
			diff_die("%s:%d: not ROW FIELD LINE REASON", path,
				 number);
		if ((size_t)number >= sizeof diff->shared->used /
		    sizeof *diff->shared->used)
			diff_die("%s: too long", path);
		diff->list = realloc(diff->list,
		    (diff->n_list + 1) * sizeof *diff->list);
		if (!diff->list)
			diff_die("no memory");
		d = &diff->list[diff->n_list++];
		d->row = strdup(row);
		d->field = strdup(field);
		d->line = strdup(text);
		d->number = number;
	}
	free(line);
	fclose(f);
}

/* Is this line, + or - and FIELD TEXT, one that the list accepts? */
static bool
is_accepted(struct diff *diff, const char *row, char sign, const char *line)
{
	char *field = strndup(line, strcspn(line, " "));
	const char *rest = line + strlen(field);
	char *signed_text = diff_print("%c%s", sign, *rest ? rest + 1 : "");
	bool found = false;

	for (size_t i = 0; i < diff->n_list && !found; i++) {
		struct difference *d = &diff->list[i];

		if (fnmatch(d->row, row, 0) || fnmatch(d->field, field, 0) ||
		    fnmatch(d->line, signed_text, FNM_NOESCAPE))
			continue;
		diff->shared->used[d->number] = true;
		found = true;
	}
	free(signed_text);
	free(field);
	return found;
}

/* ---- comparing ---- */

struct lines {
	char	**v;
	size_t	n;
};

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What was said comes in an order that matters; what is found does not. */
static bool
is_ordered(const char *line)
{
	return !strncmp(line, "stdout ", 7) || !strncmp(line, "stderr ", 7) ||
	    !strncmp(line, "error ", 6) || !strncmp(line, "out", 3);
}

/* Is it of the probe's report, which begins with its argv? */
static bool
is_report(const char *line)
{
	static const char *const others[] = {
		"exit ", "left ", "error ", "text ", "stdout ", "stderr ",
		"out", "host ",
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strncmp(line, others[i], strlen(others[i])))
			return false;
	return true;
}

static bool
has_report(const char *text)
{
	return strstr(text, "\nargv 0 ") != NULL;
}

/*
 * Cuts text into sorted lines; those that are ordered go to said as well. A
 * report that the other run does not have is one line.
 */
static struct lines
sorted_lines(char *text, bool lone_report, char **said)
{
	static char there[] = "report there";
	struct lines lines = { NULL, 0 };
	size_t size;
	FILE *f = open_memstream(said, &size);

	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (lone_report && !strncmp(line, "argv 0 ", 7))
			line = there;
		else if (lone_report && is_report(line))
			continue;
		lines.v = realloc(lines.v, (lines.n + 1) * sizeof *lines.v);
		if (!lines.v)
			diff_die("no memory");
		lines.v[lines.n++] = line;
		if (is_ordered(line))
			fprintf(f, "%s\n", line);
	}
	fclose(f);
	qsort(lines.v, lines.n, sizeof *lines.v, compare);
	return lines;
}

struct verdict {
	FILE	*out;
	size_t	n_found;	/* lines of one run only, outside the list */
	size_t	n_all;
	char	field[64];	/* of the last of them */
	size_t	n_field;
};

static void
found(struct diff *diff, struct verdict *verdict, const char *row, char sign,
    const char *line)
{
	bool accepted = is_accepted(diff, row, sign, line);
	char field[sizeof verdict->field];

	verdict->n_all++;
	if (accepted && getenv("DIFF_SHOW"))
		fprintf(verdict->out, "# accepted: %c%s\n", sign, line);
	if (accepted)
		return;
	verdict->n_found++;
	snprintf(field, sizeof field, "%.*s", (int)strcspn(line, " "), line);
	if (strcmp(field, verdict->field))
		verdict->n_field = 0;
	strcpy(verdict->field, field);
	if (++verdict->n_field == SHOWN_MAX && !getenv("DIFF_SHOW"))
		fprintf(verdict->out, "# more of %s\n", field);
	if (verdict->n_field < SHOWN_MAX || getenv("DIFF_SHOW"))
		fprintf(verdict->out, "# %c%s\n", sign, line);
}

/* Returns true if there is no difference but accepted ones. */
static bool
compare_runs(struct diff *diff, const char *row, char *ours, char *theirs,
    FILE *out)
{
	struct verdict verdict = { .out = out };
	char *said[2];
	bool lone = has_report(theirs) != has_report(ours);
	struct lines a = sorted_lines(theirs, lone, &said[0]);
	struct lines b = sorted_lines(ours, lone, &said[1]);
	size_t i = 0, j = 0;

	while (i < a.n || j < b.n) {
		int order = i == a.n ? 1 : j == b.n ? -1 :
		    strcmp(a.v[i], b.v[j]);

		if (order < 0)
			found(diff, &verdict, row, '-', a.v[i]);
		if (order > 0)
			found(diff, &verdict, row, '+', b.v[j]);
		i += order <= 0;
		j += order >= 0;
	}
	if (!verdict.n_all && strcmp(said[0], said[1]))
		found(diff, &verdict, row, '+', "order of what was said");
	free(said[0]);
	free(said[1]);
	free(a.v);
	free(b.v);
	return !verdict.n_found;
}

/* ---- workers ---- */

static void
stop(int signal_nr)
{
	(void)signal_nr;
	run_stopped = 1;
}

static void
catch_signals(void)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction action = { .sa_handler = stop };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		sigaction(ends[i], &action, NULL);
}

/* `only=root` is for callers of this name. */
static bool
is_for(const struct row *row, const char *caller)
{
	for (char **s = row->settings; s && *s; s++)
		if (!strncmp(*s, "only=", 5) && strcmp(*s + 5, caller))
			return false;
	return true;
}

static void
judge(struct diff *diff, const struct row *row, FILE *out)
{
	char *name = diff_print("%s:%s", diff->caller, row->name);
	char *theirs, *ours, *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct timespec start, end;
	bool same;

	clock_gettime(CLOCK_MONOTONIC, &start);
	theirs = run_row(row, diff->reference, &diff->place);
	ours = run_row(row, diff->program, &diff->place);
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (getenv("DIFF_DUMP"))
		fprintf(f, "%s", theirs);
	same = compare_runs(diff, name, ours, theirs, f);
	if (getenv("DIFF_TIME"))
		fprintf(f, "# %ld ms\n", (end.tv_sec - start.tv_sec) * 1000 +
			(end.tv_nsec - start.tv_nsec) / 1000000);
	fclose(f);
	fprintf(out, "%s %s\n", same ? "pass" : "fail", row->name);
	if (!same)
		fprintf(out, "# %s\n", row->source);
	fputs(text, out);
	free(text);
	free(theirs);
	free(ours);
	free(name);
}

static _Noreturn void
work(struct diff *diff, size_t index)
{
	const char *glob = getenv("DIFF_ROWS");
	size_t i;

	/* No terminal, whoever calls; and orphans of rows are ours. */
	setsid();
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	diff->place.fixture = diff_print("%s/w%zu", diff->directory, index);
	while (!run_stopped &&
	       (i = atomic_fetch_add(&diff->shared->next, 1)) < diff->rows.n) {
		const struct row *row = &diff->rows.v[i];

		if (!is_for(row, diff->caller) ||
		    (glob && fnmatch(glob, row->name, 0)))
			continue;
		fprintf(diff->results[index], "row %zu\n", i);
		judge(diff, row, diff->results[index]);
	}
	fixture_remove(diff->place.fixture);
	fclose(diff->results[index]);
	/* What the parent holds is not ours to release. */
	_exit(run_stopped ? 1 : 0);
}

static void
start_workers(struct diff *diff)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	diff->n_workers = n < 1 ? 1 : n > WORKERS_MAX ? WORKERS_MAX : (size_t)n;
	for (size_t i = 0; i < diff->n_workers; i++) {
		int fd = fcntl(memfd_create("results", MFD_CLOEXEC),
		    F_DUPFD_CLOEXEC, HIGH);

		diff->results[i] = fd < 0 ? NULL : fdopen(fd, "w+");
		if (!diff->results[i])
			diff_die("results: %s", strerror(errno));
		diff->workers[i] = fork();
		if (diff->workers[i] < 0)
			diff_die("fork: %s", strerror(errno));
		if (diff->workers[i] == 0)
			work(diff, i);
	}
}

/* Their exit status; a signal to us goes on to them. */
static bool
wait_for_workers(struct diff *diff)
{
	bool good = true, told = false;

	for (size_t i = 0; i < diff->n_workers; i++) {
		int status;

		while (waitpid(diff->workers[i], &status, 0) < 0) {
			if (errno != EINTR)
				diff_die("waitpid: %s", strerror(errno));
			for (size_t j = i; run_stopped && !told &&
			     j < diff->n_workers; j++)
				kill(diff->workers[j], SIGTERM);
			told = run_stopped;
		}
		good = good && WIFEXITED(status) && !WEXITSTATUS(status);
	}
	return good && !run_stopped;
}

/* In the order of the rows. */
static void
print_results(struct diff *diff)
{
	char **texts = calloc(diff->rows.n, sizeof *texts), *line = NULL;
	size_t size = 0;
	FILE *f = NULL;
	size_t row = 0, unused;

	for (size_t i = 0; texts && i < diff->n_workers; i++) {
		rewind(diff->results[i]);
		while (getline(&line, &size, diff->results[i]) >= 0) {
			if (sscanf(line, "row %zu", &row) == 1) {
				if (f)
					fclose(f);
				f = open_memstream(&texts[row], &unused);
			} else {
				fputs(line, f);
			}
		}
		if (f)
			fclose(f);
		f = NULL;
	}
	for (size_t i = 0; texts && i < diff->rows.n; i++)
		if (texts[i])
			fputs(texts[i], stdout);
	free(line);
}

static void
print_used(struct diff *diff)
{
	char *path = diff_print("%s/used", diff->directory);
	FILE *f = fopen(path, "we");

	if (!f)
		diff_die("%s: %s", path, strerror(errno));
	for (size_t i = 0; i < diff->n_list; i++)
		if (diff->shared->used[diff->list[i].number])
			fprintf(f, "%d\n", diff->list[i].number);
	fclose(f);
	free(path);
}

/* ---- namespaces that live on, for --userns and --pidns ---- */

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		diff_die("%s: %s", path, strerror(errno));
	close(fd);
}

/* A user namespace where everybody is who they were. */
static void
enter_userns(int more)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char text[64];

	if (unshare(CLONE_NEWUSER | more) < 0)
		diff_die("unshare: %s", strerror(errno));
	snprintf(text, sizeof text, "%u %u 1", uid, uid);
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", text);
	snprintf(text, sizeof text, "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", text);
}

static _Noreturn void
hold(int to, int from)
{
	char go;
	pid_t init;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	enter_userns(CLONE_NEWPID);
	init = fork();
	if (init == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		close(to);
		close(from);
		/* No row is to be process 2 by being the first. */
		for (int i = 0; i < 3; i++) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(0);
			waitpid(pid, NULL, 0);
		}
		for (;;)
			pause();
	}
	if (write(to, &init, sizeof init) < 0 || read(from, &go, 1) != 1)
		_exit(1);
	enter_userns(0);
	if (write(to, &init, sizeof init) < 0)
		_exit(1);
	for (;;)
		pause();
}

static int
open_namespace(pid_t pid, const char *kind)
{
	char *path = diff_print("/proc/%d/ns/%s", pid, kind);
	int fd = open(path, O_RDONLY | O_CLOEXEC), moved;

	moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
	if (moved < 0)
		diff_die("%s: %s", path, strerror(errno));
	close(fd);
	free(path);
	return moved;
}

static pid_t
start_holder(struct place *place)
{
	int there[2], back[2];
	pid_t pid, init;

	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
		diff_die("pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		hold(there[1], back[0]);
	close(there[1]);
	close(back[0]);
	if (read(there[0], &init, sizeof init) != sizeof init)
		diff_die("no namespaces to hold");
	place->userns = open_namespace(pid, "user");
	place->pidns = open_namespace(init, "pid");
	if (write(back[1], "x", 1) != 1 ||
	    read(there[0], &init, sizeof init) != sizeof init)
		diff_die("no second user namespace to hold");
	place->userns_child = open_namespace(pid, "user");
	close(there[0]);
	close(back[1]);
	return pid;
}

int
main(int argc, char *argv[])
{
	struct diff diff = { .caller = argv[1] };
	pid_t holder;
	bool good;

	if (argc != 8)
		diff_die("CALLER ROWS DIFFERENCES REFERENCE PROGRAM PROBE "
			 "DIRECTORY");
	/* Whatever make has left open would be found inside. */
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	diff.shared = mmap(NULL, sizeof *diff.shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (diff.shared == MAP_FAILED)
		diff_die("mmap: %s", strerror(errno));
	rows_read(&diff.rows, argv[2]);
	read_differences(&diff, argv[3]);
	diff.reference = argv[4];
	diff.program = argv[5];
	diff.place.probe = argv[6];
	diff.directory = argv[7];
	catch_signals();
	/* Of what a worker may leave that does not end well. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	holder = start_holder(&diff.place);
	start_workers(&diff);
	good = wait_for_workers(&diff);
	kill(holder, SIGKILL);
	run_reap();
	if (!good)
		diff_die("a worker did not end well");
	print_results(&diff);
	print_used(&diff);
	return 0;
}
