/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

void
nsrun_source_look(struct nsrun_mount *m)
{
	struct stat st;

	if (stat(m->source, &st) == 0)
		m->type = st.st_mode & S_IFMT;
}

int
nsrun_source_pin(struct nsrun_mount *m, int fd, char path[4096])
{
	char name[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";
	struct stat st, named;
	ssize_t n;

	nsrun_fd_path(name + sizeof "/proc/" - 1, fd);
	if (fcntl(fd, F_GETFD) < 0 || fstat(fd, &st) < 0)
		return -1;
	n = readlink(name, path, 4095);
	if (n < 0)
		return -1;
	path[n] = '\0';
	if (*path != '/' || lstat(path, &named) < 0 ||
	    named.st_dev != st.st_dev || named.st_ino != st.st_ino) {
		errno = ENOENT;
		return -1;
	}
	m->type = st.st_mode & S_IFMT;
	m->source = path;
	m->pin = (struct nsrun_pin){
		.dev = st.st_dev, .ino = st.st_ino,
		.type = st.st_mode & S_IFMT, .uid = st.st_uid, .gid = st.st_gid,
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3),
	};
	return m->pin.fd < 0 ? -1 : 0;
}
