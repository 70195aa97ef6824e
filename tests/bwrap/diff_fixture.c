/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The host's files that rows are about: sources and destinations. */
#include "diff.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const struct {
	char		type;
	mode_t		mode;
	const char	*path;
	const char	*text;		/* or target, where ! is the fixture */
} entries[] = {
	{ 'd', 0755, "src", NULL },
	{ 'd', 0755, "src/dir", NULL },
	{ '-', 0644, "src/dir/file", "src/dir/file\n" },
	{ 'd', 0750, "src/dir/sub", NULL },
	{ '-', 0600, "src/dir/sub/deep", "deep\n" },
	{ 'd', 0755, "src/empty", NULL },
	{ '-', 0644, "src/file", "src/file\n" },
	{ '-', 0640, "src/other", "src/other\n" },
	{ 'd', 0000, "src/closed", NULL },
	{ 'l', 0, "src/lrel", "dir" },
	{ 'l', 0, "src/labs", "!/src/dir" },
	{ 'l', 0, "src/lfile", "file" },
	{ 'l', 0, "src/lchain", "lrel" },
	{ 'l', 0, "src/ldang", "nowhere" },
	{ 'l', 0, "src/lloop", "lloop" },
	{ 'p', 0644, "src/fifo", NULL },
	{ 's', 0644, "src/sock", NULL },
	{ 'c', 0666, "src/null", NULL },
	{ 'd', 0755, "dst", NULL },
	{ 'd', 0755, "dst/dir", NULL },
	{ '-', 0644, "dst/dir/old", "old\n" },
	{ 'd', 0755, "dst/dir/sub", NULL },
	{ 'd', 0755, "dst/empty", NULL },
	{ '-', 0664, "dst/file", "dst/file\n" },
	{ '-', 0444, "dst/readonly", "readonly\n" },
	{ 'l', 0, "dst/lrel", "dir" },
	{ 'l', 0, "dst/labs", "!/dst/dir" },
	{ 'l', 0, "dst/lfile", "file" },
	{ 'l', 0, "dst/lfabs", "!/dst/file" },
	{ 'l', 0, "dst/lchain", "lrel" },
	{ 'l', 0, "dst/ldang", "nowhere" },
	{ 'l', 0, "dst/lloop", "lloop" },
	{ 'l', 0, "dst/lup", "../dst/dir" },
	{ 'd', 0700, "home", NULL },
	{ 'd', 0755, "cwd", NULL },
	{ 'l', 0, "cwd/src", "../src" },
	{ '-', 0644, "cwd/file", "cwd/file\n" },
};

static void
make_link(const char *root, const char *path, const char *text)
{
	char *target = text[0] == '!' ? diff_print("%s%s", root, text + 1) :
	    strdup(text);

	if (symlink(target, path) < 0)
		diff_die("%s: %s", path, strerror(errno));
	free(target);
}

static void
make_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		diff_die("%s: %s", path, strerror(errno));
	close(fd);
}

void
fixture_make(const char *root)
{
	if (mkdir(root, 0755) < 0)
		diff_die("%s: %s", root, strerror(errno));
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
		char *path = diff_print("%s/%s", root, entries[i].path);
		int rc = 0;

		switch (entries[i].type) {
		case 'd': rc = mkdir(path, 0700); break;
		case 'p': rc = mkfifo(path, 0600); break;
		case 'l': make_link(root, path, entries[i].text); break;
		case 's': rc = mknod(path, S_IFSOCK | 0600, 0); break;
		case '-': make_file(path, entries[i].text); break;
		default:
			/* Only root may, and not in a container. */
			if (mknod(path, S_IFCHR | 0600, makedev(1, 3)) < 0)
				make_file(path, "no device\n");
			break;
		}
		if (rc < 0)
			diff_die("%s: %s", path, strerror(errno));
		/* umask is not to matter; nothing is put into `closed`. */
		if (entries[i].type != 'l' && chmod(path, entries[i].mode) < 0)
			diff_die("%s: %s", path, strerror(errno));
		free(path);
	}
}

static void
remove_at(int dir, const char *name)
{
	struct dirent *entry;
	DIR *d;
	int fd;

	if (unlinkat(dir, name, 0) == 0)
		return;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
	if (fd < 0)
		diff_die("cannot remove %s: %s", name, strerror(errno));
	fchmod(fd, 0700);
	d = fdopendir(fd);
	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_at(fd, entry->d_name);
	if (d)
		closedir(d);
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0)
		diff_die("cannot remove %s: %s", name, strerror(errno));
}

void
fixture_remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		remove_at(AT_FDCWD, path);
}
