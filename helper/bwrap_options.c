/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of options, from which lines are parsed and --help is printed, and
 * the parser: words in, one handler each, in their order.
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err_print.h"
#include "bwrap.h"
#include "bwrap_values.h"

static bwrap_handler parse_block;

#define FILES	BWRAP_TAKES_PERMS
#define MOUNTS	BWRAP_TAKES_NOEXEC

static const struct bwrap_option options[] = {
	{ "help", 0, "", "print this text", bwrap_flag, BWRAP_HELP, 0 },
	{ "version", 0, "", "print the version of bubblewrap that this is like",
	    bwrap_flag, BWRAP_VERSION, 0 },
	{ "args", 1, "FD", "more options, NUL-separated, from FD", parse_block,
	    0, BWRAP_MODIFIER },
	{ "argv0", 1, "VALUE", "argv[0] of the command", bwrap_text,
	    BWRAP_ARGV0, BWRAP_ONE },
	{ "level-prefix", 0, "", "messages begin with <3> or <4>", bwrap_flag,
	    BWRAP_LEVEL_PREFIX, 0 },
	{ "unshare-all", 0, "", "every namespace of its own that can be",
	    bwrap_unshare, BWRAP_EVERY, 0 },
	{ "share-net", 0, "", "but the host's network", bwrap_share_net, 0, 0 },
	{ "unshare-user", 0, "", "a user namespace", bwrap_unshare, BWRAP_USER,
	    0 },
	{ "unshare-user-try", 0, "", "if there can be one", bwrap_unshare,
	    BWRAP_USER_TRY, 0 },
	{ "unshare-ipc", 0, "", "an ipc namespace", bwrap_unshare, BWRAP_IPC,
	    0 },
	{ "unshare-pid", 0, "", "a pid namespace", bwrap_unshare, BWRAP_PID,
	    0 },
	{ "unshare-net", 0, "", "a network namespace, with loopback",
	    bwrap_unshare, BWRAP_NET, 0 },
	{ "unshare-uts", 0, "", "a uts namespace", bwrap_unshare, BWRAP_UTS,
	    0 },
	{ "unshare-cgroup", 0, "", "a cgroup namespace", bwrap_unshare,
	    BWRAP_CGROUP, 0 },
	{ "unshare-cgroup-try", 0, "", "if there can be one", bwrap_unshare,
	    BWRAP_CGROUP_TRY, 0 },
	{ "userns", 1, "FD", "enter this user namespace", bwrap_join,
	    BWRAP_USERNS, BWRAP_LAST_WINS },
	{ "userns2", 1, "FD", "and this one when all is set up", bwrap_join,
	    BWRAP_USERNS2, BWRAP_LAST_WINS },
	{ "pidns", 1, "FD", "enter this pid namespace", bwrap_join,
	    BWRAP_PIDNS, BWRAP_LAST_WINS },
	{ "netns", 1, "FD", "enter this network namespace", bwrap_join,
	    BWRAP_NETNS, BWRAP_LAST_WINS },
	{ "disable-userns", 0, "", "no user namespace can be made inside",
	    bwrap_flag, BWRAP_DISABLE_USERNS, 0 },
	{ "assert-userns-disabled", 0, "", "fail unless that is so", bwrap_flag,
	    BWRAP_ASSERT_USERNS, 0 },
	{ "uid", 1, "UID", "the user id inside", bwrap_id, BWRAP_UID,
	    BWRAP_LAST_WINS },
	{ "gid", 1, "GID", "the group id inside", bwrap_id, BWRAP_GID,
	    BWRAP_LAST_WINS },
	{ "uid-map", 1, "INSIDE:OUTSIDE:COUNT", "more user ids inside",
	    bwrap_map, BWRAP_UID, 0 },
	{ "gid-map", 1, "INSIDE:OUTSIDE:COUNT", "more group ids inside",
	    bwrap_map, BWRAP_GID, 0 },
	{ "hostname", 1, "NAME", "the host's name inside", bwrap_text,
	    BWRAP_HOSTNAME, BWRAP_LAST_WINS },
	{ "chdir", 1, "DIR", "start in DIR", bwrap_text, BWRAP_CHDIR,
	    BWRAP_ONE | BWRAP_LAST_WINS },
	{ "setenv", 2, "NAME VALUE", "set a variable", bwrap_environment,
	    BWRAP_SET, 0 },
	{ "unsetenv", 1, "NAME", "unset a variable", bwrap_environment,
	    BWRAP_UNSET, 0 },
	{ "clearenv", 0, "", "unset all variables", bwrap_environment,
	    BWRAP_CLEAR, 0 },
	{ "lock-file", 1, "DEST", "hold a read lock on DEST", bwrap_text,
	    BWRAP_LOCK, 0 },
	{ "sync-fd", 1, "FD", "keep FD open while the sandbox is there",
	    bwrap_fd, BWRAP_SYNC, BWRAP_LAST_WINS },
	{ "bind", 2, "SRC DEST", "bind mount SRC on DEST", bwrap_bind, 0,
	    MOUNTS },
	{ "bind-try", 2, "SRC DEST", "if there is a SRC", bwrap_bind,
	    BWRAP_TRY, MOUNTS },
	{ "dev-bind", 2, "SRC DEST", "with working device nodes", bwrap_bind,
	    BWRAP_DEVICES, MOUNTS },
	{ "dev-bind-try", 2, "SRC DEST", "if there is a SRC", bwrap_bind,
	    BWRAP_DEVICES | BWRAP_TRY, MOUNTS },
	{ "ro-bind", 2, "SRC DEST", "read-only", bwrap_bind, BWRAP_RO, MOUNTS },
	{ "ro-bind-try", 2, "SRC DEST", "if there is a SRC", bwrap_bind,
	    BWRAP_RO | BWRAP_TRY, MOUNTS },
	{ "bind-fd", 2, "FD DEST", "bind mount what is open as FD",
	    bwrap_bind_fd, 0, MOUNTS },
	{ "ro-bind-fd", 2, "FD DEST", "read-only", bwrap_bind_fd, BWRAP_RO,
	    MOUNTS },
	{ "remount-ro", 1, "DEST", "what is mounted on DEST turns read-only",
	    bwrap_make, NSRUN_MOUNT_REMOUNT, BWRAP_ONE },
	{ "overlay-src", 1, "SRC", "a lower layer of the next overlay",
	    bwrap_overlay_src, 0, BWRAP_MODIFIER | BWRAP_ONE },
	{ "overlay", 3, "RWSRC WORKDIR DEST", "writes go to RWSRC",
	    bwrap_overlay, BWRAP_OVERLAY_RW, BWRAP_TAKES_LAYERS | MOUNTS },
	{ "tmp-overlay", 1, "DEST", "writes are forgotten", bwrap_overlay,
	    BWRAP_OVERLAY_TMP, BWRAP_TAKES_LAYERS | BWRAP_TAKES_SIZE | MOUNTS |
	    BWRAP_ONE },
	{ "ro-overlay", 1, "DEST", "read-only, of two layers or more",
	    bwrap_overlay, BWRAP_OVERLAY_RO, BWRAP_TAKES_LAYERS | MOUNTS |
	    BWRAP_ONE },
	{ "exec-label", 1, "LABEL", "refused without SELinux", bwrap_label, 0,
	    BWRAP_LAST_WINS },
	{ "file-label", 1, "LABEL", "refused without SELinux", bwrap_label, 0,
	    BWRAP_LAST_WINS },
	{ "proc", 1, "DEST", "a procfs", bwrap_proc, 0, 0 },
	{ "dev", 1, "DEST", "a /dev of the usual nodes", bwrap_dev, 0, 0 },
	{ "tmpfs", 1, "DEST", "an empty tmpfs", bwrap_make, NSRUN_MOUNT_TMPFS,
	    FILES | BWRAP_TAKES_SIZE | MOUNTS },
	{ "mqueue", 1, "DEST", "the message queues", bwrap_make,
	    NSRUN_MOUNT_MQUEUE, 0 },
	{ "dir", 1, "DEST", "a directory", bwrap_make, NSRUN_MOUNT_DIR, FILES },
	{ "file", 2, "FD DEST", "a file with what FD holds", bwrap_data_file,
	    NSRUN_MOUNT_FILE, FILES },
	{ "bind-data", 2, "FD DEST", "the same, mounted", bwrap_data_file,
	    NSRUN_MOUNT_DATA, FILES | MOUNTS },
	{ "ro-bind-data", 2, "FD DEST", "the same, read-only", bwrap_data_file,
	    BWRAP_RO_DATA, FILES | MOUNTS },
	{ "symlink", 2, "SRC DEST", "a symbolic link to SRC", bwrap_symlink, 0,
	    0 },
	{ "chmod", 2, "OCTAL DEST", "the mode of DEST, which is there",
	    bwrap_chmod, 0, 0 },
	{ "perms", 1, "OCTAL", "mode of what the next option makes",
	    bwrap_perms, 0, BWRAP_MODIFIER },
	{ "size", 1, "BYTES", "size of the next --tmpfs or --tmp-overlay",
	    bwrap_size, 0, BWRAP_MODIFIER },
	{ "noexec", 0, "", "nothing is executed from the next mount",
	    bwrap_flag, BWRAP_NOEXEC, BWRAP_MODIFIER },
	{ "strict-destinations", 0, "", "no DEST may be a symbolic link",
	    bwrap_flag, BWRAP_STRICT, 0 },
	{ "seccomp", 1, "FD", "a seccomp program from FD", bwrap_seccomp, 0,
	    BWRAP_LAST_WINS },
	{ "add-seccomp-fd", 1, "FD", "one more, repeatable", bwrap_seccomp, 1,
	    0 },
	{ "block-fd", 1, "FD", "run the command when FD can be read", bwrap_fd,
	    BWRAP_BLOCK, BWRAP_LAST_WINS },
	{ "userns-block-fd", 1, "FD", "FD tells when the id maps are written",
	    bwrap_fd, BWRAP_USERNS_BLOCK, BWRAP_LAST_WINS },
	{ "info-fd", 1, "FD", "tell about the sandbox on FD", bwrap_fd,
	    BWRAP_INFO, BWRAP_LAST_WINS },
	{ "json-status-fd", 1, "FD", "tell its start and end on FD", bwrap_fd,
	    BWRAP_JSON, BWRAP_LAST_WINS },
	{ "json-status-extended", 0, "", "and more than that", bwrap_flag,
	    BWRAP_EXTENDED, 0 },
	{ "new-session", 0, "", "a session of its own", bwrap_flag,
	    BWRAP_NEW_SESSION, 0 },
	{ "pty", 0, "", "a terminal of its own, joined to ours", bwrap_flag,
	    BWRAP_PTY, 0 },
	{ "die-with-parent", 0, "", "the sandbox ends with our caller",
	    bwrap_flag, BWRAP_DIE, 0 },
	{ "kill-on-exit", 0, "", "and with the command", bwrap_flag,
	    BWRAP_KILL, 0 },
	{ "forward-signals", 0, "", "what we are sent, the command is",
	    bwrap_flag, BWRAP_FORWARD, 0 },
	{ "as-pid-1", 0, "", "the command itself is pid 1", bwrap_flag,
	    BWRAP_AS_PID_1, 0 },
	{ "rlimit", 1, "NAME=VALUE", "a limit as of setrlimit(2)",
	    bwrap_rlimit, 0, 0 },
	{ "cap-add", 1, "CAP", "keep a capability, or ALL", bwrap_cap, 1, 0 },
	{ "cap-drop", 1, "CAP", "or not", bwrap_cap, 0, 0 },
	{ "not-a-security-boundary", 0, "", "as bubblewrap 0.12 has it",
	    bwrap_flag, BWRAP_NO_BOUNDARY, 0 },
};
enum { N_OPTIONS = sizeof options / sizeof *options };

