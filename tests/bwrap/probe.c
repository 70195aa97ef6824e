/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe [WORD...]: what a command sees in a sandbox, as lines `TAB FIELD TEXT`.
 * The tab tells the driver that a line is ours. Words:
 *
 *	DIR		list this tree too
 *	lock=FILE	is there a lock on it?
 *	exit=N kill=N	end like this, after the report
 *	quiet		no report
 *
 * Whatever cannot be found out is reported as the errno it gave: the probe
 * ends well under any filter, without /proc, and without a right to anything.
 */
#include "tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

static void __attribute__((format(printf, 2, 3)))
say(const char *field, const char *format, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	printf("\t%s ", field);
	tree_escape(stdout, text, strlen(text));
	putchar('\n');
}

static const char *
error_name(long rc)
{
	return rc < 0 ? strerror(errno) : "ok";
}

/* Only the first two pids of a namespace mean something: init, command. */
static const char *
pid_name(pid_t pid, pid_t self)
{
	static char text[2][16];
	static int turn;

	if (pid == self)
		return "self";
	if (pid > 2)
		return "N";
	turn = !turn;
	snprintf(text[turn], sizeof text[turn], "%d", pid);
	return text[turn];
}

static void
report_process(void)
{
	pid_t self = getpid();
	char cwd[PATH_MAX];
	struct utsname name;

	say("pid", "pid %s", pid_name(self, -1));
	say("pid", "ppid %s", pid_name(getppid(), self));
	say("pid", "sid %s", pid_name(getsid(0), self));
	say("pid", "pgrp %s", pid_name(getpgrp(), self));
	say("cwd", "%s", getcwd(cwd, sizeof cwd) ? cwd :
	    strerror(errno));
	if (uname(&name) == 0)
		say("hostname", "%s", name.nodename);
}

static void
report_ids(void)
{
	uid_t r, e, s;
	gid_t rg, eg, sg, groups[64];
	int n;

	getresuid(&r, &e, &s);
	getresgid(&rg, &eg, &sg);
	say("id", "uid %u %u %u", r, e, s);
	say("id", "gid %u %u %u", rg, eg, sg);
	n = getgroups(64, groups);
	for (int i = 0; i < n; i++)
		say("id", "group %u", groups[i]);
}

/* The lines of a file, blanks as one. */
static void
report_file(const char *field, const char *label, const char *path)
{
	char line[512], word[3][32];
	FILE *f = fopen(path, "re");
	int n = 0;

	if (!f) {
		say(field, "%s %s", label, strerror(errno));
		return;
	}
	while (fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = '\0';
		n++;
		if (sscanf(line, "%31s %31s %31s", word[0], word[1],
			   word[2]) == 3)
			say(field, "%s %s %s %s", label, word[0], word[1],
			    word[2]);
		else
			say(field, "%s %s", label, line);
	}
	if (!n)
		say(field, "%s empty", label);
	fclose(f);
}

static void
report_rights(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { { 0 } };
	unsigned long long bounding = 0, ambient = 0;
	int signal_nr = 0;

	if (syscall(SYS_capget, &head, data) < 0)
		say("cap", "%s", strerror(errno));
	for (int cap = 0; cap < 64; cap++) {
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			bounding |= 1ULL << cap;
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0)
		    == 1)
			ambient |= 1ULL << cap;
	}
	say("cap", "inh %08x%08x", data[1].inheritable, data[0].inheritable);
	say("cap", "prm %08x%08x", data[1].permitted, data[0].permitted);
	say("cap", "eff %08x%08x", data[1].effective, data[0].effective);
	say("cap", "bnd %016llx", bounding);
	say("cap", "amb %016llx", ambient);
	say("sec", "nnp %d", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	say("sec", "seccomp %d", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
	say("sec", "dumpable %d", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	say("sec", "securebits %d", prctl(PR_GET_SECUREBITS, 0, 0, 0, 0));
	say("sec", "keepcaps %d", prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0));
	prctl(PR_GET_PDEATHSIG, &signal_nr, 0, 0, 0);
	say("sec", "pdeathsig %d", signal_nr);
	report_file("map", "uid", "/proc/self/uid_map");
	report_file("map", "gid", "/proc/self/gid_map");
	report_file("map", "setgroups", "/proc/self/setgroups");
}

static void
report_namespaces(void)
{
	static const char *const names[] = {
		"cgroup", "ipc", "mnt", "net", "pid", "pid_for_children",
		"time", "user", "uts",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char path[64], text[64], *number;
		ssize_t n;

		snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
		n = readlink(path, text, sizeof text - 1);
		if (n < 0) {
			say("ns", "%s %s", names[i], strerror(errno));
			continue;
		}
		text[n] = '\0';
		number = strchr(text, '[');
		if (number)
			number[strcspn(number, "]")] = '\0';
		say("ns", "%s %s", names[i], number ? number + 1 : text);
	}
}

static void
report_environment(void)
{
	for (char **entry = environ; *entry; entry++)
		say("env", "%s", *entry);
}

static void
report_fds(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD), status = fcntl(fd, F_GETFL);
		struct stat st;

		/* Ours is buffered: nothing else is open yet. */
		if (flags < 0 || fstat(fd, &st) < 0)
			continue;
		say("fd", "%d type %o access %d%s%s", fd,
		    (unsigned int)(st.st_mode & S_IFMT), status & O_ACCMODE,
		    status & O_PATH ? " path" : "",
		    flags & FD_CLOEXEC ? " cloexec" : "");
	}
}

