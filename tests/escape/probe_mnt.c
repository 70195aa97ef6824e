/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MNT: the mount tree as it is, and the names that are read-only in it. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* One line of mountinfo, taken apart in place. */
struct line {
	char	*root, *target, *options, *optional, *type;
};

static bool
split(char *text, struct line *line)
{
	char *dash = strstr(text, " - "), *save = NULL, *word;
	char **fields[] = { NULL, NULL, NULL, &line->root, &line->target,
		&line->options };

	if (!dash)
		return false;
	*dash = '\0';
	line->type = strtok_r(dash + 3, " ", &save);
	save = NULL;
	for (size_t i = 0; i < 6; i++) {
		word = strtok_r(i ? NULL : text, " ", &save);
		if (!word)
			return false;
		if (fields[i])
			*fields[i] = word;
	}
	line->optional = strtok_r(NULL, " ", &save);
	return line->type != NULL;
}

static bool
has(const char *options, const char *option)
{
	size_t n = strlen(option);

	for (const char *s = options; *s; s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (len == n && !strncmp(s, option, n))
			return true;
		s += len;
	}
	return false;
}

static bool
below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

/* Is it one of the few places that may be written? */
static bool
may_write(const struct line *l)
{
	static const char *const dirs[] = { "/tmp", "/var/tmp", "/run",
		"/dev" };

	for (size_t i = 0; i < 4; i++)
		if (below(l->target, dirs[i]))
			return true;
	return !strcmp(l->target, "/proc") ||
	    !strcmp(l->target, probe_param("project")) ||
	    !strcmp(l->target, probe_param("home"));
}

static const char *
wrong_flags(const struct line *l)
{
	bool device = below(l->target, "/dev") &&
	    !below(l->target, "/dev/shm");

	if (!has(l->options, "nosuid"))
		return "nosuid is missing";
	if (!device && !has(l->options, "nodev"))
		return "nodev is missing";
	if (!has(l->options, "ro") && !may_write(l))
		return "ro is missing";
	if ((device || !strcmp(l->type, "proc") || below(l->target, "/etc")) &&
	    !has(l->options, "noexec"))
		return "noexec is missing";
	return NULL;
}

/* Each line to `check`; what it returns is what is wrong. */
static _Noreturn void
each(const char *(*check)(const struct line *l))
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char text[4096];
	struct line line;
	const char *wrong;
	int n = 0;

	while (f && fgets(text, sizeof text, f)) {
		text[strcspn(text, "\n")] = '\0';
		if (!split(text, &line))
			probe_skip("mountinfo cannot be read");
		n++;
		wrong = check(&line);
		if (wrong)
			probe_open("%s: %s", line.target, wrong);
	}
	probe_blocked(0, "%d mounts", n);
}

static void
flags(void)
{
	each(wrong_flags);
}

static const char *
wrong_propagation(const struct line *l)
{
	return l->optional;
}

static void
propagation(void)
{
	each(wrong_propagation);
}

/* Host paths are of granted and system directories only. */
static const char *
wrong_source(const struct line *l)
{
	const char *outside = probe_param("outside");

	if (below(l->root, outside) || below(l->target, outside))
		return "is of a directory that was not granted";
	return NULL;
}

static void
sources(void)
{
	each(wrong_source);
}

static void
old_root(void)
{
	static const char *const names[] = { "/oldroot", "/newroot",
		"/old_root", "/.old", "/mnt", "/host", "/.pivot_root",
		"/proc/1/root/home", "/root/.." };
	struct stat st;
	char path[256] = "/";

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (stat(names[i], &st) == 0)
			probe_open("%s", names[i]);
	for (int i = 0; i < 60; i++)
		strcat(path, "../");
	if (stat(path, &st) < 0)
		probe_blocked(errno, "..");
	if (st.st_dev == (dev_t)probe_number("rootdev") &&
	    st.st_ino == (ino_t)probe_number("rootino"))
		probe_open("/.. is the host's root");
	probe_blocked(ENOENT, "none of %zu", sizeof names / sizeof *names);
}

static void
umount_each(void)
{
	FILE *f;
	char text[4096];
	struct line line;
	int n = 0;

	if (probe_on_host())
		probe_skip("never on the host itself");
	f = fopen("/proc/self/mountinfo", "r");
	while (f && fgets(text, sizeof text, f)) {
		if (!split(text, &line) || !strcmp(line.target, "/"))
			continue;
		n++;
		/* An absent mask is a link that leads nowhere. */
		if (umount2(line.target, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
			probe_open("%s", line.target);
		if (errno != EPERM)
			probe_blocked(errno, "%s", line.target);
	}
	probe_blocked(EPERM, "%d mounts", n);
}

/* The project's control directory, which is there: `.git`. */
static void
control_write(void)
{
	probe_result(probe_try_open(".git/config", O_WRONLY), ".git/config");
}

static void
control_create(void)
{
	probe_result(probe_try_open(".git/hooks-new", O_WRONLY | O_CREAT),
	    ".git/hooks-new");
}

/* Away and, where that worked, back again. */
static _Noreturn void
move(const char *from, const char *to)
{
	int rc = rename(from, to), saved = errno;

	if (rc == 0 && rename(to, from) < 0)
		probe_open("%s: and it does not come back", from);
	errno = saved;
	probe_result(rc, from);
}

static void
control_rename(void)
{
	move(".git", ".git-away");
}

static void
control_over(void)
{
	mkdir("nsrun-escape-dir", 0755);
	if (rename("nsrun-escape-dir", ".git") == 0)
		probe_open("rename over .git");
	rmdir("nsrun-escape-dir");
	probe_blocked(errno, "rename over .git");
}

static void
control_remove(void)
{
	int rc = rmdir(".claude"), saved = errno;

	if (rc == 0)
		mkdir(".claude", 0755);
	errno = saved;
	probe_result(rc, "rmdir .claude");
}

/* The ancestor of a cover is the project itself. */
static void
control_ancestor(void)
{
	char away[4096];

	snprintf(away, sizeof away, "%s-away", probe_param("project"));
	move(probe_param("project"), away);
}

/* A read-only root within the project, a writable one within a read-only. */
static void
nested_ro(void)
{
	probe_result(probe_try_open("inner-ro/file", O_WRONLY), "inner-ro");
}

static void
nested_rw(void)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/inner-rw/file", probe_param("ro"));
	if (probe_try_open(path, O_WRONLY) < 0)
		probe_blocked(errno, "%s", path);
	probe_contained("%s", path);
}

const struct probe_check probe_mnt[] = {
	{ "MNT-01.each", umount_each },
	{ "MNT-05.sources", sources },
	{ "MNT-06.flags", flags },
	{ "MNT-07.propagation", propagation },
	{ "MNT-08.old_root", old_root },
	{ "MNT-09.write", control_write },
	{ "MNT-09.create", control_create },
	{ "MNT-11.ancestor", control_ancestor },
	{ "MNT-12.rename", control_rename },
	{ "MNT-12.over", control_over },
	{ "MNT-12.remove", control_remove },
	{ "MNT-18.ro_in_rw", nested_ro },
	{ "MNT-18.rw_in_ro", nested_rw },
	{ NULL, NULL }
};