int
bwrap_die(struct bwrap *b, const char *format, ...)
{
	va_list ap;

	if (!*b->message) {
		va_start(ap, format);
		vsnprintf(b->message, sizeof b->message, format, ap);
		va_end(ap);
	}
	return -1;
}

int
bwrap_die_errno(struct bwrap *b, const char *format, ...)
{
	const char *why = nsrun_errno_text(errno);
	va_list ap;
	size_t n;

	if (!*b->message) {
		va_start(ap, format);
		vsnprintf(b->message, sizeof b->message, format, ap);
		va_end(ap);
		n = strlen(b->message);
		snprintf(b->message + n, sizeof b->message - n, ": %s", why);
	}
	return -1;
}

int
bwrap_die_err(struct bwrap *b)
{
	if (!*b->message)
		bwrap_err_text(&b->err, b->plan, b->message,
		    sizeof b->message);
	return -1;
}

int
bwrap_nomem(struct bwrap *b)
{
	return bwrap_die(b, "Out of memory");
}

void
bwrap_warn(const struct bwrap *b, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	fprintf(stderr, "%sbwrap: %s\n", b->level_prefix ? "<4>" : "", text);
}

void
bwrap_usage(FILE *out, const char *name)
{
	fprintf(out, "usage: %s [OPTIONS...] [--] COMMAND [ARGS...]\n\n",
	    name);
	for (size_t i = 0; i < N_OPTIONS; i++) {
		const struct bwrap_option *o = &options[i];
		int n = fprintf(out, "    --%s%s%s", o->name,
		    *o->args ? " " : "", o->args);

		fprintf(out, "%*s%s\n", n < 32 ? 33 - n : 2, "", o->help);
	}
	fputs("\nThis is oc-bwrap, of " PACKAGE_STRING "; see oc-bwrap(1).\n",
	    out);
}

