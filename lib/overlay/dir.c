/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sys.h"

int
nsrun_dir_open(int dir_fd, const char *name)
{
	return sys_openat2(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
	    RESOLVE_NO_XDEV | RESOLVE_BENEATH);
}

static int
by_bytes(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int
add_name(struct nsrun_names *names, const char *name)
{
	/* Room for a power of two, which is used up exactly then. */
	if ((names->n & (names->n - 1)) == 0) {
		char **v = realloc(names->v, (names->n ? 2 * names->n : 1) *
		    sizeof *v);

		if (!v)
			return -1;
		names->v = v;
	}
	names->v[names->n] = strdup(name);
	return names->v[names->n] ? (int)(names->n++ & 0) : -1;
}

int
nsrun_names_read(struct nsrun_names *names, int dir_fd)
{
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? NULL :
	    fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	*names = (struct nsrun_names){ 0 };
	if (!dir) {
		nsrun_fd_close(&fd);
		return -1;
	}
	while (rc == 0 && (errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			rc = add_name(names, entry->d_name);
	if (rc == 0 && errno)
		rc = -1;
	fd = errno;
	closedir(dir);
	if (rc < 0)
		nsrun_names_free(names);
	else if (names->n)
		qsort(names->v, names->n, sizeof *names->v, by_bytes);
	errno = fd;
	return rc;
}

void
nsrun_names_free(struct nsrun_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct nsrun_names){ 0 };
}

bool
nsrun_names_have(const struct nsrun_names *names, const char *name)
{
	return names->n && bsearch(&name, names->v, names->n, sizeof *names->v,
	    by_bytes);
}
