/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What --info-fd and --json-status-fd are told: bubblewrap's documents, key by
 * key, and no more of them than callers count on.
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bwrap.h"
#include "run/run.h"

struct text {
	char	buf[1024];
	size_t	n;
};

static void __attribute__((format(printf, 2, 3)))
put(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->n, sizeof t->buf - t->n, format, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof t->buf - t->n)
		t->n += (size_t)n;
}

static int
write_text(int fd, const struct text *t)
{
	for (size_t done = 0; done < t->n; ) {
		ssize_t n = write(fd, t->buf + done, t->n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

/* In bubblewrap's order; a user namespace is not told. */
static void
put_namespaces(struct text *t, const struct nsrun_run *run, const char *sep)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} all[] = {
		{ CLONE_NEWCGROUP, "cgroup" }, { CLONE_NEWIPC, "ipc" },
		{ CLONE_NEWNS, "mnt" }, { CLONE_NEWNET, "net" },
		{ CLONE_NEWPID, "pid" }, { CLONE_NEWUTS, "uts" },
	};
	struct stat st;
	char path[64];

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (!(run->plan->namespaces & all[i].flag))
			continue;
		snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)run->pid,
		    all[i].name);
		if (stat(path, &st) == 0)
			put(t, ",%s\"%s-namespace\": %ju", sep, all[i].name,
			    (uintmax_t)st.st_ino);
	}
}

int
bwrap_write_info(const struct bwrap *b, const struct nsrun_run *run)
{
	struct text pretty = { .n = 0 }, line = { .n = 0 };

	if (b->info_fd >= 0) {
		put(&pretty, "{\n    \"child-pid\": %d", (int)run->pid);
		put_namespaces(&pretty, run, "\n    ");
		put(&pretty, "\n}\n");
		if (write_text(b->info_fd, &pretty) < 0)
			return -1;
		close(b->info_fd);
	}
	if (b->json_fd < 0)
		return 0;
	put(&line, "{ \"child-pid\": %d", (int)run->pid);
	put_namespaces(&line, run, " ");
	put(&line, " }\n");
	return write_text(b->json_fd, &line);
}

int
bwrap_write_command(const struct bwrap *b, pid_t pid)
{
	struct text t = { .n = 0 };

	if (b->json_fd < 0 || !b->extended)
		return 0;
	put(&t, "{ \"command-pid\": %d }\n", (int)pid);
	return write_text(b->json_fd, &t);
}

int
bwrap_write_exit(const struct bwrap *b, const struct nsrun_run *run)
{
	int status = run->report.status;
	struct text t = { .n = 0 };

	if (b->json_fd < 0)
		return 0;
	put(&t, "{ \"exit-code\": %d", run->result.status);
	if (b->extended && WIFSIGNALED(status))
		put(&t, ", \"signal\": %d, \"core-dumped\": %s",
		    WTERMSIG(status), WCOREDUMP(status) ? "true" : "false");
	put(&t, " }\n");
	return write_text(b->json_fd, &t);
}
