/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan: everything about one sandbox, as data.
 *
 * A face or the host layer adds to it, nsrun_plan_check() is the only gate,
 * apply obeys it. Nothing in lib/plan makes a system call but to allocate and
 * to print. Entries are applied in the order they were added. All strings and
 * arrays belong to the plan's arena and live as long as the plan.
 */
#ifndef NSRUN_PLAN_PLAN_H
#define NSRUN_PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "plan/cgroup.h"
#include "plan/mounts.h"

struct nsrun_err;
struct nsrun_filter;

/* One line of a uid_map or gid_map. */
struct nsrun_idrange {
	uint32_t	inside;
	uint32_t	outside;
	uint32_t	count;
};

struct nsrun_idmap {
	struct nsrun_idrange *v;
	size_t		n;
};

/*
 * Who the command is.
 *
 * uid and gid are what it sees; host_uid and host_gid what the host sees.
 * With `leaves_root` the caller is uid 0 and the ids change before the user
 * namespace is made. With `lock_namespaces` the tree is made in a first user
 * namespace, as its uid 0, and the command lives in a second one that maps
 * back: no capability it might regain there reaches the mounts or sysctls.
 */
struct nsrun_identity {
	uid_t		uid, host_uid;
	gid_t		gid, host_gid;
	bool		leaves_root;
	bool		clones_trees;	/* while it still has the rights */
	bool		keeps_root;	/* the caller is uid 0 and stays it */
	bool		unlimited;	/* and so has no limit on processes */
	bool		lock_namespaces;
	bool		no_more_userns;	/* and it can make none itself */
	bool		check_no_userns;	/* prove it before it runs */
	bool		asks_for_maps;	/* the supervisor writes them */
	bool		finds_maps;	/* somebody else did, before us */
	bool		sets_ids;	/* joined a user namespace as another */
	bool		sets_ids_first;	/* the map shows others: before there is
					   anything made in their name */
	bool		sets_groups;	/* with asks_for_maps, or no map */
	const gid_t	*groups;
	size_t		n_groups;
	const char	*why_kept;	/* for people; NULL unless keeps_root */
	const char	*key;		/* whose ids these are; or NULL */
};

/* A setting of the new namespaces, below /proc/sys. */
struct nsrun_sysctl {
	const char	*path;		/* "user/max_user_namespaces" */
	const char	*value;
};

/*
 * A limit. The first are setrlimit(2)'s, never raised above what the caller
 * has; then those of a cgroup; the last two are watched over from outside.
 */
enum nsrun_limit_kind {
	NSRUN_LIMIT_CPU,		/* seconds, each process */
	NSRUN_LIMIT_ADDRESS_SPACE,	/* bytes, each process */
	NSRUN_LIMIT_DATA,		/* bytes of private memory, each */
	NSRUN_LIMIT_FILE_SIZE,		/* bytes, each file */
	NSRUN_LIMIT_FILES,		/* open, each process */
	NSRUN_LIMIT_PROCESSES,		/* and threads, in the sandbox */
	NSRUN_LIMIT_CORE,		/* bytes */
	NSRUN_LIMIT_MESSAGES,		/* bytes in POSIX message queues */
	NSRUN_LIMIT_LOCKED,		/* bytes locked in memory */
	NSRUN_LIMIT_SIGNALS,		/* pending */
	NSRUN_LIMIT_REALTIME,		/* real-time priority */
	NSRUN_LIMIT_STACK,		/* bytes, each process */
	NSRUN_LIMIT_MEMORY,		/* bytes, all together */
	NSRUN_LIMIT_SWAP,		/* bytes, beside MEMORY */
	NSRUN_LIMIT_CPUS,		/* thousandths of a processor */
	NSRUN_LIMIT_IO_READ,		/* bytes a second, each disk */
	NSRUN_LIMIT_IO_WRITE,
	NSRUN_LIMIT_WRITE,		/* bytes that its roots may grow by */
	NSRUN_LIMIT_INODES,		/* and names */
	NSRUN_N_LIMITS
};

struct nsrun_limit {
	bool		set;
	uint64_t	value;
	bool		exact;		/* CPU: no second to hear of it */
};

/* How descriptor 0, 1 or 2 reaches the command. */
enum nsrun_stdio {
	NSRUN_STDIO_INHERIT,	/* the caller's own */
	NSRUN_STDIO_NULL,	/* the sandbox's /dev/null */
	NSRUN_STDIO_RELAY,	/* a pipe; the supervisor copies */
	NSRUN_STDIO_SAME,	/* of 2: the pipe that 1 is */
	NSRUN_STDIO_TERMINAL,	/* a terminal of the sandbox's own */
	NSRUN_N_STDIOS
};

enum nsrun_network {
	NSRUN_NETWORK_DENIED,	/* sockets refused */
	NSRUN_NETWORK_ISOLATED,	/* sockets, nobody to talk to but itself */
	NSRUN_N_NETWORKS
};

