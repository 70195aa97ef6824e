/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the plan wants back: pid 1, which sees what the command saw, copies it
 * when everything else inside is dead, into memory that the supervisor shares.
 * A name may lead wherever it likes: nothing is read that the command could
 * not have written there itself.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/* The content behind the head. False: errno says why not. */
static bool
copy(int from, int to, size_t max, uint32_t *size)
{
	char buf[4096];
	size_t done = 0;
	ssize_t n;

	while ((n = read(from, buf, sizeof buf)) > 0) {
		if (done + (size_t)n > max) {
			errno = EFBIG;
			return false;
		}
		if (pwrite(to, buf, (size_t)n, (off_t)(done +
		    sizeof(struct nsrun_returned))) != n)
			return false;
		done += (size_t)n;
	}
	*size = (uint32_t)done;
	return n == 0;
}

static void
collect(const struct nsrun_return *back, int to)
{
	/* A FIFO would never open. */
	nsrun_autoclose int fd = open(back->path, O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct nsrun_returned head = { .told = true };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		head.errnum = errno;
	else if (!S_ISREG(st.st_mode))
		head.errnum = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	else if (!copy(fd, to, back->max_bytes, &head.size))
		head.errnum = errno;
	/* Last: until it is there, nothing was told. */
	(void)!pwrite(to, &head, sizeof head, 0);
}

void
nsrun_returns_collect(const struct nsrun_prep *prep)
{
	for (size_t i = 0; i < prep->plan->n_returns; i++)
		collect(&prep->plan->returns[i], prep->return_fds[i]);
}
