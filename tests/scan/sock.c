/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sock make|connect PATH: a socket, and whether it is reached, for shield.sh */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

static int
die(const char *what)
{
	perror(what);
	exit(99);
}

static struct sockaddr_un
address(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof a.sun_path) {
		errno = ENAMETOOLONG;
		die(path);
	}
	strcpy(a.sun_path, path);
	return a;
}

static int
make(const char *path)
{
	const struct sockaddr_un a = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return fd < 0 || bind(fd, (const void *)&a, sizeof a) < 0 ?
	    die(path) : 0;
}

static int
try(const char *path)
{
	const struct sockaddr_un a = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const void *)&a, sizeof a) < 0) {
		puts(strerrorname_np(errno));
		return 1;
	}
	puts("connected");
	return 0;
}

int
main(int argc, char *argv[])
{
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "connect"))
		return try(argv[2]);
	return 99;
}
