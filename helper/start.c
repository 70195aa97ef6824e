/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "helper.h"

char *helper_strings;
size_t helper_n_strings;

/*
 * As execve(2) lays them out: the arguments, the environment, and last the name
 * of the program, which the auxiliary vector points at.
 */
static void
find_strings(char *argv[])
{
	char *end = (char *)getauxval(AT_EXECFN);

	if (end > argv[0]) {
		helper_strings = argv[0];
		helper_n_strings = (size_t)(end - argv[0]) + strlen(end);
	}
}

/* With 0 to 2 open, no descriptor of ours is ever mistaken for stdio. */
static bool
open_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    (errno != EBADF || open("/dev/null", O_RDWR) != fd))
			return false;
	return true;
}

const char *
helper_start(int argc, char *argv[])
{
	if (!open_stdio())
		return "cannot open /dev/null for what is closed of 0 to 2";
	if (argc < 1)
		return "there is no argv[0]";
	/* Never with more rights than the caller: we are no setuid program. */
	if (getauxval(AT_SECURE))
		return "runs neither setuid nor with file capabilities";
	find_strings(argv);
	return NULL;
}
