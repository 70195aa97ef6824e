/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bwraps NULL RUNS PROGRAM...: the same command lines on Debian's bwrap and on
 * builds of oc-bwrap, interleaved: what hosts pass, many binds, and hosts with
 * many mounts. The last are in a mount namespace of the bench's own.
 */
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_PROGRAMS = 8, N_DATA = 8, FIRST_FD = 200 };

static struct bench_contestant programs[MAX_PROGRAMS];
static struct bench_contestant *all[MAX_PROGRAMS];
static int n_programs;
static char root[] = "/var/tmp/nsrun-bench.XXXXXX", project[64], payload[80];

static void
make_project(const char *null)
{
	char command[1024];

	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		bench_die(root);
	snprintf(project, sizeof project, "%s/home/project", root);
	snprintf(payload, sizeof payload, "%s/null", project);
	snprintf(command, sizeof command, "mkdir -p %s && cd %s && mkdir -p"
	    " .git/hooks .claude d ../../mounts && touch .git/hooks/sample"
	    " .claude/settings .env .npmrc secret.key lock && cp %s null &&"
	    " chmod 755 null", project, project, null);
	if (system(command) != 0)
		bench_die("project");
}

static void
remove_project(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf --one-file-system %s", root);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", root);
}

/* Each program gets the words, and these files. */
static void
set_up(const struct bench_words *w, const struct bench_file *files, int n)
{
	for (int i = 0; i < n_programs; i++) {
		struct bench_words own = { 0 };

		bench_add(&own, "%s", programs[i].argv[0]);
		for (size_t k = 0; k < w->n; k++)
			bench_add(&own, "%s", w->v[k]);
		bench_add(&own, "%s", payload);
		programs[i].argv = own.v;
		memcpy(programs[i].files, files, (size_t)n * sizeof *files);
		programs[i].n_files = n;
	}
}

static void
compare(const char *title, int n)
{
	bench_compare(title, all, n_programs, all[0], n > 0 ? n : 1);
}

static void
make_minimal(void)
{
	struct bench_words w = { 0 };

	bench_add_all(&w, "--ro-bind / /", "");
	set_up(&w, NULL, 0);
}

/* As performance.md's plan: an agent's shell in a project. */
static void
make_agent_host(void)
{
	struct bench_words w = { 0 };

	bench_add_all(&w, "--unshare-all --die-with-parent --new-session"
	    " --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib"
	    " --symlink usr/lib64 /lib64 --bind % % --tmpfs /tmp --tmpfs /run"
	    " --proc /proc --dev /dev --ro-bind /dev/null %/.env"
	    " --ro-bind /dev/null %/.npmrc --ro-bind /dev/null %/secret.key"
	    " --tmpfs %/.claude --remount-ro %/.claude --tmpfs %/.git/hooks"
	    " --remount-ro %/.git/hooks --chdir % --", project);
	set_up(&w, NULL, 0);
}

/* As flatpak run: options from a file, data files, a filter, a lock, JSON. */
static void
make_flatpak_like(void)
{
	struct bench_file files[N_DATA + 3];
	struct bench_words w = { 0 }, words = { 0 };
	char text[16384];
	size_t used = 0;
	int n = 0;

	bench_add_all(&w, "--unshare-user --unshare-pid --unshare-ipc"
	    " --die-with-parent --ro-bind /usr /usr --symlink usr/bin /bin"
	    " --symlink usr/lib /lib --symlink usr/lib64 /lib64 --tmpfs /tmp"
	    " --tmpfs /run/user/1000 --dir /var/tmp --symlink /run /var/run"
	    " --proc /proc --dev /dev --bind % % --chdir % --setenv HOME %"
	    " --setenv PATH /app/bin:/usr/bin --lock-file %/lock", project);
	for (int i = 0; i < 22 - 2; i++) {
		bench_add(&w, "--ro-bind");
		bench_add(&w, "%s/d", project);
		bench_add(&w, "/run/host/d%d", i);
	}
	for (int i = 0; i < N_DATA; i++) {
		bench_add_all(&w, "--perms 0644 --ro-bind-data", "");
		bench_add(&w, "%d", FIRST_FD + n);
		bench_add(&w, "/etc/data%d", i);
		files[n] = (struct bench_file){ FIRST_FD + n,
		    bench_memory_file("text\n", 5) };
		n++;
	}
	bench_add(&w, "--seccomp");
	bench_add(&w, "%d", FIRST_FD + n);
	files[n] = (struct bench_file){ FIRST_FD + n, bench_make_filter() };
	n++;
	bench_add(&w, "--json-status-fd");
	bench_add(&w, "%d", FIRST_FD + n);
	files[n] = (struct bench_file){ FIRST_FD + n,
	    open("/dev/null", O_RDWR | O_CLOEXEC) };
	n++;
	for (size_t i = 0; i < w.n; i++) {
		strcpy(text + used, w.v[i]);
		used += strlen(w.v[i]) + 1;
	}
	files[n] = (struct bench_file){ FIRST_FD + n,
	    bench_memory_file(text, used) };
	bench_add(&words, "--args");
	bench_add(&words, "%d", FIRST_FD + n++);
	bench_add(&words, "--");
	set_up(&words, files, n);
}

