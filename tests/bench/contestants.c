/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILTER_FD = 198 };	/* as the seed has it */

void
bench_die(const char *what)
{
	perror(what);
	exit(1);
}

int64_t
bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

pid_t
bench_spawn(const struct bench_contestant *c, const int stdio[3])
{
	posix_spawn_file_actions_t actions;
	char path[32];
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, stdio[i], i);
	for (int i = 0; i < c->n_files; i++) {
		/* Opened anew: it is read to its end, and not by us alone. */
		snprintf(path, sizeof path, "/proc/self/fd/%d",
		    c->files[i].from_fd);
		posix_spawn_file_actions_addopen(&actions, c->files[i].fd, path,
		    O_RDWR, 0);
	}
	error = posix_spawn(&pid, c->argv[0], &actions, NULL, c->argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	errno = error;
	if (error)
		bench_die(c->argv[0]);
	return pid;
}

int64_t
bench_once(const struct bench_contestant *c)
{
	static const int stdio[] = { 0, 1, 2 };
	int64_t start = bench_now_ns();
	pid_t pid = bench_spawn(c, stdio);
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0) {
		fprintf(stderr, "%s: status %#x\n", c->name, status);
		bench_die(c->argv[0]);
	}
	return bench_now_ns() - start;
}

int
bench_memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		bench_die("memfd_create");
	return fd;
}

/* The seed's filter: 34 calls compared one after the other. */
int
bench_make_filter(void)
{
#if defined __x86_64__
	static const unsigned int arch = AUDIT_ARCH_X86_64;
#else
	static const unsigned int arch = AUDIT_ARCH_AARCH64;
#endif
	static const int denied[] = {
		SYS_mount, SYS_umount2, SYS_pivot_root, SYS_ptrace, SYS_bpf,
		SYS_perf_event_open, SYS_keyctl, SYS_add_key, SYS_request_key,
		SYS_init_module, SYS_finit_module, SYS_delete_module,
		SYS_kexec_load, SYS_userfaultfd, SYS_unshare, SYS_setns,
		SYS_open_by_handle_at, SYS_name_to_handle_at,
		SYS_process_vm_readv, SYS_process_vm_writev, SYS_io_uring_setup,
		SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen,
		SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
		SYS_reboot, SYS_swapon, SYS_swapoff,
	};
	const size_t n = sizeof denied / sizeof *denied;
	struct sock_filter program[5 + 2 * (sizeof denied / sizeof *denied)] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, arch, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	};

	for (size_t i = 0; i < n; i++) {
		program[4 + 2 * i] = (struct sock_filter)BPF_JUMP(BPF_JMP |
		    BPF_JEQ | BPF_K, (unsigned int)denied[i], 0, 1);
		program[5 + 2 * i] = (struct sock_filter)BPF_STMT(BPF_RET |
		    BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	program[4 + 2 * n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	return bench_memory_file(program, sizeof program);
}

void
bench_add(struct bench_words *w, const char *format, ...)
{
	va_list ap;

	w->v = realloc(w->v, (w->n + 2) * sizeof *w->v);
	va_start(ap, format);
	if (!w->v || vasprintf(&w->v[w->n], format, ap) < 0)
		bench_die("words");
	va_end(ap);
	w->v[++w->n] = NULL;
}

void
bench_add_all(struct bench_words *w, const char *words, const char *with)
{
	for (const char *s = words; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");

		if (memchr(s, '%', n)) {
			size_t before = strcspn(s, "%");

			bench_add(w, "%.*s%s%.*s", (int)before, s, with,
			    (int)(n - before - 1), s + before + 1);
		} else {
			bench_add(w, "%.*s", (int)n, s);
		}
		s += n;
	}
}

void
bench_make_bwrap(struct bench_contestant *c, const char *project,
    const char *home, char *const command[])
{
	static const char *const merged[] = { "bin", "sbin", "lib", "lib64" };
	const char *program = access("/usr/bin/bwrap", X_OK) == 0 ?
	    "/usr/bin/bwrap" : NULL;
	struct bench_words w = { 0 };

	c->name = "bwrap";
	c->n_files = 0;
	if (!program)
		return;
	c->files[c->n_files++] = (struct bench_file){ FILTER_FD,
	    bench_make_filter() };
	bench_add(&w, "%s", program);
	bench_add_all(&w, "--die-with-parent --new-session --unshare-all"
	    " --unshare-user --disable-userns --assert-userns-disabled"
	    " --cap-drop ALL --hostname openclaudia-sandbox --seccomp 198"
	    " --ro-bind /usr /usr", "");
	for (size_t i = 0; i < sizeof merged / sizeof *merged; i++) {
		char path[16];

		snprintf(path, sizeof path, "/%s", merged[i]);
		if (access(path, F_OK) == 0)
			bench_add_all(&w, "--symlink usr/% /%", merged[i]);
	}
	/* add_all replaces the first % of a word only. */
	bench_add_all(&w, "--proc /proc --dev /dev --tmpfs /tmp --tmpfs /run",
	    "");
	bench_add_all(&w, "--dir % --dir %/.cargo", home);
	bench_add_all(&w, "--bind % % --tmpfs %/.git --ro-bind %/.git/HEAD"
	    " %/.git/HEAD --ro-bind %/.git/objects %/.git/objects"
	    " --ro-bind %/.git/refs %/.git/refs --chmod 0555 %/.git"
	    " --tmpfs %/.claude --bind %/tmp /tmp/openclaudia-agent"
	    " --chdir %", project);
	bench_add_all(&w, "--setenv HOME % --setenv CARGO_HOME %/.cargo"
	    " --setenv RUSTUP_HOME %/.rustup", home);
	bench_add_all(&w, "--setenv TMPDIR /tmp/openclaudia-agent"
	    " --setenv TMP /tmp/openclaudia-agent"
	    " --setenv TEMP /tmp/openclaudia-agent"
	    " --setenv PATH /usr/local/bin:/usr/bin:/bin"
	    " --setenv XDG_CONFIG_HOME /tmp/xdg/config"
	    " --setenv XDG_CACHE_HOME /tmp/xdg/cache"
	    " --setenv XDG_DATA_HOME /tmp/xdg/data"
	    " --setenv OPENCLAUDIA_SANDBOX 1 --unsetenv SSH_AUTH_SOCK"
	    " --unsetenv SSH_AGENT_PID --unsetenv DBUS_SESSION_BUS_ADDRESS"
	    " --unsetenv DISPLAY --unsetenv WAYLAND_DISPLAY"
	    " --unsetenv XDG_RUNTIME_DIR --", "");
	for (; *command; command++)
		bench_add(&w, "%s", *command);
	c->argv = w.v;
}

void
bench_make_nsrun(struct bench_contestant *c, const char *program,
    const char *project, char *const command[])
{
	struct bench_words w = { 0 };

	c->name = "oc-nsrun";
	c->n_files = 0;
	bench_add(&w, "%s", program);
	bench_add_all(&w, "run --profile shell --project %", project);
	bench_add_all(&w, "--cwd % --", project);
	for (; *command; command++)
		bench_add(&w, "%s", *command);
	c->argv = w.v;
}
