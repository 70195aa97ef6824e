/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

char *
nsrun_file_read_fd(int fd, size_t max, size_t *size)
{
	size_t room = 4096, used = 0;
	char *buf = malloc(room), *larger;

	while (buf) {
		ssize_t n = read(fd, buf + used, room - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (n > 0 && (used += (size_t)n) > max)) {
			errno = n < 0 ? errno : EFBIG;
			break;
		}
		if (n == 0) {
			buf[used] = '\0';
			*size = used;
			return buf;
		}
		if (used < room - 1)
			continue;
		larger = realloc(buf, room *= 2);
		if (!larger)
			break;
		buf = larger;
	}
	free(buf);
	return NULL;
}

char *
nsrun_file_read(const char *path, size_t max)
{
	size_t size;

	return nsrun_file_read_whole(path, max, &size);
}

char *
nsrun_file_read_whole(const char *path, size_t max, size_t *size)
{
	nsrun_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? NULL : nsrun_file_read_fd(fd, max, size);
}

int64_t
nsrun_file_number(const char *path)
{
	char *text = nsrun_file_read(path, 4096);
	int64_t value = -1;
	char *end;

	if (text && *text >= '0' && *text <= '9') {
		value = strtoll(text, &end, 10);
		if (*end && *end != '\n')
			value = -1;
	}
	free(text);
	return value;
}
