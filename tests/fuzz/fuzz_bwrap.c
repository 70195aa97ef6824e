/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command line of oc-bwrap, as NUL-separated words, to its plan, printed.
 * After a byte 1 each: what descriptors 0 and 201 to 203 hold.
 *
 * A descriptor is only ever one of these, 0, or one that nobody has:
 *	200 closed	201-203 the input's	204 /dev/null
 *	205 a directory	206 a pipe at its end	207 a file without a name
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bwrap.h"
#include "fuzz.h"
#include "plan/print.h"

enum {
	FIRST = 200, INPUT = 201, N_INPUTS = 3, NONE = 204, DIRECTORY = 205,
	PIPE = 206, NAMELESS = 207, N_FDS = 8, MAX_WORDS = 512,
};

static const char *const takes_fd[] = {
	"--add-seccomp-fd", "--args", "--bind-data", "--bind-fd", "--block-fd",
	"--file", "--info-fd", "--json-status-fd", "--netns", "--pidns",
	"--ro-bind-data", "--ro-bind-fd", "--seccomp", "--sync-fd", "--userns",
	"--userns-block-fd", "--userns2",
};

static void
place(int fd, int at)
{
	if (fd < 0 || (fd != at && (dup2(fd, at) < 0 || close(fd) < 0)))
		abort();
}

static void
prepare(void)
{
	int ends[2];

	if (pipe(ends) < 0)
		abort();
	close(ends[1]);
	place(ends[0], PIPE);
	place(open("/dev/null", O_RDWR), NONE);
	place(open("/", O_PATH), DIRECTORY);
	place(memfd_create("nameless", 0), NAMELESS);
	for (int i = 0; i < N_INPUTS; i++)
		place(memfd_create("input", 0), INPUT + i);
}

/* Descriptor `fd` is a file that holds this. */
static void
fill(int fd, const char *text, size_t n)
{
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, n, 0) != (ssize_t)n ||
	    lseek(fd, 0, SEEK_SET) < 0)
		abort();
}

static bool
is_fd_option(const char *word)
{
	for (size_t i = 0; i < sizeof takes_fd / sizeof *takes_fd; i++)
		if (!strcmp(word, takes_fd[i]))
			return true;
	return false;
}

/* `word` behind `before`: as it is, but no descriptor of the fuzzer's. */
static const char *
tame(const char *before, const char *word)
{
	static const char *const names[N_FDS] = {
		"200", "201", "202", "203", "204", "205", "206", "207",
	};
	char *end;
	long n = strtol(word, &end, 10);

	if (!before || !is_fd_option(before) || *end || n <= 0 ||
	    n > INT_MAX)
		return word;
	return names[n % N_FDS];
}

/* The same in what --args may read; to `out`, whose length is returned. */
static size_t
tame_block(char *out, const char *text, size_t n)
{
	const char *before = NULL;
	size_t used = 0;

	for (size_t at = 0, len; at < n; at += len + 1) {
		const char *word = tame(before, text + at);

		len = strlen(text + at);
		before = text + at;
		memcpy(out + used, word, strlen(word) + 1);
		used += strlen(word) + 1;
	}
	/* Its last string may lack an end. */
	return used && text[n - 1] ? used - 1 : used;
}

/* Nothing but printable text in lines, whatever a word of it was. */
static void
print(const struct nsrun_plan *plan)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		return;
	nsrun_print_rows(out, plan);
	nsrun_print_json(out, plan);
	fclose(out);
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') ||
		    text[i] == 0x7f)
			abort();
	free(text);
}

static int
build(struct bwrap *b, int argc, char *argv[])
{
	static char *environment[] = {
		(char *)(uintptr_t)"HOME=/root", (char *)(uintptr_t)"A=b", NULL,
	};

	if (bwrap_plan_begin(b) < 0 || bwrap_env_init(b, environment) < 0 ||
	    bwrap_parse(b, argc, argv) < 0)
		return -1;
	if (b->wants_help || b->wants_version || !*b->command)
		return 0;
	if (bwrap_plan_finish(b) < 0)
		return -1;
	print(b->plan);
	return 0;
}

/* All that a program would leave to its end. */
static void
clean(struct bwrap *b)
{
	const struct nsrun_process *process = &b->plan->process;

	for (size_t i = 0; i < process->n_consumed; i++)
		if (process->consumed[i] > 2 && (process->consumed[i] < FIRST ||
		    process->consumed[i] >= FIRST + N_FDS))
			close(process->consumed[i]);
	nsrun_plan_deinit(b->plan);
}

static void
run(int argc, char *argv[])
{
	struct nsrun_plan plan;
	struct bwrap b = { .plan = &plan };
	int before = fcntl(NONE, F_DUPFD_CLOEXEC, 3), after;

	close(before);
	nsrun_plan_init(&plan);
	/* A refusal says why, and only a refusal does. */
	if ((build(&b, argc, argv) < 0) != (*b.message != '\0'))
		abort();
	clean(&b);
	after = fcntl(NONE, F_DUPFD_CLOEXEC, 3);
	close(after);
	if (before != after)
		abort();	/* a descriptor leaked */
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool prepared;
	/* A word of two bytes may become one of four. */
	char *text = malloc(size + 1), *block = malloc(2 * size + 1);
	char *argv[MAX_WORDS + 1] = { NULL }, *section, *next;
	const char *before = NULL;
	int argc = 0;

	if (!text || !block)
		abort();
	if (!prepared)
		prepare();
	prepared = true;
	memcpy(text, data, size);
	text[size] = '\0';
	next = memchr(text, 1, size);
	section = next ? next : text + size;
	*section = '\0';
	for (char *at = text; at < section && argc < MAX_WORDS;
	    at += strlen(at) + 1) {
		argv[argc++] = (char *)(uintptr_t)tame(before, at);
		before = at;
	}
	place(memfd_create("stdin", 0), 0);
	for (int i = 0; i <= N_INPUTS; i++) {
		char *from = section < text + size ? section + 1 : section;
		size_t left = (size_t)(text + size - from);

		next = memchr(from, 1, left);
		section = next ? next : text + size;
		*section = '\0';
		fill(i ? INPUT + i - 1 : 0, block, tame_block(block, from,
		    (size_t)(section - from)));
	}
	run(argc, argv);
	free(block);
	free(text);
	return 0;
}
