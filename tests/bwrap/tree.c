/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	ENTRIES_MAX = 40,	/* /usr/bin is not what a row is about */
	CONTENT_MAX = 80,
};

void
tree_escape(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c >= 127 || c == '\\')
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
}

static char
letter(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return 'd';
	case S_IFREG: return '-';
	case S_IFLNK: return 'l';
	case S_IFCHR: return 'c';
	case S_IFBLK: return 'b';
	case S_IFIFO: return 'p';
	case S_IFSOCK: return 's';
	default: return '?';
	}
}

static void
print_content(FILE *out, const char *path)
{
	char text[CONTENT_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0) {
		fprintf(out, " %s", strerror(errno));
		return;
	}
	n = read(fd, text, sizeof text);
	if (n > 0) {
		fputs(" \"", out);
		tree_escape(out, text, (size_t)n);
		putc('"', out);
	}
	close(fd);
}

/* Only the memory devices may be opened without an effect. */
static void
print_device(FILE *out, const char *path, const struct stat *st)
{
	/* Pseudo terminals are numbered as they come. */
	if (S_ISCHR(st->st_mode) && major(st->st_rdev) == 136)
		fputs(" 136:N", out);
	else
		fprintf(out, " %u:%u", major(st->st_rdev),
			minor(st->st_rdev));
	if (S_ISCHR(st->st_mode) && major(st->st_rdev) == 1) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		fprintf(out, " %s", fd < 0 ? strerror(errno) : "opens");
		if (fd >= 0)
			close(fd);
	}
}

/* Is it one whose files are the kernel's, and never the same twice? */
static bool
is_kernels(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (fs.f_type == PROC_SUPER_MAGIC ||
	    fs.f_type == SYSFS_MAGIC);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
print_entries(FILE *out, const char *field, const char *path, int depth)
{
	char *names[ENTRIES_MAX];
	struct dirent *entry;
	size_t n = 0;
	int many = 0;
	DIR *d = opendir(path);

	if (!d) {
		fprintf(out, "%s %s/ %s\n", field, path,
			strerror(errno));
		return;
	}
	while ((entry = readdir(d))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (n == ENTRIES_MAX) {
			many = 1;
			break;
		}
		names[n] = strdup(entry->d_name);
		if (names[n])
			n++;
	}
	closedir(d);
	if (many)
		fprintf(out, "%s %s/ many\n", field, path);
	qsort(names, n, sizeof *names, compare_names);
	for (size_t i = 0; i < n; i++) {
		char below[PATH_MAX];

		snprintf(below, sizeof below, "%s/%s",
			 strcmp(path, "/") ? path : "", names[i]);
		if (!many)
			tree_print(out, field, below, depth - 1);
		free(names[i]);
	}
}

void
tree_print(FILE *out, const char *field, const char *path, int depth)
{
	struct stat st;
	char target[PATH_MAX];
	ssize_t n;

	if (lstat(path, &st) < 0) {
		fprintf(out, "%s %s %s\n", field, path, strerror(errno));
		return;
	}
	fprintf(out, "%s %s %c %04o %u:%u", field, path, letter(st.st_mode),
		(unsigned int)st.st_mode & 07777, st.st_uid, st.st_gid);
	if (!S_ISLNK(st.st_mode) && access(path, W_OK) == 0)
		fputs(" w", out);
	/* What lies in the root is the machine's, not the fixture's. */
	if (S_ISREG(st.st_mode) && strrchr(path, '/') != path)
		print_content(out, path);
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
		print_device(out, path, &st);
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof target);
		fputs(" -> ", out);
		tree_escape(out, target, n < 0 ? 0 : (size_t)n);
	}
	putc('\n', out);
	if (S_ISDIR(st.st_mode) && depth > 0 && !is_kernels(path))
		print_entries(out, field, path, depth);
}