/*
 * What stands between the command and the host. All but the first are none at
 * all: the site's configuration must permit them, and its caller ask for them.
 */
enum nsrun_boundary {
	NSRUN_BOUNDARY_SANDBOX,
	NSRUN_BOUNDARY_UNSANDBOXED,	/* OPENCLAUDIA_BASH_SANDBOX=off */
	NSRUN_BOUNDARY_HOOK_ENV_SCRUB,	/* a hook, without the host's secrets */
	NSRUN_BOUNDARY_HOOK_NONE,	/* a hook, with all of the host's */
	NSRUN_N_BOUNDARIES
};

/* Namespaces that exist already and are entered: descriptors, -1 for none. */
struct nsrun_join {
	int	user, pid, net;		/* before all else */
	int	second_user;		/* when all is done */
};

enum nsrun_sid {
	NSRUN_SESSION_OWN,	/* pid 1's, and another for the command */
	NSRUN_SESSION_SHARED,	/* one for both */
	NSRUN_SESSION_CALLER,	/* the caller's, and with it its terminal */
	NSRUN_N_SESSIONS
};

/*
 * How the command comes to be, and what of its caller it keeps. All zero is
 * what a profile wants: nothing of the caller's.
 */
enum { NSRUN_LOCKS_MAX = 56 };

struct nsrun_process {
	bool		in_place;	/* no pid 1 of ours: the child is it */
	bool		waits;		/* to be released, before all else */
	bool		lingers;	/* what it leaves behind goes on */
	bool		outlives;	/* a dead supervisor ends nothing */
	bool		keeps_signals;	/* ignored and blocked as they are */
	bool		keeps_fds;	/* open as they are */
	bool		open_init;	/* pid 1 may be looked into */
	bool		free_caps;	/* uid 0 inside is not made powerless */
	bool		names_command;	/* its pid is wanted outside */
	bool		spares_init;	/* pid 1 goes without the filters: they
					   are the command's, and may leave it
					   less than pid 1 needs */
	enum nsrun_sid session;
	uint64_t	caps;		/* kept, 1 << CAP_*, in all five sets */
	int		block_fd;	/* a byte or its end is "go"; or -1 */
	int		sync_fd;	/* pid 1's alone, to its end; or -1 */
	const char	**locks;	/* files that pid 1 read-locks */
	size_t		n_locks;
	int		*consumed;	/* descriptors not for the command */
	size_t		n_consumed;
	const char	*file;		/* to execute; NULL: argv[0] */
	bool		literal;	/* no PWD of ours, and a script that
					   lacks "#!" is nobody's */
	int		exec_fd;	/* what to execute instead; or -1 */
	bool		new_privs;	/* set-user-ID programs may gain */
	bool		log_filters;	/* what the filters refuse is logged */
	bool		no_tsc;		/* the time stamp counter kills */
	bool		core_group;	/* shares its cores with nobody else */
	bool		sets_oom_score, sets_nice;
	int		oom_score_adj, nice;
	unsigned int	max_cpus;	/* of the caller's; 0: all */
	unsigned long	personality;	/* personality(2), or 0 */
};

/* What the supervisor enforces and watches, outside. */
struct nsrun_supervision {
	uint64_t	timeout_ms;		/* 0: none */
	uint64_t	max_output_bytes;	/* each stream; 0: no cap */
	bool		ends_with_input;	/* a second after it, or when
						   nobody takes its output */
	bool		watches_writes;	/* limits WRITE, INODES */
	bool		reports;	/* its namespaces' numbers are wanted */
	bool		thread_is_process;	/* our thread lives as long as
						   we do: PDEATHSIG is usable */
};

/* A file of the command's whose content is wanted when all is over. */
enum { NSRUN_RETURNS_MAX = 8 };

struct nsrun_return {
	const char	*path;		/* inside */
	const char	*host;		/* where it goes; canonical */
	const void	*data;		/* what was there, and is to be still */
	size_t		n_data;
	size_t		max_bytes;
};

struct nsrun_plan {
	struct nsrun_arena	arena;
	const char		*profile;
	enum nsrun_boundary	boundary;
	uint64_t		namespaces;	/* CLONE_NEW* */
	bool			nesting;	/* it can make namespaces */
	struct nsrun_identity	identity;
	struct nsrun_idmap	uid_map, gid_map;	/* of the first one */
	struct nsrun_mounts	mounts;
	const char		*chroot_dir;	/* with no mounts; or NULL */
	struct nsrun_sysctl	*sysctls;
	size_t			n_sysctls;
	bool			loopback;	/* bring it up */
	enum nsrun_network	network;
	const char		*hostname;	/* NULL: the host's */
	struct nsrun_limit	limits[NSRUN_N_LIMITS];
	struct nsrun_cgroup_plan cgroup;
	const struct nsrun_filter **filters;	/* loaded in this order */
	size_t			n_filters;
	enum nsrun_stdio	stdio[3];
	char			**env;		/* NULL at the end */
	size_t			n_env;
	const char		**granted;	/* names in env */
	size_t			n_granted;
	const char		*server;	/* a trusted one; NULL: none */
	const char		*repository;	/* that git writes; or NULL */
	char			**argv;		/* NULL at the end */
	size_t			n_argv;
	struct nsrun_return	*returns;
	size_t			n_returns;
	const char		*cwd;
	const char		**cwd_else;	/* tried next; PWD follows. NULL
						   at the end; NULL: none */
	struct nsrun_join	join;
	struct nsrun_process	process;
	struct nsrun_supervision supervision;
	const char		**fallbacks;	/* taken, for the report */
	size_t			n_fallbacks;
	const char		**features;	/* newer than 5.14, used */
	size_t			n_features;
};

