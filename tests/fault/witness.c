/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command finds when it runs in a whole sandbox of the profile shell:
 * one letter for each thing that is not so, to the file `ran` in its working
 * directory; "whole" when there is none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

static char missing[64];

static void
need(char letter, int so)
{
	if (!so)
		missing[strlen(missing)] = letter;
}

static int
status_says(const char *line)
{
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, line) != NULL;
}

static int
limit_is(int resource, rlim_t value)
{
	struct rlimit r;

	return getrlimit(resource, &r) == 0 && r.rlim_cur == value;
}

static int
count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static int
read_only(const char *path)
{
	struct statvfs fs;

	return statvfs(path, &fs) == 0 && fs.f_flag & ST_RDONLY;
}

static int
file_says(const char *path, const char *want)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return !strncmp(text, want, strlen(want));
}

int
main(void)
{
	struct utsname name;
	char cwd[4096];
	FILE *out;

	need('s', status_says("\nSeccomp:\t2\n"));
	need('n', status_says("\nNoNewPrivs:\t1\n"));
	need('c', status_says("\nCapBnd:\t0000000000000000\n") &&
	    status_says("\nCapEff:\t0000000000000000\n") &&
	    status_says("\nCapPrm:\t0000000000000000\n") &&
	    status_says("\nCapInh:\t0000000000000000\n") &&
	    status_says("\nCapAmb:\t0000000000000000\n"));
	need('p', getppid() == 1);
	need('u', getuid() != 0);
	need('h', uname(&name) == 0 && !strcmp(name.nodename, "sandbox"));
	need('r', read_only("/") && read_only("/usr") &&
	    read_only("/proc/sys"));
	need('t', access("/sys", F_OK) < 0 && access("/boot", F_OK) < 0);
	need('l', limit_is(RLIMIT_NPROC, 256) && limit_is(RLIMIT_CORE, 1) &&
	    limit_is(RLIMIT_NOFILE, 1024) && limit_is(RLIMIT_CPU, 300));
	/* ".", "..", 0, 1, 2 and the directory itself. */
	need('f', count("/proc/self/fd") == 6);
	need('k', socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EAFNOSUPPORT);
	need('i', open("/proc/1/environ", O_RDONLY) < 0);
	need('m', file_says("/proc/sys/user/max_user_namespaces", "0\n"));
	need('w', getcwd(cwd, sizeof cwd) && cwd[0] == '/');
	need('d', getsid(0) == getpid());
	need('b', status_says("\nSigBlk:\t0000000000000000\n") &&
	    status_says("\nSigIgn:\t0000000000000000\n"));
	out = fopen("ran", "w");
	if (!out)
		return 1;
	fputs(*missing ? missing : "whole", out);
	return fclose(out) == 0 ? 0 : 1;
}