static void
report_signals(void)
{
	sigset_t blocked;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int nr = 1; nr < 65; nr++) {
		struct sigaction action;

		if (sigismember(&blocked, nr) == 1)
			say("signal", "%d blocked", nr);
		if (sigaction(nr, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL)
			say("signal", "%d ignored", nr);
	}
}

static void
report_limits(void)
{
	mode_t mask = umask(0);

	umask(mask);
	say("umask", "%03o", (unsigned int)mask);
	for (int resource = 0; resource < (int)RLIM_NLIMITS; resource++) {
		struct rlimit r;

		if (getrlimit((__rlimit_resource_t)resource, &r) == 0)
			say("limit", "%d %llx %llx", resource,
			    (unsigned long long)r.rlim_cur,
			    (unsigned long long)r.rlim_max);
	}
	say("limit", "nice %d", getpriority(PRIO_PROCESS, 0));
}

static void
report_network(void)
{
	struct if_nameindex *all = if_nameindex();
	struct ifreq ifr = { .ifr_name = "lo" };
	int n = 0, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (struct if_nameindex *i = all; i && i->if_index; i++)
		n++;
	if (all)
		if_freenameindex(all);
	say("net", "interfaces %d", n);
	if (fd < 0)
		return;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) == 0)
		say("net", "lo flags %x", (unsigned int)ifr.ifr_flags);
	if (ioctl(fd, SIOCGIFADDR, &ifr) == 0)
		say("net", "lo address %s", inet_ntoa(
		    ((struct sockaddr_in *)&ifr.ifr_addr)->sin_addr));
	else
		say("net", "lo address %s", strerror(errno));
	close(fd);
}

/* Calls that filters, capabilities and namespaces of a row refuse. */
static void
report_calls(void)
{
	struct sysinfo info;
	char name[64];
	long rc = sysinfo(&info);

	say("call", "sysinfo %s", error_name(rc));
	rc = sched_get_priority_max(SCHED_OTHER);
	say("call", "sched_get_priority_max %s", error_name(rc));
	gethostname(name, sizeof name);
	rc = sethostname(name, strnlen(name, sizeof name));
	say("call", "sethostname %s", error_name(rc));
	rc = chroot("/");
	say("call", "chroot %s", error_name(rc));
	rc = kill(1, 0);
	say("call", "kill-1 %s", error_name(rc));
	/* Last: where it is allowed it changes who we are. */
	rc = unshare(CLONE_NEWUSER);
	say("call", "unshare-user %s", error_name(rc));
}

/* A mount is hidden when another one covers the place it stands on. */
static bool
is_visible(const char *point, unsigned long id)
{
	struct statx stx;

	if (statx(AT_FDCWD, point, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_MNT_ID, &stx) < 0)
		return true;
	return !(stx.stx_mask & STATX_MNT_ID) || stx.stx_mnt_id == id;
}