static const struct bwrap_option *
find(const char *word)
{
	/* By a search of halves it is not faster: the names are short. */
	for (size_t i = 0; i < N_OPTIONS; i++)
		if (!strcmp(options[i].name, word))
			return &options[i];
	return NULL;
}

static int
check_operands(struct bwrap *b, const struct bwrap_option *o, int left)
{
	static const char *const counts[] = { "", "", "two", "three" };

	if (left >= (int)o->n_args)
		return 0;
	if (o->n_args == 1)
		return bwrap_die(b, "--%s takes %s argument", o->name,
		    o->flags & BWRAP_ONE ? "one" : "an");
	return bwrap_die(b, "--%s takes %s arguments", o->name,
	    counts[o->n_args]);
}

/* A modifier belongs to the next option, which must want it. */
static int
check_pending(struct bwrap *b, int flags)
{
	const struct bwrap_pending *p = &b->pending;

	if (flags & BWRAP_MODIFIER)
		return 0;
	if (p->has_perms && !(flags & BWRAP_TAKES_PERMS))
		return bwrap_die(b, "--perms must be followed by an option"
		    " that creates a file");
	if (p->has_size && !(flags & BWRAP_TAKES_SIZE))
		return bwrap_die(b, "--size must be followed by --tmpfs");
	if (p->noexec && !(flags & BWRAP_TAKES_NOEXEC))
		return bwrap_die(b, "--noexec must be followed by an option"
		    " that mounts");
	if (p->n_layers && !(flags & BWRAP_TAKES_LAYERS))
		return bwrap_die(b, "--overlay-src must be followed by another"
		    " --overlay-src or one of --overlay, --tmp-overlay, or"
		    " --ro-overlay");
	return 0;
}

