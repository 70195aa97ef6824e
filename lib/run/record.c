/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"

bool
nsrun_record_begin(struct nsrun_record *r, int fd, const char *event)
{
	*r = (struct nsrun_record){ 0 };
	if (fd < 0)
		return false;
	r->json.out = open_memstream(&r->text, &r->size);
	if (!r->json.out)
		return false;
	nsrun_json_open(&r->json, NULL, '{');
	nsrun_json_number(&r->json, "v", 1);
	nsrun_json_string(&r->json, "event", event);
	return true;
}

/* A reader that does not read loses records; the deadline is kept. */
static void
write_whole(int fd, const char *text, size_t size)
{
	struct pollfd room = { fd, POLLOUT, 0 };

	for (size_t done = 0; done < size; ) {
		ssize_t n = write(fd, text + done, size - done);

		if (n > 0)
			done += (size_t)n;
		else if (errno == EAGAIN ? poll(&room, 1, 1000) < 1 :
		    errno != EINTR)
			break;
	}
}

void
nsrun_record_finish(struct nsrun_record *r, int fd)
{
	nsrun_autoclose int own = nsrun_fd_reopen_nonblock(fd, O_WRONLY);

	nsrun_json_close(&r->json, '}');
	putc('\n', r->json.out);
	if (fclose(r->json.out) == 0)
		write_whole(own >= 0 ? own : fd, r->text, r->size);
	free(r->text);
}
