/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"

/* null, zero, full, random, urandom: they hold nothing and lead nowhere. */
static bool
is_harmless_device(const struct stat *st)
{
	unsigned int n = minor(st->st_rdev);

	return major(st->st_rdev) == 1 &&
	    (n == 3 || n == 5 || n == 7 || n == 8 || n == 9);
}

static int
decide(int fd, enum nsrun_stdio *how, const char **why)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	*why = NULL;
	*how = NSRUN_STDIO_INHERIT;
	if (flags < 0) {
		/* Closed: the command gets something, not our next file. */
		*how = NSRUN_STDIO_NULL;
		return errno == EBADF ? 0 : -1;
	}
	if (fstat(fd, &st) < 0)
		return -1;
	if (flags & O_PATH)
		*why = "is only a path (O_PATH)";
	else if (S_ISDIR(st.st_mode))
		*why = "is a directory";
	else if (S_ISBLK(st.st_mode))
		*why = "is a block device";
	else if (S_ISSOCK(st.st_mode))
		/* Descriptors could arrive through it (SCM_RIGHTS). */
		*how = NSRUN_STDIO_RELAY;
	else if (S_ISREG(st.st_mode) && fd > 0 &&
	    (flags & O_ACCMODE) == O_RDONLY)
		*why = "is a file that was opened for reading only";
	else if (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode))
		/*
		 * Opened again as /proc/self/fd/N an input could be written,
		 * also to whom reads from it after us; of an output what is
		 * there already could be read, truncated or taken.
		 */
		*how = NSRUN_STDIO_RELAY;
	else if (isatty(fd))
		*how = NSRUN_STDIO_TERMINAL;
	else if (S_ISCHR(st.st_mode) && !is_harmless_device(&st))
		*why = "is a device";
	else if (!S_ISCHR(st.st_mode))
		*why = "is neither a file, a pipe, a socket nor a terminal";
	return 0;
}

/*
 * Do both outputs go to one place, where what the command writes keeps its
 * order? Two opens of one file have an offset each.
 */
static bool
is_same_output(void)
{
	struct stat a, b;

	return fstat(1, &a) == 0 && fstat(2, &b) == 0 &&
	    a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	    (!S_ISREG(a.st_mode) || syscall(SYS_kcmp, getpid(), getpid(),
	    KCMP_FILE, 1, 2) == 0);
}

int
nsrun_stdio_decide(struct nsrun_plan *plan,
    const struct nsrun_request *request, bool stdin_null,
    struct nsrun_err *err)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };
	bool capped = request->max_output_bytes;
	const char *why;

	for (int i = 0; i < 3; i++) {
		enum nsrun_stdio *how = &plan->stdio[i];

		if (decide(i, how, &why) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_STDIO, "fstat",
			    names[i], NULL);
		if (i == 0 && (request->stdin_null || stdin_null)) {
			*how = NSRUN_STDIO_NULL;
			why = NULL;
		}
		if (why)
			return nsrun_err_rule(err, NSRUN_STEP_STDIO, why,
			    names[i], NULL);
		if (i > 0 && capped && *how == NSRUN_STDIO_INHERIT)
			*how = NSRUN_STDIO_RELAY;
	}
	/* A cap is on each of them. */
	if (!capped && plan->stdio[1] == NSRUN_STDIO_RELAY &&
	    plan->stdio[2] == NSRUN_STDIO_RELAY && is_same_output())
		plan->stdio[2] = NSRUN_STDIO_SAME;
	return 0;
}
