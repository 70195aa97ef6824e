/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/overlay_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/idmapped.h"
#include "base/sys.h"

enum { PROPAGATION_SLAVE = 1 << 19 };	/* MS_SLAVE */

/* What the maker says, with the mount when that is made. */
struct word {
	enum { MAP_ME, MADE, FAILED } what;
	int	errnum;
	char	why[NSRUN_OVERLAY_WHY];
};

/* What it needs: all made before it is cloned. */
struct maker {
	const struct nsrun_overlay_mount *m;
	int	socket_fd;
	int	trees[2];	/* of lower and layer; -1: opened by name */
	char	uid_map[32], gid_map[32];
	struct stat lower, layer;
};

static int
say(int socket_fd, const struct word *word, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)(uintptr_t)word, sizeof *word };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof control;
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	return sendmsg(socket_fd, &msg, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* Its next word and, with MADE, *fd; -1: it is gone without one. */
static int
hear(int socket_fd, struct word *word, int *fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { word, sizeof *word };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof control,
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(socket_fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof *word)
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof *fd);
	return 0;
}

static _Noreturn void
give_up(const struct maker *k, const char *why)
{
	struct word word = { .what = FAILED, .errnum = errno };

	strncpy(word.why, why, sizeof word.why - 1);
	say(k->socket_fd, &word, -1);
	_exit(1);
}

static int
write_text(const char *path, const char *text)
{
	nsrun_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -1 : 0;
}

/*
 * A tmpfs with both trees in it as our root and our directory: who is not in
 * the root of his mount namespace gets no user namespace.
 */
static void
gather_trees(const struct maker *k)
{
	static const char *const names[] = { "lower", "layer" };
	struct mount_attr slave = { .propagation = PROPAGATION_SLAVE };
	int fs, fd;

	if (sys_mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &slave) < 0)
		give_up(k, "slave");
	fs = sys_fsopen("tmpfs");
	if (fs < 0 || sys_fsconfig(fs, FSCONFIG_SET_STRING, "mode", "755") < 0
	    || sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		give_up(k, "tmpfs");
	fd = sys_fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0 || sys_move_mount(fd, "", AT_FDCWD, "/",
	    MOVE_MOUNT_F_EMPTY_PATH) < 0 || fchdir(fd) < 0 || chroot(".") < 0)
		give_up(k, "tmpfs");
	for (int i = 0; i < 2; i++)
		if (mkdirat(fd, names[i], 0755) < 0 ||
		    sys_move_mount(k->trees[i], "", fd, names[i],
		    MOVE_MOUNT_F_EMPTY_PATH) < 0)
			give_up(k, "move_mount");
}

/* By system call: the C library would tell threads that are not here. */
static void
leave_root(const struct maker *k)
{
	const struct word map_me = { .what = MAP_ME };
	char byte;

	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, k->m->gid, k->m->gid, k->m->gid) < 0 ||
	    syscall(SYS_setresuid, k->m->uid, k->m->uid, k->m->uid) < 0)
		give_up(k, "setresuid");
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		give_up(k, "unshare");
	if (say(k->socket_fd, &map_me, -1) < 0 ||
	    read(k->socket_fd, &byte, 1) != 1)
		_exit(1);
}

/* The very directory that was given, in the namespace that we are in now. */
static int
open_again(const struct maker *k, const char *path, const struct stat *want)
{
	int fd = sys_openat2(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		give_up(k, "open");
	if (st.st_dev != want->st_dev || st.st_ino != want->st_ino) {
		errno = ESTALE;
		give_up(k, "open");
	}
	return fd;
}

/* A descriptor, by the name that the kernel looks it up with. */
static void
set_fd(const struct maker *k, int fs, const char *key, int fd)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";

	nsrun_fd_path(path + sizeof "/proc/" - 1, fd);
	if (fd < 0 || sys_fsconfig(fs, FSCONFIG_SET_STRING, key, path) < 0)
		give_up(k, key);
}

static void
set_by_path(const struct maker *k, int fs)
{
	int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int lower = open_again(k, k->m->lower, &k->lower);
	int layer = open_again(k, k->m->layer, &k->layer);

	set_fd(k, fs, "lowerdir", lower);
	set_fd(k, fs, "upperdir", openat(layer, "upper", flags));
	set_fd(k, fs, "workdir", openat(layer, "work", flags));
}

static void
set_gathered(const struct maker *k, int fs)
{
	static const char *const all[][2] = {
		{ "lowerdir", "lower" }, { "upperdir", "layer/upper" },
		{ "workdir", "layer/work" },
	};

	for (int i = 0; i < 3; i++)
		if (sys_fsconfig(fs, FSCONFIG_SET_STRING, all[i][0],
		    all[i][1]) < 0)
			give_up(k, all[i][0]);
}

/* The kernel says why on the descriptor itself: "e overlay: ...". */
static _Noreturn void
give_up_create(const struct maker *k, int fs)
{
	char text[NSRUN_OVERLAY_WHY] = "";
	int saved = errno;
	ssize_t n = read(fs, text, sizeof text - 1);

	if (n > 0 && text[n - 1] == '\n')
		n--;
	text[n > 0 ? n : 0] = '\0';
	errno = saved;
	give_up(k, n > 2 && text[1] == ' ' ? text + 2 : "overlay");
}