void nsrun_plan_init(struct nsrun_plan *plan);
void nsrun_plan_deinit(struct nsrun_plan *plan);

/* Append a copy. Each returns 0, or -1 with err saying "no memory". */
int nsrun_plan_add_mount(struct nsrun_plan *plan, const struct nsrun_mount *m,
    struct nsrun_err *err);
int nsrun_plan_add_sysctl(struct nsrun_plan *plan, const char *path,
    const char *value, struct nsrun_err *err);
int nsrun_plan_add_cgroup(struct nsrun_plan *plan,
    const struct nsrun_cgroup_setting *setting, struct nsrun_err *err);
int nsrun_plan_add_filter(struct nsrun_plan *plan,
    const struct nsrun_filter *filter, struct nsrun_err *err);
/* The same, before all others. */
int nsrun_plan_put_filter(struct nsrun_plan *plan,
    const struct nsrun_filter *filter, struct nsrun_err *err);
int nsrun_plan_add_fallback(struct nsrun_plan *plan, const char *name,
    struct nsrun_err *err);
int nsrun_plan_add_feature(struct nsrun_plan *plan, const char *name,
    struct nsrun_err *err);
int nsrun_plan_add_idrange(struct nsrun_plan *plan, struct nsrun_idmap *map,
    struct nsrun_idrange range, struct nsrun_err *err);
int nsrun_plan_add_lock(struct nsrun_plan *plan, const char *path,
    struct nsrun_err *err);
/* fd stays the caller's to close in this process; the command gets none. */
int nsrun_plan_add_consumed(struct nsrun_plan *plan, int fd,
    struct nsrun_err *err);
/* Its strings and data are the arena's already. */
int nsrun_plan_add_return(struct nsrun_plan *plan, struct nsrun_return back,
    struct nsrun_err *err);
int nsrun_plan_set_argv(struct nsrun_plan *plan, char *const argv[],
    struct nsrun_err *err);

/* Set NAME to value, replacing an earlier one; copies both. */
int nsrun_plan_set_env(struct nsrun_plan *plan, const char *name,
    const char *value, struct nsrun_err *err);
/* The value of NAME in the plan, or NULL. */
const char *nsrun_plan_env(const struct nsrun_plan *plan, const char *name);

/* Tables between the plan's enums and their words; see names.c. */
const char *nsrun_limit_name(enum nsrun_limit_kind kind);
/* RLIMIT_*; -1: it is none of those. */
int nsrun_limit_resource(enum nsrun_limit_kind kind);
/* Bytes ('b'), seconds ('s'), pieces ('n') or processors / 1000 ('c')? */
char nsrun_limit_unit(enum nsrun_limit_kind kind);
bool nsrun_limit_needs_cgroup(enum nsrun_limit_kind kind);
int nsrun_limit_find(const char *name);			/* -1: none */
/* What stands behind KEY; -1: that is no value. */
int nsrun_limit_value(enum nsrun_limit_kind kind, const char *text,
    uint64_t *value);
/* As people write it: "1G", "300s", "1.5". */
const char *nsrun_limit_text(enum nsrun_limit_kind kind, uint64_t value,
    char buf[24]);
/* "KEY=VALUE"; -1: there is no such key, -2: that is no value. */
int nsrun_limit_parse(const char *text, int *kind, uint64_t *value);
const char *nsrun_stdio_name(enum nsrun_stdio stdio);
const char *nsrun_network_name(enum nsrun_network network);
const char *nsrun_boundary_name(enum nsrun_boundary boundary);
/*
 * The network's name; also "host", without a sandbox, and "joined", for a
 * face's plan that has none of its own.
 */
const char *nsrun_plan_network(const struct nsrun_plan *plan);
const char *nsrun_sid_name(enum nsrun_sid sid);

struct nsrun_namespace {
	uint64_t	flag;		/* CLONE_NEW* */
	const char	*name;		/* "user" */
	const char	*proc_name;	/* below /proc/PID/ns */
};
enum { NSRUN_N_NAMESPACES = 7 };
extern const struct nsrun_namespace nsrun_namespaces[NSRUN_N_NAMESPACES];

#endif
