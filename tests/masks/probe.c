/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a command may try against a mask. Says what did not go as it should,
 * and nothing when all did.
 *
 *	probe absent PATH OTHER	a name that is hidden, or absent; OTHER is a
 *				file beside it
 *	probe swap PATH ROUNDS	change the directory of PATH for another while
 *				a second process makes PATH; prints the wins
 *	probe plant PATH END	make PATH in all ways until END is there; prints
 *				whether that ever went
 *	probe exchange A B N	outside: exchange A and B, N times
 *	probe nosock CMD...	run CMD where no socket can be made as a file
 *	probe nodnotify CMD...	run CMD where there is no dnotify
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed;

static void
want(const char *what, long rc, int errnum)
{
	int got = rc < 0 ? errno : 0;

	if (got != errnum) {
		printf("%s: %s, not %s\n", what, got ? strerror(got) :
		    "success", strerror(errnum));
		failed = 1;
	}
}

static long
renameat2_of(const char *from, const char *to, unsigned int flags)
{
	return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags);
}

static int
absent(const char *path, const char *other)
{
	char away[PATH_MAX + 8], below[PATH_MAX + 8];
	struct stat st;
	int fd;

	snprintf(away, sizeof away, "%s.away", other);
	snprintf(below, sizeof below, "%s/x", path);
	want("stat", stat(path, &st), ENOENT);
	want("access", access(path, F_OK), ENOENT);
	want("open", open(path, O_RDONLY), ENOENT);
	want("open O_WRONLY", open(path, O_WRONLY), ENOENT);
	want("opendir", open(path, O_RDONLY | O_DIRECTORY), ENOENT);
	want("creat", open(path, O_WRONLY | O_CREAT, 0600), ENOENT);
	want("creat O_EXCL", open(path, O_RDWR | O_CREAT | O_EXCL, 0600),
	    EEXIST);
	want("truncate", truncate(path, 0), ENOENT);
	want("chmod", chmod(path, 0777), ENOENT);
	want("mkdir", mkdir(path, 0700), EEXIST);
	want("symlink", symlink("/etc", path), EEXIST);
	want("mkfifo", mkfifo(path, 0600), EEXIST);
	want("link onto", link(other, path), EEXIST);
	want("link from", link(path, away), EXDEV);
	want("unlink", unlink(path), EBUSY);
	want("rename away", rename(path, away), EBUSY);
	want("rename onto", rename(other, path), EBUSY);
	want("exchange", renameat2_of(other, path, 2), EBUSY);
	want("whiteout", renameat2_of(path, away, 4), EBUSY);
	want("mkdir below", mkdir(below, 0700), ENOENT);
	want("creat below", open(below, O_WRONLY | O_CREAT, 0600), ENOENT);
	want("lchown", lchown(path, getuid(), getgid()), EROFS);
	fd = open(".", O_TMPFILE | O_RDWR, 0600);
	if (fd >= 0)
		want("linkat", linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH),
		    EEXIST);
	return failed;
}

/* Was the thing made where it counts, by its path? */
static int
is_made(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && (S_ISREG(st.st_mode) ||
	    S_ISDIR(st.st_mode));
}

static int
swap(const char *path, long rounds)
{
	volatile long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char dir[PATH_MAX], mine[PATH_MAX + 8], in_mine[2 * PATH_MAX];
	long wins = 0, tries = 0;
	pid_t pid;

	if (shared == MAP_FAILED)
		return 99;
	snprintf(dir, sizeof dir, "%s", path);
	*strrchr(dir, '/') = '\0';
	snprintf(mine, sizeof mine, "%s.mine", dir);
	snprintf(in_mine, sizeof in_mine, "%s/%s", mine,
	    strrchr(path, '/') + 1);
	mkdir(mine, 0700);
	close(open(in_mine, O_WRONLY | O_CREAT, 0600));
	pid = fork();
	if (pid == 0) {
		for (;;) {
			int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

			if (fd >= 0)
				close(fd);
			unlink(path);
			mkdir(path, 0700);
			shared[0]++;
		}
	}
	for (long i = 0; i < rounds; i++) {
		renameat2_of(dir, mine, 2);
		rename(dir, "elsewhere");
		rmdir(dir);
		rename(in_mine, path);
		renameat2_of(in_mine, path, 2);
		wins += is_made(path);
	}
	/* The other one had its turns, too. */
	while (shared[0] < rounds && ++tries < 600000)
		usleep(100);
	wins += is_made(path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(in_mine);
	rmdir(mine);
	printf("%ld wins in %ld rounds\n", wins, shared[0] < rounds ?
	    shared[0] : rounds);
	return wins != 0;
}

/* Leave it there: it is what counts. */
static int
plant(const char *path, const char *end)
{
	struct stat st;
	long n = 0;

	while (lstat(end, &st) < 0) {
		int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

		n += fd >= 0;
		if (fd >= 0)
			close(fd);
		n += mkdir(path, 0700) == 0;
		n += symlink("/etc", path) == 0;
	}
	puts(n ? "planted" : "never");
	return 0;
}

static int
exchange(const char *a, const char *b, long n)
{
	for (long i = 0; i < n; i++) {
		if (renameat2_of(a, b, 2) < 0)
			return 1;
		if (i % 100 == 0)
			usleep(2000);
	}
	return 0;
}

static int
run_with(const struct sock_fprog *program, char *argv[])
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program) < 0)
		return 99;
	execvp(argv[0], argv);
	return 99;
}

static int
no_dnotify(char *argv[])
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_NOTIFY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return run_with(&(struct sock_fprog){
		.len = sizeof code / sizeof *code, .filter = code }, argv);
}

static int
no_sockets(char *argv[])
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mknodat, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		    offsetof(struct seccomp_data, args[2])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, S_IFMT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, S_IFSOCK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return run_with(&(struct sock_fprog){
		.len = sizeof code / sizeof *code, .filter = code }, argv);
}

int
main(int argc, char *argv[])
{
	if (argc == 4 && !strcmp(argv[1], "absent"))
		return absent(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "swap"))
		return swap(argv[2], atol(argv[3]));
	if (argc == 4 && !strcmp(argv[1], "plant"))
		return plant(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "exchange"))
		return exchange(argv[2], argv[3], atol(argv[4]));
	if (argc > 2 && !strcmp(argv[1], "nodnotify"))
		return no_dnotify(argv + 2);
	if (argc > 2 && !strcmp(argv[1], "nosock"))
		return no_sockets(argv + 2);
	return 99;
}
