/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "host/build.h"

/*
 * One of /bin /sbin /lib*: a link as on the host where that is merged, the
 * real directory where it is not.
 */
static int
add_merged(struct nsrun_build *b, const char *path)
{
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return nsrun_build_bind(b, NSRUN_MOUNT_RDONLY |
		    NSRUN_MOUNT_RECURSIVE | NSRUN_MOUNT_OPTIONAL, path,
		    S_IFDIR);
	if (!S_ISLNK(st.st_mode))
		return 0;
	n = readlink(path, text, sizeof text - 1);
	if (n < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_MOUNT, "readlink", path,
		    NULL);
	text[n] = '\0';
	return nsrun_build_add(b, NSRUN_MOUNT_SYMLINK, 0, text, path);
}

int
nsrun_build_system(struct nsrun_build *b)
{
	const struct nsrun_profile *profile = b->profile;

	for (size_t i = 0; i < profile->system.n; i++) {
		const char *path = profile->system.v[i];
		struct stat st;

		/* Recursive: an unprivileged clone of a part is refused. */
		if (stat(path, &st) == 0 &&
		    nsrun_build_bind(b, NSRUN_MOUNT_RDONLY |
		    NSRUN_MOUNT_RECURSIVE | NSRUN_MOUNT_OPTIONAL, path,
		    st.st_mode & S_IFMT) < 0)
			return -1;
	}
	for (size_t i = 0; i < profile->merged.n; i++)
		if (add_merged(b, profile->merged.v[i]) < 0)
			return -1;
	return 0;
}

int
nsrun_build_private(struct nsrun_build *b)
{
	for (size_t i = 0; i < b->profile->n_privates; i++) {
		const struct nsrun_private *p = &b->profile->privates[i];

		if (*p->path == '/' && nsrun_build_make(b, NSRUN_MOUNT_SCRATCH,
		    p->path, p->mode) < 0)
			return -1;
	}
	if (nsrun_build_home(b) < 0)
		return -1;
	return nsrun_build_make(b, NSRUN_MOUNT_DIR, "/run/user", 0700);
}

int
nsrun_build_devices(struct nsrun_build *b)
{
	static const char *const links[][2] = {
		{ "pts/ptmx", "/dev/ptmx" },
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};
	static const struct nsrun_mount terminals = {
		.kind = NSRUN_MOUNT_DEVPTS, .target = "/dev/pts",
		.flags = NSRUN_MOUNT_DEVICES | NSRUN_MOUNT_NOEXEC,
		.n_inodes = 64,
	};

	for (size_t i = 0; i < b->profile->device.n; i++) {
		const char *path = nsrun_build_text(b, "/dev/%s",
		    b->profile->device.v[i]);

		/* Read-only is the node's mode and times, not the device. */
		if (!path || nsrun_build_bind(b, NSRUN_MOUNT_DEVICES |
		    NSRUN_MOUNT_NOEXEC | NSRUN_MOUNT_RDONLY, path,
		    S_IFCHR) < 0)
			return -1;
	}
	if (nsrun_plan_add_mount(b->plan, &terminals, b->err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof links / sizeof *links; i++)
		if (nsrun_build_add(b, NSRUN_MOUNT_SYMLINK, 0, links[i][0],
		    links[i][1]) < 0)
			return -1;
	return 0;
}

static int
add_below_proc(struct nsrun_build *b, enum nsrun_mount_kind kind,
    const struct nsrun_words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		const char *path = nsrun_build_text(b, "/proc/%s", words->v[i]);

		if (!path || nsrun_build_add(b, kind, NSRUN_MOUNT_OPTIONAL,
		    NULL, path) < 0)
			return -1;
	}
	return 0;
}

/*
 * How many namespaces of each kind there may be at a time, the sandbox's own
 * among them. Each costs the host memory that no other limit counts.
 */
static int
bound_nesting(struct nsrun_build *b)
{
	static const char *const kinds[] = {
		"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time",
	};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const char *path = nsrun_build_text(b,
		    "user/max_%s_namespaces", kinds[i]);

		if (!path || nsrun_plan_add_sysctl(b->plan, path, "256",
		    b->err) < 0)
			return -1;
	}
	return 0;
}

static int
lower_settings(struct nsrun_build *b)
{
	static const char namespaces[] = "user/max_user_namespaces";
	const struct nsrun_profile *profile = b->profile;

	for (size_t i = 0; i < profile->n_lower; i++)
		if (!(b->plan->nesting &&
		    !strcmp(profile->lower[i].name, namespaces)) &&
		    nsrun_plan_add_sysctl(b->plan, profile->lower[i].name,
		    profile->lower[i].value, b->err) < 0)
			return -1;
	return b->plan->nesting ? bound_nesting(b) : 0;
}

int
nsrun_build_proc(struct nsrun_build *b)
{
	const struct nsrun_profile *profile = b->profile;

	if (nsrun_build_add(b, NSRUN_MOUNT_PROC, NSRUN_MOUNT_NOEXEC, NULL,
	    "/proc") < 0)
		return -1;
	/* A procfs inside is had only where this one hides nothing. */
	if (b->plan->nesting)
		return lower_settings(b);
	if (add_below_proc(b, NSRUN_MOUNT_COVER, &profile->cover) < 0 ||
	    add_below_proc(b, NSRUN_MOUNT_MASK, &profile->mask) < 0)
		return -1;
	/* procfs asks for the host's uid 0, not for a capability. */
	if (b->plan->identity.host_uid == 0 &&
	    (add_below_proc(b, NSRUN_MOUNT_COVER, &profile->root_cover) < 0 ||
	    add_below_proc(b, NSRUN_MOUNT_MASK, &profile->root_mask) < 0))
		return -1;
	return lower_settings(b);
}
