/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * aid WORD OPERAND...
 *
 * Outside:
 *   kills N WHO CMD        CMD is killed N times, 0 to 10 ms after its start,
 *                          or its parent; what is left of it: aid_life.c
 *   thread CMD             CMD, started by a thread that ends at once
 *   pty CMD                CMD on a terminal, driven from standard input, and
 *   type                   types into its own terminal: aid_tty.c
 *   swap A B               exchanges two names, until it is killed
 *   fuse HOW DIR CMD       CMD beside a file system that does not answer, or
 *   autofs - DIR CMD       is dead; beside an automounter that sleeps
 *   lock FILE CMD          CMD beside a write lock
 *   reap CMD               CMD and whatever it leaves behind, to the last
 *
 * Inside:
 *   peek N                 looks N times whether pid 1 has a directory open
 *   abstract NAME          serves an abstract socket, or
 *   reach NAME             connects to it
 */
#include "aid.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/auto_fs.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 60 };

_Noreturn void
die(const char *what)
{
	fprintf(stderr, "aid: %s: %s\n", what, strerror(errno));
	exit(99);
}

const char *
error_name(int errnum)
{
	switch (errnum) {
	case 0:		return "OK";
	case EIO:	return "EIO";
	case EINVAL:	return "EINVAL";
	case ENOSYS:	return "ENOSYS";
	case ENOTTY:	return "ENOTTY";
	case EPERM:	return "EPERM";
	default:	return strerror(errnum);
	}
}

static int
run_swap(char **words)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(PATIENCE_S);
	for (;;)
		if (renameat2(AT_FDCWD, words[0], AT_FDCWD, words[1],
		    RENAME_EXCHANGE) < 0)
			die(words[0]);
}

/* The command's status, as a shell has it. */
static int
run_beside(char **words)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(words[0], words);
		die(words[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		die("wait");
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

/* 98: this cannot be done here. */
static int
mount_at(const char *type, const char *options, char **words)
{
	int rc;

	if (mount("aid", words[1], type, MS_NOSUID | MS_NODEV, options) < 0) {
		fprintf(stderr, "aid: %s: %s\n", type, strerror(errno));
		return 98;
	}
	rc = run_beside(words + 2);
	umount2(words[1], MNT_DETACH);
	return rc;
}

static int
run_fuse(char **words)
{
	char options[128];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC), rc;

	if (fd < 0) {
		perror("aid: /dev/fuse");
		return 98;
	}
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,"
	    "group_id=%d", fd, (int)getuid(), (int)getgid());
	if (strcmp(words[0], "dead") != 0)
		return mount_at("fuse", options, words);
	/* Closed, so that whatever is asked of it is refused. */
	if (mount("aid", words[1], "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return 98;
	close(fd);
	rc = run_beside(words + 2);
	umount2(words[1], MNT_DETACH);
	return rc;
}

static int
run_autofs(char **words)
{
	char options[128];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		die("pipe");
	/* Of another group than the command's, which is to be trapped. */
	snprintf(options, sizeof options, "fd=%d,pgrp=%d,minproto=5,maxproto=5,"
	    "direct", ends[1], (int)getpgrp());
	if (setpgid(0, 0) < 0)
		die("setpgid");
	return mount_at("autofs", options, words);
}

static int
run_lock(char **words)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(words[0], O_RDWR | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETLK, &all) < 0)
		die(words[0]);
	return run_beside(words + 1);
}

static int
run_reap(char **words)
{
	int rc;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	rc = run_beside(words);
	alarm(PATIENCE_S);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		continue;
	return rc;
}

static int
run_peek(char **words)
{
	int found = 0;

	for (int i = atoi(words[0]); i > 0; i--)
		for (int fd = 3; fd < 64; fd++) {
			struct stat st;
			char path[64];

			snprintf(path, sizeof path, "/proc/1/fd/%d", fd);
			if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
				found++;
		}
	printf("%d\n", found);
	return 0;
}

static int
unix_socket(const char *name, struct sockaddr_un *at, socklen_t *size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "%s", name);
	*size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	    strlen(name));
	if (fd < 0)
		die("socket");
	return fd;
}

static int
run_abstract(char **words)
{
	struct sockaddr_un at;
	socklen_t size;
	int fd = unix_socket(words[0], &at, &size);

	alarm(PATIENCE_S);
	if (bind(fd, (struct sockaddr *)&at, size) < 0 || listen(fd, 8) < 0)
		die("bind");
	puts("up");
	fflush(stdout);
	for (;;)
		close(accept(fd, NULL, NULL));
}

static int
run_reach(char **words)
{
	struct sockaddr_un at;
	socklen_t size;
	int fd = unix_socket(words[0], &at, &size);

	puts(connect(fd, (struct sockaddr *)&at, size) < 0 ? "closed" :
	    "reached");
	return 0;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **words);
		int n;
	} verbs[] = {
		{ "abstract", run_abstract, 1 }, { "autofs", run_autofs, 3 },
		{ "fuse", run_fuse, 3 }, { "kills", run_kills, 3 },
		{ "lock", run_lock, 2 }, { "peek", run_peek, 1 },
		{ "pty", run_pty, 1 }, { "reach", run_reach, 1 },
		{ "reap", run_reap, 1 }, { "swap", run_swap, 2 },
		{ "thread", run_thread, 1 }, { "type", run_type, 0 },
	};

	for (size_t i = 0; argc > 1 && i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(verbs[i].name, argv[1]) == 0 &&
		    argc - 2 >= verbs[i].n)
			return verbs[i].run(argv + 2);
	fprintf(stderr, "aid: no such word; see tests/bwrap/aid.c\n");
	return 99;
}
