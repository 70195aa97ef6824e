/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/relay.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/number.h"

static void
finish(int *fd, bool owned)
{
	if (owned)
		nsrun_fd_close(fd);
	*fd = -1;
}

static void
finish_from(struct nsrun_relay *r)
{
	finish(&r->from_fd, r->owns_from);
}

static void
finish_to(struct nsrun_relay *r)
{
	finish(&r->to_fd, r->owns_to);
}

void
nsrun_relay_poll(const struct nsrun_relay *r, struct pollfd fds[2])
{
	bool pending = r->end > r->start;

	fds[0] = (struct pollfd){ pending ? -1 : r->from_fd, POLLIN, 0 };
	/* Without events POLLERR still tells that the reader has gone. */
	fds[1] = (struct pollfd){ r->to_fd, pending ? POLLOUT : 0, 0 };
}

/* Cut what goes beyond the cap, and say so once, in the stream. */
static void
apply_cap(struct nsrun_relay *r)
{
	uint64_t room = r->cap_bytes - r->passed, n = r->end - r->start;
	char size[24];
	int len;

	if (!r->cap_bytes || n <= room)
		return;
	if (r->dropped == 0) {
		r->end = r->start + room;
		len = snprintf(r->buf + r->end, NSRUN_RELAY_SIZE + 64 - r->end,
		    "\n[output truncated at %s]\n",
		    nsrun_size_text(r->cap_bytes, size));
		r->end += (size_t)len;
	} else {
		r->start = r->end = 0;
	}
	r->dropped += n - room;
	r->passed = r->cap_bytes;
}

static void
fill(struct nsrun_relay *r)
{
	ssize_t n = read(r->from_fd, r->buf, NSRUN_RELAY_SIZE);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	/* EIO: the last process with the terminal open has closed it. */
	if (n <= 0) {
		finish_from(r);
		return;
	}
	r->start = 0;
	r->end = (size_t)n;
	if (r->to_fd < 0) {
		r->dropped += (uint64_t)n;
		r->end = 0;
		return;
	}
	if (r->dropped || (r->cap_bytes &&
	    r->passed + (uint64_t)n > r->cap_bytes))
		apply_cap(r);
	else
		r->passed += (uint64_t)n;
}

static void
drain(struct nsrun_relay *r)
{
	size_t len = r->end - r->start;
	ssize_t n;

	if (r->to_socket)
		n = send(r->to_fd, r->buf + r->start, len,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
	else
		n = write(r->to_fd, r->buf + r->start,
		    len < PIPE_BUF ? len : PIPE_BUF);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		/* The writer is told the same way: by its own SIGPIPE. */
		finish_to(r);
		finish_from(r);
		r->end = r->start;
		return;
	}
	r->start += (size_t)n;
}

void
nsrun_relay_move(struct nsrun_relay *r, const struct pollfd fds[2])
{
	if (fds[0].revents && r->from_fd >= 0)
		fill(r);
	if (r->to_fd >= 0 && fds[1].revents) {
		if (r->end > r->start)
			drain(r);
		else if (fds[1].revents & (POLLERR | POLLNVAL)) {
			finish_to(r);
			finish_from(r);
		}
	}
	if (r->from_fd < 0 && r->end == r->start && r->to_fd >= 0)
		finish_to(r);
}

bool
nsrun_relay_done(const struct nsrun_relay *r)
{
	return !r->buf || (r->from_fd < 0 && r->end == r->start);
}

void
nsrun_relay_deinit(struct nsrun_relay *r)
{
	finish_from(r);
	finish_to(r);
	free(r->buf);
	*r = (struct nsrun_relay){ .from_fd = -1, .to_fd = -1 };
}