static void
make_binds(int n)
{
	struct bench_words w = { 0 };

	bench_add_all(&w, "--unshare-user --bind % %", project);
	for (int i = 0; i < n; i++) {
		bench_add(&w, "--ro-bind");
		bench_add(&w, "%s/d", project);
		bench_add(&w, "/binds/%d", i);
	}
	set_up(&w, NULL, 0);
}

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		bench_die(path);
	close(fd);
}

/* Our own mount namespace, private, and n more mounts in it. */
static void
make_host(int n)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	char path[96], text[64];

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		bench_die("unshare");
	if (uid) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(text, sizeof text, "%u %u 1", uid, uid);
		write_file("/proc/self/uid_map", text);
		snprintf(text, sizeof text, "%u %u 1", gid, gid);
		write_file("/proc/self/gid_map", text);
	}
	snprintf(path, sizeof path, "%s/mounts", root);
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", path, "tmpfs", 0, NULL) < 0 || chdir(path) < 0)
		bench_die("mount");
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%d", i);
		if (mkdir(text, 0755) < 0 ||
		    mount(path, text, NULL, MS_BIND, NULL) < 0)
			bench_die("mount");
	}
	if (chdir("/") < 0)
		bench_die("chdir");
}

/* In a child, so that what was mounted goes with it. */
static void
with_host_mounts(int n, const char *title, int runs)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		make_host(n);
		compare(title, runs);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		bench_die(title);
}

int
main(int argc, char *argv[])
{
	static const char *const names[] = {
		"bwrap", "oc-bwrap", "oc-bwrap 2", "oc-bwrap 3", "oc-bwrap 4",
		"oc-bwrap 5", "oc-bwrap 6", "oc-bwrap 7",
	};
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (argc < 4 || argc - 3 > MAX_PROGRAMS || n < 1 || n > BENCH_MAX_RUNS)
		return 2;
	for (; n_programs < argc - 3; n_programs++) {
		all[n_programs] = &programs[n_programs];
		programs[n_programs].name = names[n_programs];
		programs[n_programs].argv = &argv[3 + n_programs];
		printf("%s: %s\n", names[n_programs], argv[3 + n_programs]);
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_project(argv[1]);
	atexit(remove_project);
	make_minimal();
	compare("minimal (us)", n);
	make_agent_host();
	compare("agent host", n);
	with_host_mounts(20, "+20 mounts", n);
	with_host_mounts(500, "+500 mounts", n / 3);
	with_host_mounts(5000, "+5,000 mounts", n / 10);
	make_flatpak_like();
	compare("flatpak-like", n);
	make_binds(1);
	compare("1 bind", n);
	make_binds(10);
	compare("10 binds", n);
	make_binds(50);
	compare("50 binds", n);
	make_binds(200);
	compare("200 binds", n / 3);
	make_binds(1000);
	compare("1,000 binds", n / 30);
	make_binds(2000);
	compare("2,000 binds", n / 100);
	with_host_mounts(300, "and +300", n / 100);
	return 0;
}
