/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "bwrap.h"

/* As strtol(3) reads it, but nothing that an int cannot hold. */
int
bwrap_fd_number(struct bwrap *b, const char *text, int *fd)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || errno || n < 0 || n > INT_MAX)
		return bwrap_die(b, "Invalid fd: %s", text);
	*fd = (int)n;
	return 0;
}

int
bwrap_fd_take(struct bwrap *b, const char *option, int *fd)
{
	int high;

	if (fcntl(*fd, F_SETFD, FD_CLOEXEC) < 0)
		return bwrap_die_errno(b, "--%s %d", option, *fd);
	/* The command has something else there: see open_stdio(). */
	if (*fd < 3) {
		high = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
		close(*fd);
		if (high < 0 || open("/dev/null", O_RDWR) != *fd)
			return bwrap_die_errno(b, "--%s %d", option, *fd);
		*fd = high;
	}
	if (nsrun_plan_add_consumed(b->plan, *fd, &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

const struct bwrap_data *
bwrap_fd_read(struct bwrap *b, const char *option, int number)
{
	struct bwrap_data *data, *v;
	int fd = number;
	char *text;
	size_t n;

	for (size_t i = 0; i < b->n_data; i++)
		if (b->data[i].fd == number)
			return &b->data[i];
	if (bwrap_fd_take(b, option, &fd) < 0)
		return NULL;
	text = nsrun_file_read_fd(fd, SSIZE_MAX, &n);
	if (!text) {
		bwrap_die_errno(b, "Can't read --%s %d", option, number);
		return NULL;
	}
	v = nsrun_arena_grow(&b->plan->arena, b->data, b->n_data, sizeof *v);
	if (v) {
		b->data = v;
		data = &v[b->n_data++];
		*data = (struct bwrap_data){
			.fd = number, .n = n,
			.bytes = nsrun_arena_dup(&b->plan->arena, text, n + 1),
		};
	}
	free(text);
	if (!v || !data->bytes) {
		bwrap_nomem(b);
		return NULL;
	}
	return data;
}
