/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options that make mounts and files: each is an entry of the plan. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bwrap.h"
#include "bwrap_values.h"
#include "host/identity.h"
#include "host/source.h"

/* DEST as the plan has it: from the root, no slash too many. */
static const char *
place(struct bwrap *b, const char *dest)
{
	size_t n = strlen(dest);
	char *s = nsrun_arena_alloc(&b->plan->arena, n + 2), *to = s;

	if (!s)
		return NULL;
	for (const char *from = dest; from == dest || *from; ) {
		size_t len;

		from += strspn(from, "/");
		len = strcspn(from, "/");
		if (!len)
			break;
		*to++ = '/';
		to = (char *)memcpy(to, from, len) + len;
		from += len;
	}
	if (to == s)
		*to = '/';
	return s;
}

/* Parents get what the entry has, and nobody more than that: as documented. */
static void
set_perms(const struct bwrap *b, struct nsrun_mount *m, mode_t type)
{
	mode_t perms = b->pending.perms;

	if (!b->pending.has_perms)
		return;
	m->mode = type | perms;
	m->parent_mode = 0755;
	if (!(perms & 0070))
		m->parent_mode &= ~(mode_t)0050;
	if (!(perms & 0007))
		m->parent_mode &= ~(mode_t)0005;
}

static int
add(struct bwrap *b, struct nsrun_mount *m, const char *dest)
{
	m->target = place(b, dest);
	if (!m->target)
		return bwrap_nomem(b);
	if (b->pending.noexec)
		m->flags |= NSRUN_MOUNT_NOEXEC;
	if (nsrun_plan_add_mount(b->plan, m, &b->err) < 0)
		return bwrap_die_err(b);
	return 0;
}

static int
add_bind(struct bwrap *b, unsigned int flags, const char *source,
    const char *dest)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND, .source = source,
		.flags = NSRUN_MOUNT_RECURSIVE | flags,
	};

	nsrun_source_look(&m);
	return add(b, &m, dest);
}

int
bwrap_bind(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	return add_bind(b, (option->value & BWRAP_RO ? NSRUN_MOUNT_RDONLY : 0) |
	    (option->value & BWRAP_DEVICES ? NSRUN_MOUNT_DEVICES : 0) |
	    (option->value & BWRAP_TRY ? NSRUN_MOUNT_OPTIONAL : 0), args[0],
	    args[1]);
}

/*
 * The kernel clones nothing through a descriptor of another mount namespace, so
 * it is opened again by the name that it has now, and must be the same.
 */
int
bwrap_bind_fd(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_RECURSIVE | NSRUN_MOUNT_PINNED |
		    (option->value & BWRAP_RO ? NSRUN_MOUNT_RDONLY : 0),
	};
	char path[PATH_MAX];
	int fd;

	if (bwrap_fd_number(b, args[0], &fd) < 0)
		return -1;
	if (nsrun_source_pin(&m, fd, path) < 0)
		return bwrap_die_errno(b, "Can't find source fd %d", fd);
	/* It may be named again; it is not the command's. */
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return bwrap_die_errno(b, "--%s %d", option->name, fd);
	if (nsrun_plan_add_consumed(b->plan, fd, &b->err) < 0)
		return bwrap_die_err(b);
	if (add(b, &m, args[1]) < 0) {
		close(m.pin.fd);
		return -1;
	}
	return 0;
}

int
bwrap_make(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount m = {
		.kind = (enum nsrun_mount_kind)option->value,
		.size_bytes = b->pending.size,
	};

	set_perms(b, &m, S_IFDIR);
	return add(b, &m, args[0]);
}

int
bwrap_data_file(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	bool file = option->value == NSRUN_MOUNT_FILE;
	struct nsrun_mount m = {
		.kind = file ? NSRUN_MOUNT_FILE : NSRUN_MOUNT_DATA,
		.flags = (file ? NSRUN_MOUNT_REPLACE : 0) |
		    (option->value == BWRAP_RO_DATA ? NSRUN_MOUNT_RDONLY : 0),
		.mode = file ? 0666 : 0600,
	};
	const struct bwrap_data *data;
	int fd;

	if (bwrap_fd_number(b, args[0], &fd) < 0 ||
	    !(data = bwrap_fd_read(b, option->name, fd)))
		return -1;
	m.data = data->bytes;
	m.n_data = data->n;
	set_perms(b, &m, S_IFREG);
	return add(b, &m, args[1]);
}

int
bwrap_symlink(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_SYMLINK, .flags = NSRUN_MOUNT_REPLACE,
		.source = args[0],
	};

	(void)option;
	return add(b, &m, args[1]);
}

static int
parse_octal(struct bwrap *b, const char *name, const char *text, mode_t *mode)
{
	const char *digits = text;
	unsigned long n;
	char *end;

	/* strtoul(3) would take "-1", and more. */
	while (isspace((unsigned char)*digits))
		digits++;
	digits += *digits == '+';
	n = strtoul(digits, &end, 8);
	if (*digits < '0' || *digits > '7' || *end || n > 07777)
		return bwrap_die(b, "--%s takes an octal argument <= 07777",
		    name);
	*mode = (mode_t)n;
	return 0;
}

int
bwrap_chmod(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount m = { .kind = NSRUN_MOUNT_CHMOD };
	mode_t mode;

	if (parse_octal(b, option->name, args[0], &mode) < 0)
		return -1;
	m.mode = S_IFREG | mode;
	return add(b, &m, args[1]);
}

int
bwrap_perms(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	if (b->pending.has_perms)
		return bwrap_die(b, "--perms given twice for the same action");
	b->pending.has_perms = true;
	return parse_octal(b, option->name, args[0], &b->pending.perms);
}

