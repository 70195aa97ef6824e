/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bubblewrap's command line: what the words say (bwrap_options.c and the files
 * it names), the plan that follows (bwrap_plan.c), and a run that looks to its
 * caller as bwrap's does (bwrap_run.c).
 *
 * A function that fails returns -1 and has left a message, by bwrap_die().
 */
#ifndef HELPER_BWRAP_H
#define HELPER_BWRAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "nsrun.h"
#include "plan/plan.h"

/* "As many bits as there are capabilities." */
enum { BWRAP_ALL = -1 };

/* Modifiers, given before the option that they belong to. */
struct bwrap_pending {
	bool	has_perms, has_size, noexec;
	mode_t	perms;
	uint64_t size;
	const char **layers;		/* NULL at the end */
	size_t	n_layers;
};

/* What was read from a descriptor, kept: it can be named again. */
struct bwrap_data {
	int	fd;
	const char *bytes;
	size_t	n;
};

struct bwrap_env {
	char	**v;			/* NULL: unset */
	size_t	n;
	size_t	*index;			/* by hash: of v, + 1; 0: free */
	size_t	n_index;		/* a power of two */
};

struct bwrap {
	struct nsrun_plan *plan;
	struct nsrun_err err;
	char	message[1024];		/* for people; the first that came */
	bool	level_prefix;
	bool	wants_help, wants_version;

	bool	unshare_user, user_try, cgroup, cgroup_try;
	uint64_t unshare;		/* CLONE_NEW* but the user's */
	bool	disable_userns, assert_no_userns;
	bool	has_uid, has_gid;
	uid_t	uid;
	gid_t	gid;
	uint64_t added_caps;		/* wanted, for all that is dropped */
	bool	new_session, die_with_parent, as_pid_1;
	bool	forward_signals, kill_on_exit, pty, strict, extended;
	bool	has_dev, no_boundary;
	const char *argv0, *chdir;
	int	info_fd, json_fd, userns_block_fd, sync_fd, block_fd;
	bool	has_seccomp, has_add_seccomp;
	unsigned int given[4];		/* of those that are said once */

	struct bwrap_pending pending;
	struct bwrap_data *data;
	size_t	n_data;
	struct bwrap_env env;
	char	**command;		/* NULL at the end */
	bool	in_block;		/* of --args */
};

struct bwrap_option {
	const char	*name;		/* without the two dashes */
	unsigned int	n_args;
	const char	*args;		/* for --help */
	const char	*help;
	int		(*handle)(struct bwrap *b,
			    const struct bwrap_option *option,
			    char *const args[]);
	int		value;		/* the handler's */
	enum {
		BWRAP_TAKES_PERMS	= 1 << 0,
		BWRAP_TAKES_SIZE	= 1 << 1,
		BWRAP_TAKES_NOEXEC	= 1 << 2,
		BWRAP_TAKES_LAYERS	= 1 << 3,
		BWRAP_MODIFIER		= 1 << 4,
		BWRAP_ONE		= 1 << 5, /* "one argument" */
		BWRAP_LAST_WINS		= 1 << 6, /* with a warning */
	} flags;
};
typedef int bwrap_handler(struct bwrap *b, const struct bwrap_option *option,
    char *const args[]);

/* bwrap_options.c */
int bwrap_parse(struct bwrap *b, int argc, char *argv[]);
void bwrap_usage(FILE *out, const char *name);
int bwrap_die(struct bwrap *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same, and what errno says. */
int bwrap_die_errno(struct bwrap *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The library's error becomes the message. */
int bwrap_die_err(struct bwrap *b);
void bwrap_warn(const struct bwrap *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
int bwrap_nomem(struct bwrap *b);

/* bwrap_fs.c: mounts and files */
bwrap_handler bwrap_bind, bwrap_bind_fd, bwrap_make, bwrap_data_file;
bwrap_handler bwrap_symlink, bwrap_dev, bwrap_proc, bwrap_chmod;
bwrap_handler bwrap_overlay_src, bwrap_overlay, bwrap_perms, bwrap_size;

/* bwrap_misc.c: everything else */
bwrap_handler bwrap_flag, bwrap_unshare, bwrap_share_net, bwrap_id;
bwrap_handler bwrap_join, bwrap_text, bwrap_fd, bwrap_label, bwrap_seccomp;
bwrap_handler bwrap_cap, bwrap_rlimit, bwrap_map, bwrap_environment;

/*
 * bwrap_data.c: descriptors of the caller's. Each stays open, so that its
 * number means nothing else, and is none of the command's.
 */
int bwrap_fd_number(struct bwrap *b, const char *text, int *fd);
/* Check that it is open, and keep it from the command; *fd may move. */
int bwrap_fd_take(struct bwrap *b, const char *option, int *fd);
/* Take it and read it to its end; the same again, when it is asked again. NULL
 * when it cannot be. */
const struct bwrap_data *bwrap_fd_read(struct bwrap *b, const char *option,
    int number);

/* bwrap_env.c: -1 means no memory. */
int bwrap_env_init(struct bwrap *b, char *const environment[]);
int bwrap_env_set(struct bwrap *b, const char *name, const char *value);
void bwrap_env_unset(struct bwrap *b, const char *name);
void bwrap_env_clear(struct bwrap *b);
const char *bwrap_env_get(const struct bwrap *b, const char *name);
/* Into the plan. */
int bwrap_env_finish(struct bwrap *b);

/* bwrap_caps.c: a number, BWRAP_ALL, or -2: there is none of that name. */
int bwrap_cap_find(const char *name);

/* bwrap_plan.c: the whole command line is known; now the rest follows. */
int bwrap_plan_begin(struct bwrap *b);
int bwrap_plan_finish(struct bwrap *b);

/* bwrap_err.c: bubblewrap's words for what the library says. */
void bwrap_err_text(const struct nsrun_err *err, const struct nsrun_plan *plan,
    char *buf, size_t size);

/* bwrap_status.c: -1 and errno set */
struct nsrun_run;
int bwrap_write_info(const struct bwrap *b, const struct nsrun_run *run);
int bwrap_write_command(const struct bwrap *b, pid_t pid);
int bwrap_write_exit(const struct bwrap *b, const struct nsrun_run *run);

/* bwrap_run.c: the program. */
int bwrap_main(int argc, char *argv[]);
int bwrap_explain_main(int argc, char *argv[], bool json);

#endif