static void
unescape_octal(char *text)
{
	char *to = text;

	for (char *from = text; *from; to++) {
		if (*from == '\\' && from[1] && from[2] && from[3]) {
			*to = (char)((from[1] - '0') * 64 +
			    (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/*
 * Options of these say what the command line asked for, but not where it is the
 * sandbox's own: its root, and the part of one that a data file lies in.
 */
static void
super_options(char *const field[], const char *type, char *options, char *out,
    size_t size)
{
	out[0] = '\0';
	if ((strcmp(type, "tmpfs") && strcmp(type, "devpts")) ||
	    !strcmp(field[4], "/") || strcmp(field[3], "/"))
		return;
	for (char *save, *word = strtok_r(options, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (strncmp(word, "size=", 5) && strncmp(word, "mode=", 5) &&
		    strncmp(word, "ptmxmode=", 9) && strcmp(word, "ro"))
			continue;
		strncat(out, " ", size - strlen(out) - 1);
		strncat(out, word, size - strlen(out) - 1);
	}
}

/* One line of mountinfo. */
static void
report_mount(char *line)
{
	char *field[32], *save, extra[256];
	size_t n = 0, dash = 6;
	const char *propagation = "private";
	bool visible;

	for (char *word = strtok_r(line, " \n", &save); word && n < 32;
	     word = strtok_r(NULL, " \n", &save))
		field[n++] = word;
	while (dash < n && strcmp(field[dash], "-")) {
		if (!strncmp(field[dash], "shared:", 7) ||
		    !strncmp(field[dash], "master:", 7))
			propagation = field[dash][0] == 's' ? "shared" :
			    "slave";
		dash++;
	}
	if (dash + 3 >= n)
		return;
	unescape_octal(field[4]);
	visible = is_visible(field[4], strtoul(field[0], NULL, 10));
	super_options(field, field[dash + 1], field[dash + 3], extra,
		      sizeof extra);
	say(visible ? "mount" : "hidden", "%s %s %s%s", field[4],
	    field[dash + 1], field[5], extra);
	say("propagation", "%s %s", field[4], propagation);
}

static void
report_mounts(void)
{
	char line[4096];
	FILE *f = fopen("/proc/self/mountinfo", "re");

	if (!f) {
		say("mount", "%s", strerror(errno));
		return;
	}
	while (fgets(line, sizeof line, f))
		report_mount(line);
	fclose(f);
}

static void
report_lock(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	/* Without a pid namespace bwrap's init may come after the command. */
	for (int i = 0; i < 200; i++) {
		lock.l_type = F_WRLCK;
		rc = fcntl(fd, F_GETLK, &lock);
		if (rc < 0 || lock.l_type != F_UNLCK)
			break;
		usleep(1000);
	}
	if (rc < 0) {
		say("lock", "%s %s", path, strerror(errno));
	} else {
		say("lock", "%s %s by %s", path,
		    lock.l_type == F_UNLCK ? "no" :
		    lock.l_type == F_RDLCK ? "read" : "write",
		    lock.l_type == F_UNLCK ? "-" : pid_name(lock.l_pid, 0));
	}
	if (fd >= 0)
		close(fd);
}

static void
report(char *argv[])
{
	report_fds();
	report_process();
	report_ids();
	report_rights();
	report_namespaces();
	report_environment();
	report_signals();
	report_limits();
	report_network();
	report_mounts();
	tree_print(stdout, "\tls", "/", 1);
	tree_print(stdout, "\tls", "/t", 4);
	tree_print(stdout, "\tls", "/dev", 1);
	tree_print(stdout, "\tls", "/dev/pts/ptmx", 0);
	for (char **word = argv + 1; *word; word++) {
		if ((*word)[0] == '/')
			tree_print(stdout, "\tls", *word, 5);
		if (!strncmp(*word, "lock=", 5))
			report_lock(*word + 5);
	}
	report_calls();
	fflush(stdout);
}

int
main(int argc, char *argv[])
{
	int status = 0;

	/* argv itself is part of the report: it came through a parser. */
	if (argc < 2 || strcmp(argv[1], "quiet")) {
		for (int i = 0; i < argc; i++)
			say("argv", "%d %s", i, argv[i]);
		report(argv);
	}
	for (char **word = argv + 1; argc && *word; word++) {
		if (!strncmp(*word, "exit=", 5))
			status = atoi(*word + 5);
		if (!strncmp(*word, "kill=", 5))
			raise(atoi(*word + 5));
	}
	return status;
}