int
bwrap_size(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	unsigned long long n;
	char *end;

	(void)option;
	if (b->pending.has_size)
		return bwrap_die(b, "--size given twice for the same action");
	errno = 0;
	n = strtoull(args[0], &end, 0);
	if (*args[0] < '0' || *args[0] > '9' || *end || errno || n == 0)
		return bwrap_die(b, "--size takes a non-zero number of bytes");
	if (n > SIZE_MAX / 2)
		return bwrap_die(b, "--size (for tmpfs) is limited to %zu",
		    SIZE_MAX / 2);
	b->pending.has_size = true;
	b->pending.size = n;
	return 0;
}

int
bwrap_overlay_src(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct bwrap_pending *p = &b->pending;
	const char **v = nsrun_arena_grow(&b->plan->arena, p->layers,
	    p->n_layers, 2 * sizeof *v);

	(void)option;
	if (!v || !(v[p->n_layers] = nsrun_arena_strdup(&b->plan->arena,
	    args[0])))
		return bwrap_nomem(b);
	p->layers = v;
	v[++p->n_layers] = NULL;
	return 0;
}

int
bwrap_overlay(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_OVERLAY, .layers = b->pending.layers,
		.size_bytes = b->pending.size,
	};

	if (option->value == BWRAP_OVERLAY_RO) {
		m.flags |= NSRUN_MOUNT_RDONLY;
		if (b->pending.n_layers < 2)
			return bwrap_die(b, "--ro-overlay requires at least two"
			    " --overlay-src");
	} else if (b->pending.n_layers < 1) {
		return bwrap_die(b, "--%s requires at least one --overlay-src",
		    option->name);
	}
	if (option->value == BWRAP_OVERLAY_RW) {
		m.source = args[0];
		m.work = args[1];
	}
	return add(b, &m, args[option->n_args - 1]);
}

/* DEST/NAME, for what an option makes below its DEST. */
static const char *
below(struct bwrap *b, const char *dest, const char *name)
{
	return nsrun_arena_printf(&b->plan->arena, "%s/%s", dest, name);
}

/*
 * Whether it is a procfs of the sandbox's own is known at the end, from the
 * other options: bwrap_plan_finish() makes a bind of it if not. The host's uid
 * 0 may write there by its uid, without a capability.
 */
int
bwrap_proc(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	static const char *const covered[] = {
		"sys", "sysrq-trigger", "irq", "bus", "fs",
	};
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_PROC, .flags = NSRUN_MOUNT_NOEXEC,
	};

	(void)option;
	if (add(b, &m, args[0]) < 0)
		return -1;
	if (!nsrun_identity_is_host_root())
		return 0;
	for (size_t i = 0; i < sizeof covered / sizeof *covered; i++) {
		const char *path = below(b, args[0], covered[i]);
		struct nsrun_mount cover = {
			.kind = NSRUN_MOUNT_COVER,
			.flags = NSRUN_MOUNT_OPTIONAL,
		};

		if (!path || add(b, &cover, path) < 0)
			return bwrap_nomem(b);
	}
	return 0;
}

static int
add_nodes(struct bwrap *b, const char *dest)
{
	static const char *const nodes[] = {
		"null", "zero", "full", "random", "urandom", "tty",
	};

	for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
		const char *path = below(b, dest, nodes[i]);
		struct nsrun_mount m = {
			.kind = NSRUN_MOUNT_BIND, .type = S_IFCHR,
			.flags = NSRUN_MOUNT_RECURSIVE | NSRUN_MOUNT_DEVICES,
			.source = below(b, "/dev", nodes[i]),
		};

		if (!path || !m.source || add(b, &m, path) < 0)
			return bwrap_nomem(b);
	}
	return 0;
}

static int
add_links(struct bwrap *b, const char *dest)
{
	static const char *const links[][2] = {
		{ "stdin", "/proc/self/fd/0" }, { "stdout", "/proc/self/fd/1" },
		{ "stderr", "/proc/self/fd/2" }, { "fd", "/proc/self/fd" },
		{ "core", "/proc/kcore" }, { "ptmx", "pts/ptmx" },
	};

	for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
		const char *path = below(b, dest, links[i][0]);
		struct nsrun_mount m = {
			.kind = NSRUN_MOUNT_SYMLINK, .source = links[i][1],
			.flags = NSRUN_MOUNT_REPLACE,
		};

		if (!path || add(b, &m, path) < 0)
			return bwrap_nomem(b);
	}
	return 0;
}

int
bwrap_dev(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	struct nsrun_mount tmpfs = { .kind = NSRUN_MOUNT_TMPFS };
	struct nsrun_mount shm = { .kind = NSRUN_MOUNT_DIR };
	struct nsrun_mount pts = {
		.kind = NSRUN_MOUNT_DEVPTS,
		.flags = NSRUN_MOUNT_NOEXEC | NSRUN_MOUNT_DEVICES,
	};
	const char *shm_path = below(b, args[0], "shm");
	const char *pts_path = below(b, args[0], "pts");
	const char *console = below(b, args[0], "console");
	char tty[PATH_MAX];

	(void)option;
	b->has_dev = true;
	if (!shm_path || !pts_path || !console)
		return bwrap_nomem(b);
	if (add(b, &tmpfs, args[0]) < 0 || add_nodes(b, args[0]) < 0 ||
	    add(b, &shm, shm_path) < 0 || add(b, &pts, pts_path) < 0 ||
	    add_links(b, args[0]) < 0)
		return -1;
	/* The caller's terminal, where there is one to write to. */
	if (isatty(STDOUT_FILENO) && ttyname_r(STDOUT_FILENO, tty,
	    sizeof tty) == 0)
		return add_bind(b, NSRUN_MOUNT_DEVICES, tty, console);
	return 0;
}