/* Options that are said once; bits by their place in the table. */
static void
note_given(struct bwrap *b, const struct bwrap_option *o)
{
	size_t i = (size_t)(o - options);

	if (!(o->flags & BWRAP_LAST_WINS))
		return;
	if (b->given[i / 32] & 1u << i % 32)
		bwrap_warn(b, "Only the last --%s option will take effect",
		    o->name);
	b->given[i / 32] |= 1u << i % 32;
}

/* Options up to the first word that is none; *at is its index. */
static int
parse_words(struct bwrap *b, int n, char *words[], int *at)
{
	int i = 0;

	while (i < n && words[i][0] == '-' && !b->wants_help &&
	    !b->wants_version) {
		const struct bwrap_option *o;

		if (!strcmp(words[i], "--")) {
			i++;
			break;
		}
		o = strncmp(words[i], "--", 2) ? NULL : find(words[i] + 2);
		if (!o)
			return bwrap_die(b, "Unknown option %s", words[i]);
		if (check_operands(b, o, n - i - 1) < 0 ||
		    check_pending(b, o->flags) < 0)
			return -1;
		note_given(b, o);
		if (o->handle(b, o, &words[i + 1]) < 0)
			return -1;
		if (!(o->flags & BWRAP_MODIFIER))
			b->pending = (struct bwrap_pending){ .perms = 0 };
		i += 1 + (int)o->n_args;
	}
	*at = i;
	return 0;
}

/* --args: as if its strings stood here. */
static int
parse_block(struct bwrap *b, const struct bwrap_option *option,
    char *const args[])
{
	const struct bwrap_data *data;
	size_t n = 0, seen = b->n_data;
	char **words, *s;
	int fd, at;

	if (b->in_block)
		return bwrap_die(b, "--args not supported in arguments file");
	if (bwrap_fd_number(b, args[0], &fd) < 0 ||
	    !(data = bwrap_fd_read(b, option->name, fd)))
		return -1;
	if (b->n_data == seen) {
		errno = EBADF;
		return bwrap_die_errno(b, "Can't read --args data");
	}
	/* The last string need not end; its copy does. */
	for (const char *p = data->bytes; p < data->bytes + data->n;
	    p += strlen(p) + 1)
		n++;
	words = nsrun_arena_alloc(&b->plan->arena, (n + 1) * sizeof *words);
	if (!words)
		return bwrap_nomem(b);
	s = (char *)(uintptr_t)data->bytes;
	for (size_t i = 0; i < n; i++, s += strlen(s) + 1)
		words[i] = s;
	b->in_block = true;
	if (parse_words(b, (int)n, words, &at) < 0)
		return -1;
	b->in_block = false;
	/* What would be dropped without a word may be what confines. */
	if (at < (int)n && !b->wants_help && !b->wants_version)
		return bwrap_die(b, "--args %d has words after its options,"
		    " from \"%s\"", fd, words[at]);
	return check_pending(b, 0);
}

int
bwrap_parse(struct bwrap *b, int argc, char *argv[])
{
	int at;

	if (parse_words(b, argc, argv, &at) < 0)
		return -1;
	b->command = argv + at;
	if (b->wants_help || b->wants_version)
		return 0;
	return check_pending(b, 0);
}
