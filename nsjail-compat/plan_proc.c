/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The host's procfs comes along with a bind of a tree that has one in it. It
 * would show the host's processes: where nothing else is mounted over it, an
 * empty directory is. One that is bound by its own name is meant.
 */
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "nsjail.h"

enum { MOUNTINFO_MAX = 64 << 20 };

/* The mount point in a line of mountinfo, proc_pid_mountinfo(5), if its file
 * system is a procfs; else NULL. The line is taken apart. */
static char *
proc_point(char *line)
{
	char *words[5] = { 0 }, *type = strstr(line, " - "), *out, *s;

	if (!type || strncmp(type + 3, "proc ", 5))
		return NULL;
	for (int i = 0; i < 5; i++)
		words[i] = strsep(&line, " ");
	if (!words[4])
		return NULL;
	/* Blanks and the like are in octal. */
	for (s = out = words[4]; *s; out++) {
		if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
			*out = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
			    (s[3] - '0'));
			s += 4;
		} else {
			*out = *s++;
		}
	}
	*out = '\0';
	return words[4];
}

/* What of path is strictly below dir, with its slash; NULL: nothing. */
static const char *
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return path[1] ? path : NULL;
	return !strncmp(path, dir, n) && path[n] == '/' ? path + n : NULL;
}

static int
cover(struct nsjail *n, struct nsrun_plan *plan, size_t bind,
    const char *rest)
{
	static const char *const options[] = {
		"size", "4096", "nr_inodes", "2", "mode", "555", NULL,
	};
	const char *at = plan->mounts.v[bind].target;
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_FS, .fstype = "tmpfs", .options = options,
		.flags = NSRUN_MOUNT_RDONLY | NSRUN_MOUNT_NOEXEC,
		.target = nsrun_arena_printf(&plan->arena, "%s%s",
		    at[1] ? at : "", rest),
	};

	if (!m.target)
		return nsjail_nomem(n);
	/* Is there something else already? */
	for (size_t i = bind + 1; i < plan->mounts.n; i++)
		if (!strcmp(plan->mounts.v[i].target, m.target) ||
		    below(m.target, plan->mounts.v[i].target))
			return 0;
	return nsrun_plan_add_mount(plan, &m, &n->err);
}

static int
cover_all(struct nsjail *n, struct nsrun_plan *plan, const char *point,
    char *const sources[], size_t n_sources)
{
	for (size_t i = 0; i < n_sources; i++) {
		const char *rest = sources[i] ? below(point, sources[i]) : NULL;

		if (rest && cover(n, plan, i, rest) < 0)
			return -1;
	}
	return 0;
}

int
nsjail_plan_proc(struct nsjail *n, struct nsrun_plan *plan)
{
	size_t n_sources = plan->mounts.n;
	char *text, *left, *line, *point;
	char **sources;
	int rc = 0;

	if (!(plan->namespaces & CLONE_NEWPID))
		return 0;
	text = nsrun_file_read("/proc/self/mountinfo", MOUNTINFO_MAX);
	sources = calloc(n_sources, sizeof *sources);
	for (size_t i = 0; sources && i < n_sources; i++)
		/* Below a file there is nothing. */
		if (plan->mounts.v[i].kind == NSRUN_MOUNT_BIND &&
		    !S_ISREG(plan->mounts.v[i].type))
			sources[i] = realpath(plan->mounts.v[i].source, NULL);
	left = text;
	if (!text || !sources)
		rc = nsrun_err_sys(&n->err, NSRUN_STEP_PROC, "read",
		    "/proc/self/mountinfo", NULL);
	while (rc == 0 && (line = strsep(&left, "\n")))
		if ((point = proc_point(line)))
			rc = cover_all(n, plan, point, sources, n_sources);
	for (size_t i = 0; sources && i < n_sources; i++)
		free(sources[i]);
	free(sources);
	free(text);
	return rc;
}
