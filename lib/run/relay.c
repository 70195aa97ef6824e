/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Bytes that we wrote to a pipe and that nobody has read. */
static size_t
unread(int fd)
{
	int n = 0;

	return fd >= 0 && ioctl(fd, FIONREAD, &n) == 0 && n > 0 ? (size_t)n : 0;
}

/* Take n bytes out of the source for good. */
static void
discard(struct nsrun_relay *r, size_t n)
{
	while (n > 0) {
		ssize_t got = read(r->from_fd, r->buf,
		    n < NSRUN_RELAY_SIZE ? n : NSRUN_RELAY_SIZE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		n -= (size_t)got;
	}
}

/* Before the source is let go: what the command did not take stays there. */
static void
give_back(struct nsrun_relay *r)
{
	size_t left = unread(r->source == NSRUN_RELAY_FILE ? r->peek_fd :
	    r->to_fd);

	if (r->source == NSRUN_RELAY_PIPE && r->from_fd >= 0 && r->shown > left)
		discard(r, r->shown - left);
	else if (r->source == NSRUN_RELAY_FILE && r->buf)
		lseek(r->file_fd, -(off_t)(left + r->end - r->start), SEEK_CUR);
	r->shown = 0;
}

/*
 * Standard input may be shared with whom comes after us: `while read` loops and
 * scripts on a pipe. So a pipe is copied by tee(2), one page at a time, and
 * bytes leave it when the command has read them; the page is ours alone and
 * holds one buffer, so POLLOUT says that it was read.
 */
static void
show(struct nsrun_relay *r, const struct pollfd fds[2])
{
	ssize_t n;

	if (fds[1].revents & (POLLERR | POLLNVAL)) {
		give_back(r);
		finish_to(r);
		return;
	}
	if (r->shown > 0 && fds[1].revents & POLLOUT) {
		discard(r, r->shown);
		r->shown = 0;
	}
	if (r->shown > 0 || !fds[0].revents)
		return;
	n = tee(r->from_fd, r->to_fd, NSRUN_RELAY_PAGE, SPLICE_F_NONBLOCK);
	if (n > 0)
		r->shown = (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		finish_to(r);
}

static void
unblock(int *fd, bool *owned, int flags)
{
	int again;

	if (*fd >= 0 && *owned) {
		fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK);
		return;
	}
	again = *fd < 0 ? -1 : nsrun_fd_reopen_nonblock(*fd, flags);
	if (again >= 0) {
		*fd = again;
		*owned = true;
	}
}

void
nsrun_relay_unblock(struct nsrun_relay *r)
{
	unblock(&r->from_fd, &r->owns_from, O_RDONLY);
	unblock(&r->to_fd, &r->owns_to, O_WRONLY);
}

void
nsrun_relay_poll(const struct nsrun_relay *r, struct pollfd fds[2])
{
	bool pending = r->end > r->start || r->shown > 0;

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

/*
 * What bubblewrap and unshare(1) say when they are refused a namespace, each as
 * they write it at once. It may come in two pieces all the same, or be said by
 * somebody else: then but a hint is missing, or is one too many.
 */
static bool
is_complaint(const char *buf, size_t n)
{
	static const char *const words[] = {
		"No permissions to create ", "Creating new namespace failed",
		"unshare failed",
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (memmem(buf, n, words[i], strlen(words[i])))
			return true;
	return false;
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
	if (r->listens && !r->heard)
		r->heard = is_complaint(r->buf, r->end);
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
		r->refused = true;
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
	if (r->source == NSRUN_RELAY_PIPE) {
		if (r->from_fd >= 0 && r->to_fd >= 0)
			show(r, fds);
		return;
	}
	if (fds[0].revents && r->from_fd >= 0)
		fill(r);
	if (r->to_fd >= 0 && fds[1].revents) {
		if (r->end > r->start)
			drain(r);
		else if (fds[1].revents & (POLLERR | POLLNVAL)) {
			r->refused = true;
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
	give_back(r);
	finish_from(r);
	finish_to(r);
	nsrun_fd_close(&r->peek_fd);
	free(r->buf);
	*r = (struct nsrun_relay){
		.from_fd = -1, .to_fd = -1, .file_fd = -1, .peek_fd = -1,
	};
}
