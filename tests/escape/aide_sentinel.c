/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * aide sentinel DIR SOCKETS MARKER
 *
 * It listens on everything the sandbox must not reach and catches every
 * signal. DIR/facts says where it is found, in the probe's words; DIR/events
 * gets a line for whatever happens. SIGRTMAX, also sent by its parent's death,
 * ends it and removes what it made.
 */
#include "aide.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_SOCKETS = 8 };

static struct {
	int fd, type;
	const char *name;
} sockets[MAX_SOCKETS];
static nfds_t n_sockets;
static int events_fd;
static volatile sig_atomic_t ended;

static void
log_event(const char *what, int number)
{
	char line[64];
	int n = snprintf(line, sizeof line, "%s %d\n", what, number);

	if (write(events_fd, line, (size_t)n) < 0)
		_exit(1);
}

static void
on_signal(int number)
{
	if (number == SIGRTMAX)
		ended = 1;
	else
		log_event("signal", number);
}

static void
catch_all(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	for (int i = 1; i <= SIGRTMAX; i++)
		sigaction(i, &action, NULL);
}

static void
add(int fd, int type, const char *name)
{
	if (fd < 0 || n_sockets == MAX_SOCKETS)
		return;
	sockets[n_sockets].fd = fd;
	sockets[n_sockets].type = type;
	sockets[n_sockets++].name = name;
}

/* Bind to the port, 0 for any, of 127.0.0.1 or ::1; returns the port. */
static unsigned int
listen_inet(int family, int type, unsigned int port)
{
	struct sockaddr_in four = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	void *at = family == AF_INET ? (void *)&four : (void *)&six;
	socklen_t n = family == AF_INET ? sizeof four : sizeof six;
	int fd = socket(family, type, 0);

	four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	six.sin6_addr = in6addr_loopback;
	four.sin_port = six.sin6_port = htons((unsigned short)port);
	if (fd < 0 || bind(fd, at, n) < 0 || (type == SOCK_STREAM &&
	    listen(fd, 8) < 0) || getsockname(fd, at, &n) < 0)
		return port;
	add(fd, type, type == SOCK_STREAM ? "tcp" : "udp");
	return ntohs(family == AF_INET ? four.sin_port :
	    six.sin6_port);
}

static void
listen_unix(const char *dir, const char *name, int type)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0), n;

	if (dir)
		n = snprintf(at.sun_path, sizeof at.sun_path, "%s/%s", dir,
		    name);
	else
		n = 1 + snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "%s",
		    name);
	unlink(at.sun_path);
	if (bind(fd, (const void *)&at, (socklen_t)(offsetof(
	    struct sockaddr_un, sun_path) + (size_t)n)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 8) < 0))
		aide_fail("unix socket");
	if (dir)
		chmod(at.sun_path, 0777);
	add(fd, type, "unix");
}

static void
listen_all(const char *name, const char *dir, FILE *facts)
{
	char dgram[128];
	unsigned int port = listen_inet(AF_INET, SOCK_STREAM, 0);

	fprintf(facts, "port=%u\n", port);
	listen_inet(AF_INET6, SOCK_STREAM, port);
	port = listen_inet(AF_INET, SOCK_DGRAM, 0);
	fprintf(facts, "udpport=%u\n", port);
	listen_inet(AF_INET6, SOCK_DGRAM, port);
	snprintf(dgram, sizeof dgram, "%s.dgram", name);
	listen_unix(NULL, name, SOCK_STREAM);
	listen_unix(NULL, dgram, SOCK_DGRAM);
	listen_unix(dir, "stream", SOCK_STREAM);
	listen_unix(dir, "dgram", SOCK_DGRAM);
	fprintf(facts, "abstract=%s\nsockets=%s\n", name, dir);
}

static int ipc_ids[3] = { -1, -1, -1 };
static char shm_path[128], queue_name[128];

static void
make_ipc(const char *name, FILE *facts)
{
	key_t key = (key_t)(0x6e730000 + (getpid() & 0xffff));
	int fd;
	mqd_t queue;

	ipc_ids[0] = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
	ipc_ids[1] = semget(key, 1, IPC_CREAT | IPC_EXCL | 0666);
	ipc_ids[2] = msgget(key, IPC_CREAT | IPC_EXCL | 0666);
	if (ipc_ids[0] >= 0 && ipc_ids[1] >= 0 && ipc_ids[2] >= 0)
		fprintf(facts, "ipckey=%ld\n", (long)key);
	snprintf(shm_path, sizeof shm_path, "/dev/shm/%s", name);
	fd = open(shm_path, O_RDWR | O_CREAT | O_EXCL, 0666);
	snprintf(queue_name, sizeof queue_name, "/%s", name);
	umask(0);
	queue = mq_open(queue_name, O_RDWR | O_CREAT | O_EXCL, 0666, NULL);
	if (fd >= 0 && queue >= 0)
		fprintf(facts, "ipcname=%s\n", name);
	if (fd >= 0)
		fchmod(fd, 0666);
}

static void
remove_ipc(void)
{
	if (ipc_ids[0] >= 0)
		shmctl(ipc_ids[0], IPC_RMID, NULL);
	if (ipc_ids[1] >= 0)
		semctl(ipc_ids[1], 0, IPC_RMID);
	if (ipc_ids[2] >= 0)
		msgctl(ipc_ids[2], IPC_RMID, NULL);
	unlink(shm_path);
	mq_unlink(queue_name);
}

static void
watch(void)
{
	struct pollfd fds[MAX_SOCKETS];
	char byte[16];

	while (!ended) {
		for (nfds_t i = 0; i < n_sockets; i++)
			fds[i] = (struct pollfd){ sockets[i].fd, POLLIN, 0 };
		if (poll(fds, n_sockets, -1) < 0)
			continue;
		for (nfds_t i = 0; i < n_sockets; i++) {
			if (!fds[i].revents)
				continue;
			log_event(sockets[i].name, sockets[i].type);
			if (sockets[i].type == SOCK_DGRAM)
				recv(sockets[i].fd, byte, sizeof byte,
				    MSG_DONTWAIT);
			else if (accept(sockets[i].fd, NULL, NULL) < 0)
				log_event("accept", errno);
		}
	}
}

int
aide_sentinel(char *argv[])
{
	char path[4096], done[4096], name[64];
	FILE *facts;

	if (!argv[0] || !argv[1] || !argv[2])
		aide_fail("sentinel DIR SOCKETS MARKER");
	prctl(PR_SET_PDEATHSIG, SIGRTMAX);
	snprintf(name, sizeof name, "nsrun-escape-%d", getpid());
	snprintf(path, sizeof path, "%s/events", argv[0]);
	events_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
	    0644);
	if (events_fd < 0)
		aide_fail(path);
	catch_all();
	snprintf(path, sizeof path, "%.4000s/facts.new", argv[0]);
	snprintf(done, sizeof done, "%.4000s/facts", argv[0]);
	facts = fopen(path, "w");
	if (!facts)
		aide_fail(path);
	fprintf(facts, "sentinel=%d\nmarker=%s\n", getpid(), argv[2]);
	listen_all(name, argv[1], facts);
	make_ipc(name, facts);
	if (fclose(facts) != 0 || rename(path, done) < 0)
		aide_fail(path);
	watch();
	remove_ipc();
	return 0;
}