/* Options as in apply/apply_overlay.c, and for the same reasons. */
static int
make(const struct maker *k)
{
	int fs = sys_fsopen("overlay"), fd;

	if (fs < 0)
		give_up(k, "fsopen");
	if (k->m->leaves_root)
		set_gathered(k, fs);
	else
		set_by_path(k, fs);
	/* One that has just ended may be mounted still: no index minds that. */
	if (sys_fsconfig(fs, FSCONFIG_SET_FLAG, "userxattr", NULL) < 0 ||
	    sys_fsconfig(fs, FSCONFIG_SET_STRING, "index", "off") < 0 ||
	    sys_fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL) < 0)
		give_up_create(k, fs);
	fd = sys_fsmount(fs, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0)
		give_up(k, "fsmount");
	return fd;
}

static _Noreturn void
run(const struct maker *k)
{
	const struct word made = { .what = MADE };

	if (k->m->leaves_root) {
		gather_trees(k);
		leave_root(k);
	} else if (write_text("/proc/self/setgroups", "deny") < 0 ||
	    write_text("/proc/self/uid_map", k->uid_map) < 0 ||
	    write_text("/proc/self/gid_map", k->gid_map) < 0)
		give_up(k, "uid_map");
	_exit(say(k->socket_fd, &made, make(k)) < 0);
}

/* It is another by now, and not dumpable: we write its maps. */
static int
write_maps(const struct maker *k, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
	if (write_text(path, k->uid_map) < 0)
		return -1;
	snprintf(path, sizeof path, "/proc/%d/gid_map", (int)pid);
	return write_text(path, k->gid_map);
}

static int
listen_to(const struct maker *k, int socket_fd, pid_t pid,
    char why[NSRUN_OVERLAY_WHY])
{
	struct word word;
	int fd = -1;

	while (hear(socket_fd, &word, &fd) == 0) {
		if (word.what == MADE)
			return fd;
		if (word.what == FAILED) {
			memcpy(why, word.why, sizeof word.why);
			errno = word.errnum;
			return -1;
		}
		if (write_maps(k, pid) < 0 || write(socket_fd, "", 1) != 1) {
			snprintf(why, NSRUN_OVERLAY_WHY, "uid_map");
			return -1;
		}
	}
	snprintf(why, NSRUN_OVERLAY_WHY, "its maker was killed");
	errno = ECHILD;
	return -1;
}

static int
clone_trees(struct maker *k, const char **call)
{
	const struct nsrun_overlay_mount *m = k->m;
	nsrun_autoclose int proc = -1, idmap = -1;

	*call = "idmap";
	if (m->maps) {
		proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
		idmap = proc < 0 ? -1 : nsrun_idmap_open(proc, m->lower_uid,
		    m->uid, m->lower_gid, m->gid);
		if (idmap < 0)
			return -1;
	}
	k->trees[0] = nsrun_tree_clone(m->lower_fd, NULL, 0, 0, idmap, call);
	if (k->trees[0] >= 0)
		k->trees[1] = nsrun_tree_clone(m->layer_fd, NULL, 0, 0, -1,
		    call);
	return k->trees[1] < 0 ? -1 : 0;
}

static int
start(struct maker *k, char why[NSRUN_OVERLAY_WHY])
{
	struct clone_args args = {
		.flags = CLONE_NEWNS | CLONE_CLEAR_SIGHAND |
		    (k->m->leaves_root ? 0 : CLONE_NEWUSER),
	};
	nsrun_autoclose int ours = -1, theirs = -1;
	int ends[2], fd, saved;
	pid_t pid;

	snprintf(why, NSRUN_OVERLAY_WHY, "clone3");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	ours = ends[0];
	k->socket_fd = theirs = ends[1];
	pid = (pid_t)sys_clone3(&args);
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(ours);
		run(k);
	}
	nsrun_fd_close(&theirs);
	fd = listen_to(k, ours, pid, why);
	saved = errno;
	nsrun_fd_close(&ours);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	errno = saved;
	return fd;
}

int
nsrun_overlay_mount(const struct nsrun_overlay_mount *m,
    char why[NSRUN_OVERLAY_WHY])
{
	struct maker k = { .m = m, .trees = { -1, -1 } };
	const char *call = "fstat";
	int fd = -1, saved;

	snprintf(k.uid_map, sizeof k.uid_map, "0 %" PRIu32 " 1",
	    (uint32_t)m->uid);
	snprintf(k.gid_map, sizeof k.gid_map, "0 %" PRIu32 " 1",
	    (uint32_t)m->gid);
	if (fstat(m->lower_fd, &k.lower) < 0 ||
	    fstat(m->layer_fd, &k.layer) < 0 ||
	    (m->leaves_root && clone_trees(&k, &call) < 0))
		snprintf(why, NSRUN_OVERLAY_WHY, "%s", call);
	else
		fd = start(&k, why);
	saved = errno;
	nsrun_fd_close(&k.trees[0]);
	nsrun_fd_close(&k.trees[1]);
	if (fd >= 0 && nsrun_fd_raise(&fd) < 0) {
		saved = errno;
		nsrun_fd_close(&fd);
	}
	errno = saved;
	return fd;
}
