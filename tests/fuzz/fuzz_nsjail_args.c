/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A command line of oc-nsjail, as NUL-separated words, to its plan, printed.
 * After a byte 1 each: what the files "1", "2" and "3" hold.
 *
 * There are no other files: open() and the log are ours, so that no input
 * writes to the machine or waits for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "fuzz.h"
#include "nsjail.h"
#include "plan/print.h"

enum { N_FILES = 3, MAX_WORDS = 512 };

static struct {
	const char *text;
	size_t n;
} files[N_FILES];

/* The program's own, instead of libc's. */
int
open(const char *path, int flags, ...)
{
	static const char *const real[] = {
		"/proc/self/mountinfo", "/proc/self/setgroups",
	};
	int fd;

	for (size_t i = 0; i < sizeof real / sizeof *real; i++)
		if (!strcmp(path, real[i]))
			return openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (*path < '1' || *path >= '1' + N_FILES || path[1]) {
		errno = flags & O_CREAT ? EACCES : ENOENT;
		return -1;
	}
	fd = memfd_create("file", MFD_CLOEXEC);
	if (fd < 0 || write(fd, files[*path - '1'].text,
	    files[*path - '1'].n) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}

void
nsjail_log(const struct nsjail *n, enum nsjail_level level, const char *where,
    const char *format, ...)
{
	char text[1600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (n->log.level > NSJAIL_FATAL || (level != NSJAIL_INFO && !where))
		abort();
}

void
nsjail_log_err(const struct nsjail *n, const char *where)
{
	(void)n;
	(void)where;
}

int
nsjail_log_open(struct nsjail *n, const char *path)
{
	(void)n;
	(void)path;
	return 0;
}

void
nsjail_log_set_fd(struct nsjail *n, int fd)
{
	(void)n;
	(void)fd;
}

const char *
nsjail_time_limit(const struct nsjail *n, char buf[NSJAIL_TIME_SIZE])
{
	snprintf(buf, NSJAIL_TIME_SIZE, "%u.%03u", n->config.time_limit,
	    n->config.time_limit_ms);
	return buf;
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

static void
run(int argc, char *argv[])
{
	struct nsrun_plan plan;
	struct nsjail n = {
		.proc = true, .proc_path = "/proc", .status_fd = -1,
		.peer = "", .log = { .fd = -1, .level = NSJAIL_INFO },
	};
	bool made;

	nsrun_plan_init(&plan);
	nsjail_message_init(&nsjail_config_message, &n.config);
	optind = 0;		/* getopt_long(3) begins anew */
	opterr = 0;
	made = nsjail_parse(&n, argc, argv) == 0;
	if (made && !n.wants_help) {
		nsjail_tell_settings(&n);
		made = nsjail_plan(&n, &plan) == 0;
		if (made) {
			nsjail_tell_plan(&n, &plan);
			print(&plan);
		}
	}
	/* A refusal says why, and only a refusal does. */
	if (made != !*n.err.call)
		abort();
	nsrun_fd_close(&plan.process.exec_fd);
	nsrun_plan_deinit(&plan);
	nsrun_arena_deinit(&n.arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *section, *next;
	char *argv[MAX_WORDS + 2] = { (char *)(uintptr_t)"nsjail" };
	int argc = 1, before, after;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	next = memchr(text, 1, size);
	section = next ? next : text + size;
	*section = '\0';
	for (char *at = text; at < section && argc <= MAX_WORDS;
	    at += strlen(at) + 1)
		argv[argc++] = at;
	for (int i = 0; i < N_FILES; i++) {
		char *from = section < text + size ? section + 1 : section;
		size_t left = (size_t)(text + size - from);

		next = memchr(from, 1, left);
		section = next ? next : text + size;
		files[i].text = from;
		files[i].n = (size_t)(section - from);
	}
	before = dup(0);
	close(before);
	run(argc, argv);
	after = dup(0);
	close(after);
	if (before != after)
		abort();	/* a descriptor leaked */
	free(text);
	return 0;
}
