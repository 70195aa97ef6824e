/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Apart from fd.c: this formats a name, which the child does not. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

int
nsrun_fd_reopen_nonblock(int fd, int flags)
{
	char path[32];
	struct stat st;

	if (fstat(fd, &st) < 0 || (!S_ISFIFO(st.st_mode) && !isatty(fd)))
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 || nsrun_fd_raise(&fd) < 0 ? -1 : fd;
}
