/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/roots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"

bool
nsrun_root_is_broad(const char *path)
{
	static const char *const broad[] = {
		"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32",
		"/lib64", "/libx32", "/media", "/mnt", "/nix", "/nix/store",
		"/opt", "/proc", "/root", "/run", "/run/user", "/sbin", "/srv",
		"/sys", "/tmp", "/usr", "/usr/local", "/var", "/var/lib",
		"/var/tmp", "/dev/shm",
	};
	static const char *const within[] = { "/proc", "/sys", "/dev" };

	for (size_t i = 0; i < sizeof broad / sizeof *broad; i++)
		if (!strcmp(path, broad[i]))
			return true;
	for (size_t i = 0; i < sizeof within / sizeof *within; i++)
		if (nsrun_path_is_within(path, within[i]) &&
		    !nsrun_path_is_within(path, "/dev/shm"))
			return true;
	return false;
}

/* One octal escape of mountinfo, as of proc_pid_mountinfo(5); -1: malformed. */
static int
unescape(const char *s)
{
	if (s[1] < '0' || s[1] > '3' || s[2] < '0' || s[2] > '7' ||
	    s[3] < '0' || s[3] > '7')
		return -1;
	return (s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0');
}

/* Decode the field at s into buf; false: malformed or too long. */
static bool
decode_field(const char *s, char *buf, size_t size)
{
	size_t n = 0;

	for (; *s && *s != ' ' && *s != '\n'; s++) {
		int c = (unsigned char)*s;

		if (n + 1 >= size)
			return false;
		if (*s == '\\') {
			c = unescape(s);
			if (c <= 0)
				return false;
			s += 3;
		}
		buf[n++] = (char)c;
	}
	buf[n] = '\0';
	return *s == ' ' && n > 0 && *buf == '/';
}

int
nsrun_mountinfo_next_below(const char **mountinfo, const char *root,
    char *found, size_t size)
{
	for (const char *line = *mountinfo; *line; ) {
		const char *s = line, *end = strchr(line, '\n');

		/* Field 5 is the mount point. */
		for (int field = 1; field < 5; field++) {
			s = strchr(s, ' ');
			if (!s || (end && s > end))
				return -1;
			s++;
		}
		if (!end || !decode_field(s, found, size))
			return -1;
		line = *mountinfo = end + 1;
		if (strcmp(found, root) && nsrun_path_is_within(found, root))
			return 1;
	}
	return 0;
}

static int
check_place(const struct nsrun_granted *root, const char *home,
    enum nsrun_step step, struct nsrun_err *err)
{
	if (nsrun_root_is_broad(root->path))
		return nsrun_err_rule(err, step, "is too broad to be granted:"
		    " name a directory of the project's own", root->path, NULL);
	if (home && nsrun_path_is_within(home, root->path))
		return nsrun_err_rule(err, step, "is or contains the home"
		    " directory: name a directory below it", root->path, NULL);
	return 0;
}

/* Pin what the canonical path names now, if it still has no link in it. */
static int
pin(struct nsrun_granted *root, enum nsrun_step step, struct nsrun_err *err)
{
	nsrun_autoclose int fd = sys_openat2(AT_FDCWD, root->path, O_PATH |
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
	    RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	struct stat st;

	if (fd < 0 || nsrun_fd_raise(&fd) < 0)
		return nsrun_err_sys(err, step, "open", root->path, NULL);
	if (fstat(fd, &st) < 0)
		return nsrun_err_sys(err, step, "fstat", root->path, NULL);
	if (faccessat(fd, ".", R_OK | X_OK, AT_EACCESS) < 0)
		return nsrun_err_sys(err, step, "access", root->path, NULL);
	root->pin = (struct nsrun_pin){
		.dev = st.st_dev, .ino = st.st_ino,
		.type = st.st_mode & S_IFMT,
		.uid = st.st_uid, .gid = st.st_gid, .fd = nsrun_fd_take(&fd),
	};
	return 0;
}

int
nsrun_root_pin(struct nsrun_granted *root, struct nsrun_arena *arena,
    const char *given, enum nsrun_step step, struct nsrun_err *err)
{
	char *canonical = realpath(given, NULL);

	*root = (struct nsrun_granted){ .pin.fd = -1 };
	if (!canonical)
		return nsrun_err_sys(err, step, "realpath", given, NULL);
	root->path = nsrun_arena_strdup(arena, canonical);
	free(canonical);
	if (!root->path)
		return nsrun_err_nomem(err, given);
	return pin(root, step, err);
}

int
nsrun_root_open(struct nsrun_granted *root, struct nsrun_arena *arena,
    const char *given, bool writable, const char *home, enum nsrun_step step,
    struct nsrun_err *err)
{
	if (nsrun_root_pin(root, arena, given, step, err) < 0)
		return -1;
	root->writable = writable;
	if (check_place(root, home, step, err) < 0) {
		nsrun_fd_close(&root->pin.fd);
		return -1;
	}
	return 0;
}
