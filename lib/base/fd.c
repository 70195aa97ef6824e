/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys.h"

void
nsrun_fd_close(int *fd)
{
	int saved = errno;

	/* Never retried: Linux has released the number even if this fails. */
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int
nsrun_fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

int
nsrun_fd_raise(int *fd)
{
	int high;

	if (*fd < 0 || *fd > 2)
		return 0;
	high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
	if (high < 0)
		return -1;
	nsrun_fd_close(fd);
	*fd = high;
	return 0;
}

int
nsrun_fd_close_others(const int *keep, unsigned int n)
{
	unsigned int next = 3;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int fd = (unsigned int)keep[i];

		if (keep[i] < 0 || fd < next)
			continue;
		if (fd > next && sys_close_range(next, fd - 1, 0) < 0)
			return -1;
		next = fd + 1;
	}
	return sys_close_range(next, ~0U, 0);
}

const char *
nsrun_fd_path(char buf[NSRUN_FD_PATH], int fd)
{
	static const char prefix[] = "self/fd/";
	unsigned int rest = (unsigned int)fd;
	size_t n = sizeof prefix - 1, digits = 1;

	/* By hand: between clone and exec nothing may format. */
	for (unsigned int i = rest; i > 9; i /= 10)
		digits++;
	memcpy(buf, prefix, n);
	buf[n + digits] = '\0';
	do
		buf[n + --digits] = (char)('0' + rest % 10);
	while ((rest /= 10) > 0);
	return buf;
}

int
nsrun_fd_is_socket(int fd)
{
	int saved = errno;
	struct stat st;
	int is = fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);

	errno = saved;
	return is;
}
