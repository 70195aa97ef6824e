/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oc-nsjail: nsjail's command line and configuration (options.c, config.c), the
 * plan that follows (plan.c), and a run that looks to its caller as nsjail's
 * does (run.c).
 *
 * A function that fails returns -1 and has left the reason in err.
 */
#ifndef NSJAIL_H
#define NSJAIL_H

#include <stdio.h>

#include "net.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "settings.h"

enum { NSJAIL_FAILED = 255 };

/* A directory of a hierarchy of cgroup v1, and what is written to its files. */
enum { NSJAIL_N_CGROUPS1 = 4 };
struct nsjail_cgroup1 {
	const char	*parent;		/* NULL: none */
	struct {
		const char *file, *value;	/* file NULL: no more */
	}		settings[4];
};

struct nsjail {
	struct nsrun_arena arena;
	struct nsrun_err err;
	struct nsjail_config config;

	/* What -C does not touch. */
	const char	*chroot;		/* NULL: an empty root */
	bool		rw;
	bool		proc, proc_rw;
	const char	*proc_path;
	struct nsjail_list uids, gids;		/* struct nsjail_idmap */
	struct nsjail_list pass_fds;		/* int32_t */
	const char	*exec_file;
	bool		execute_fd;
	char		**command;		/* NULL at the end */
	bool		wants_help, init;
	int		status_fd;		/* or -1 */
	const char	*peer;			/* for the log: whose jail */

	/* What the plan does not hold: for the guard. */
	struct nsjail_net net;
	struct nsjail_cgroup1 cgroups1[NSJAIL_N_CGROUPS1];
	bool		guarded;

	struct nsjail_log {
		int	fd;
		enum nsjail_level level;
		bool	color;
	}		log;
};

/* options.c */
int nsjail_parse(struct nsjail *n, int argc, char *argv[]);
/* options_list.c: what --help says. */
void nsjail_usage(FILE *out, const char *name);

/* What an option does: told by its row. */
struct nsjail_option {
	const char	*name;
	int		letter;			/* 0: none */
	const char	*arg;			/* NULL: takes none */
	const char	*help;
	int		(*handle)(struct nsjail *n,
			    const struct nsjail_option *o, const char *value);
	const char	*field;			/* that it sets, if one */
	int		number;			/* the handler's */
};
typedef int nsjail_handler(struct nsjail *n, const struct nsjail_option *o,
    const char *value);
extern const struct nsjail_option nsjail_options[];	/* name NULL ends */

nsjail_handler nsjail_do_field, nsjail_do_unset, nsjail_do_mode, nsjail_do_cap;
nsjail_handler nsjail_do_limit, nsjail_do_map, nsjail_do_mount, nsjail_do_root;
nsjail_handler nsjail_do_proc, nsjail_do_log, nsjail_do_config, nsjail_do_time;
nsjail_handler nsjail_do_exec, nsjail_do_own, nsjail_do_user_net;

enum nsjail_mount_options {
	NSJAIL_BIND_RO, NSJAIL_BIND_RW, NSJAIL_TMPFS, NSJAIL_MOUNT,
	NSJAIL_SYMLINK,
};

/* "--NAME: RULE: VALUE"; -1. */
int nsjail_refuse(struct nsjail *n, const char *name, const char *rule,
    const char *value);
int nsjail_nomem(struct nsjail *n);
/* One more entry of size at the end of list, zeroed; NULL: no memory. */
void *nsjail_append(struct nsjail *n, struct nsjail_list *list, size_t size);
/* Strict: base 0 as C writes it, nothing else; -1 if it is no such number. */
int nsjail_number(const char *text, uint64_t max, uint64_t *number);

/* config.c: what the file says replaces all that was said before. */
int nsjail_config_read(struct nsjail *n, const char *path);

/* refuse.c: whatever was asked for and cannot be had. */
int nsjail_refuse_rest(struct nsjail *n);

/* caps.c: a capability's number by its exact name, or -1. */
int nsjail_cap_find(const char *name);

/* log.c: "[W][DATE][PID] FUNCTION():LINE TEXT"; an I has no middle. */
int nsjail_log_open(struct nsjail *n, const char *path);
void nsjail_log_set_fd(struct nsjail *n, int fd);
void nsjail_log(const struct nsjail *n, enum nsjail_level level,
    const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The reason in n->err, as an E, with its hint. */
void nsjail_log_err(const struct nsjail *n, const char *where);
/* "0.5", "600": the time limit in seconds. */
enum { NSJAIL_TIME_SIZE = 24 };
const char *nsjail_time_limit(const struct nsjail *n,
    char buf[NSJAIL_TIME_SIZE]);
#define NSJAIL_LINE2(line) #line
#define NSJAIL_LINE(line) NSJAIL_LINE2(line)
#define NSJAIL_WHERE(function) function "():" NSJAIL_LINE(__LINE__)

/* signals.c: "SIGTERM". */
const char *nsjail_signal_name(int signal);

/* tell.c: what is asked for, and what will be made of it, in the log. */
void nsjail_tell_settings(const struct nsjail *n);
void nsjail_tell_plan(const struct nsjail *n, const struct nsrun_plan *plan);

/* plan.c and plan_*.c */
int nsjail_plan(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_mounts(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_proc(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_ids(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_limits(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_filter(struct nsjail *n, struct nsrun_plan *plan);
/* A limit of the address space under which this program is known to fail. */
void nsjail_doubt_memory(const struct nsjail *n, const struct nsrun_plan *plan);
int nsjail_plan_cgroups(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_net(struct nsjail *n, struct nsrun_plan *plan);
int nsjail_plan_user_net(struct nsjail *n, struct nsjail_net *net);
/* Refuse a name that no interface can have. */
int nsjail_check_iface(struct nsjail *n, const char *field, const char *name);

/* cgroup1.c: PARENT/NSJAIL.PID of each, with pid in it; and away with them. */
int nsjail_cgroups1_make(const struct nsjail *n, pid_t pid,
    struct nsrun_err *err);
void nsjail_cgroups1_remove(const struct nsjail *n, pid_t pid);

/* run.c, listen.c: the status to exit with. */
int nsjail_listen(struct nsjail *n, const struct nsrun_plan *plan);
int nsjail_run(struct nsjail *n, const struct nsrun_plan *plan);
/* No jail, for the reason in n->err: told to the log and to status_fd. */
int nsjail_fail(struct nsjail *n);

#endif
