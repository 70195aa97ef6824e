/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RES, K: resource limits of one process, and that they stay. The driver sets
 * them low: data=64M file-size=1M files=64 signals=32 messages=64K locked=1M.
 */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char name[] = "nsrun-escape-big";

static void
memory(void)
{
	void *p = mmap(NULL, 128UL << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		probe_blocked(errno, "128 MiB");
	probe_open("128 MiB");
}

static int
big(void)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		probe_skip("open: %s", strerror(errno));
	unlink(name);
	signal(SIGXFSZ, SIG_IGN);
	return fd;
}

static void
size_truncate(void)
{
	probe_result(ftruncate(big(), (1 << 20) + 1), "ftruncate");
}

static void
size_allocate(void)
{
	probe_result(fallocate(big(), 0, 0, (1 << 20) + 4096), "fallocate");
}

static void
size_write(void)
{
	probe_result(pwrite(big(), "x", 1, (1 << 20) + 1), "pwrite");
}

static void
size_sendfile(void)
{
	int zero = open("/proc/self/exe", O_RDONLY), fd = big();

	lseek(fd, (1 << 20) + 1, SEEK_SET);
	probe_result(sendfile(fd, zero, NULL, 10), "sendfile");
}

static void
size_signal(void)
{
	int fd = big();

	signal(SIGXFSZ, SIG_DFL);
	probe_result(pwrite(fd, "x", 1, (1 << 20) + 1), "pwrite");
}

static void
files(void)
{
	int n = 0;

	while (n < 200 && dup(1) >= 0)
		n++;
	if (n == 200)
		probe_open("%d descriptors", n);
	/* 0 to 2 are there already. */
	if (n != 64 - 3)
		probe_open("%d descriptors, not 64", n + 3);
	probe_blocked(errno, "after %d descriptors", n + 3);
}

static void
signals(void)
{
	sigset_t set;
	int n = 0;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (n < 100 &&
	    sigqueue(getpid(), SIGRTMIN, (union sigval){ 0 }) == 0)
		n++;
	if (n == 100)
		probe_open("%d signals", n);
	probe_blocked(errno, "after %d signals", n);
}

static void
timers(void)
{
	timer_t timer;
	int n = 0;

	while (n < 100 && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0)
		n++;
	if (n == 100)
		probe_open("%d timers", n);
	probe_blocked(errno, "after %d timers", n);
}

static void
queues(void)
{
	struct mq_attr attr = { .mq_maxmsg = 10, .mq_msgsize = 8192 };
	mqd_t queue = mq_open("/nsrun-escape-queue", O_RDWR | O_CREAT, 0600,
	    &attr);
	int saved = errno;

	mq_unlink("/nsrun-escape-queue");
	errno = saved;
	probe_result(queue, "a queue of 80 KiB");
}

static void
locked(void)
{
	void *p = mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	probe_result(mlock(p, 2 << 20), "mlock of 2 MiB");
}

static void
realtime(void)
{
	struct sched_param param = { .sched_priority = 1 };

	probe_result(sched_setscheduler(0, SCHED_FIFO, &param), "SCHED_FIFO");
}

static void
nice_up(void)
{
	probe_result(setpriority(PRIO_PROCESS, 0, -5), "nice -5");
}

/* IOPRIO_CLASS_RT of ourselves. */
static void
io_priority(void)
{
	probe_result(syscall(SYS_ioprio_set, 1, 0, 1 << 13), "ioprio");
}

static void
raise_files(void)
{
	struct rlimit now;

	getrlimit(RLIMIT_NOFILE, &now);
	now.rlim_max += 10;
	probe_result(setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
}

static void
raise_sentinel(void)
{
	struct rlimit now;

	probe_result(prlimit((pid_t)probe_number("sentinel"), RLIMIT_NOFILE,
	    NULL, &now), "prlimit of the sentinel");
}

/*
 * Zero would let a core_pattern pipe run; what would set it is told so and
 * nothing happens.
 */
static _Noreturn void
core_limit(bool by_prlimit)
{
	struct rlimit limit = { 0, 0 }, now = { 7, 7 };
	int rc = by_prlimit ? prlimit(0, RLIMIT_CORE, &limit, NULL) :
	    (int)syscall(SYS_setrlimit, RLIMIT_CORE, &limit);

	if (rc < 0)
		probe_open("refused: %s", strerror(errno));
	if (getrlimit(RLIMIT_CORE, &now) < 0 || now.rlim_cur != 1 ||
	    now.rlim_max != 1)
		probe_open("the limit is %lu", (unsigned long)now.rlim_cur);
	probe_contained("accepted, and still 1");
}

static void
core_setrlimit(void)
{
	core_limit(false);
}

static void
core_prlimit(void)
{
	core_limit(true);
}

/* A crash: a file, or a program of the host's that is fed with our memory. */
static void
core_dump(void)
{
	pid_t pid = probe_fork();
	int status = 0;

	if (pid == 0)
		abort();
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status))
		probe_skip("it did not crash: 0x%x", status);
	if (WCOREDUMP(status))
		probe_open("signal %d, dumped", WTERMSIG(status));
	probe_blocked(0, "signal %d, not dumped", WTERMSIG(status));
}

const struct probe_check probe_limits[] = {
	{ "RES-03.memory", memory },
	{ "RES-06.files", files },
	{ "RES-09.truncate", size_truncate },
	{ "RES-09.allocate", size_allocate },
	{ "RES-09.write", size_write },
	{ "RES-09.sendfile", size_sendfile },
	{ "RES-09.signal", size_signal },
	{ "RES-11.realtime", realtime },
	{ "RES-11.nice", nice_up },
	{ "RES-11.ioprio", io_priority },
	{ "RES-11.locked", locked },
	{ "RES-16.signals", signals },
	{ "RES-16.queues", queues },
	{ "RES-18.setrlimit", core_setrlimit },
	{ "RES-18.prlimit", core_prlimit },
	{ "RES-18.dump", core_dump },
	{ "RES-19.files", raise_files },
	{ "RES-19.sentinel", raise_sentinel },
	{ "K-13.timers", timers },
	{ NULL, NULL }
};
