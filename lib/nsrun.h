/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnsrun: run a program in a sandbox of Linux namespaces, without setuid.
 *
 *	plan	what the sandbox will be: pure data, built from a named profile
 *		and the caller's request; building, checking and printing one
 *		needs no privilege and starts no process;
 *	run	one running sandbox: a pidfd, and a result when it has ended;
 *	session	what a host grants to many launches, fixed when it is made.
 *
 * Every function that can fail returns 0 or -1 and fills in a struct
 * nsrun_err; after -1 errno means nothing. The library prints nothing, never
 * exits, installs no signal handler and changes no attribute of its caller.
 * It may be used from several threads as long as a plan or a run is used from
 * one at a time. None of it is async-signal-safe. See nsrun(3).
 */
#ifndef NSRUN_H
#define NSRUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was being done when something failed; NSRUN_STEP_NONE: nothing did. */
enum nsrun_step {
	NSRUN_STEP_NONE,
	NSRUN_STEP_OPTION,	/* a word of the command line or the request */
	NSRUN_STEP_POLICY,	/* a profile or filter text */
	NSRUN_STEP_PLAN,	/* the plan breaks a rule of its own */
	NSRUN_STEP_PROJECT,	/* the project, its scan, its owner */
	NSRUN_STEP_ROOT,	/* an extra root, the working directory */
	NSRUN_STEP_ENVIRONMENT,	/* a variable */
	NSRUN_STEP_STDIO,	/* descriptors 0 to 2, the terminal */
	NSRUN_STEP_IDENTITY,	/* leaving uid 0, idmapped mounts */
	NSRUN_STEP_NAMESPACE,	/* clone3, unshare, setns */
	NSRUN_STEP_IDMAP,	/* uid_map, gid_map, setgroups */
	NSRUN_STEP_MOUNT,	/* the mount tree: bind, tmpfs, pivot_root */
	NSRUN_STEP_PROC,	/* procfs and its covers */
	NSRUN_STEP_DEV,		/* device nodes, devpts */
	NSRUN_STEP_SYSCTL,	/* lowering the namespaces' own limits */
	NSRUN_STEP_NETWORK,	/* loopback */
	NSRUN_STEP_HOSTNAME,
	NSRUN_STEP_FD,		/* descriptors that the command inherits */
	NSRUN_STEP_LIMIT,	/* setrlimit */
	NSRUN_STEP_CAPABILITY,	/* capabilities, no_new_privs, securebits */
	NSRUN_STEP_FILTER,	/* seccomp */
	NSRUN_STEP_INIT,	/* pid 1 of the sandbox */
	NSRUN_STEP_CHDIR,	/* the working directory, inside */
	NSRUN_STEP_EXEC,
	NSRUN_STEP_SUPERVISE,	/* waiting, relaying, reporting */
	NSRUN_STEP_MASK,	/* a name that is to be masked */
	NSRUN_STEP_STATE,	/* the state directory, what is kept there */
	NSRUN_STEP_HOME,	/* the command's home */
	NSRUN_STEP_CREDENTIAL,	/* a credential, and its way back */
	NSRUN_STEP_MEMORY,	/* out of memory */
	NSRUN_STEP_CGROUP,	/* a cgroup for the launch, and its limits */
	NSRUN_N_STEPS
};

/*
 * One failure: what we were doing, to what, and which call said no.
 *
 *	oc-nsrun: mount /home/u/p: open_tree: Permission denied
 *	          ^step ^subject   ^call      ^errnum
 *
 * It has no pointers, so a failure between clone and exec travels to the
 * parent in one write and prints exactly like one in the parent. The first
 * failure is the one kept.
 */
struct nsrun_err {
	enum nsrun_step	step;
	int		errnum;		/* positive errno; 0: a rule of ours */
	char		call[112];	/* "open_tree", or the rule in words */
	char		subject[376];	/* "/src -> /dst"; cut when longer */
};

#define NSRUN_ERR_INIT { .step = NSRUN_STEP_NONE }

/* Write "PROG: step subject: call: cause\n" and, for a known cause, a line
 * "hint: ..." to fd, in one write each. */
void nsrun_err_print(int fd, const char *prog, const struct nsrun_err *err);

/* The step's name ("mount"), and the operator's remedy or NULL. Static. */
const char *nsrun_step_name(enum nsrun_step step);
const char *nsrun_err_hint(const struct nsrun_err *err);

/*
 * A request: what a caller asks for, in the words of oc-nsrun(1).
 *
 * nsrun_request_set(r, "project", "/home/u/app", &err) says what
 * `--project /home/u/app` says on the command line; value is NULL for a word
 * that takes none. Order is kept, strings are copied. Options that name a
 * descriptor (env-fd, args-fd, status-fd) belong to the program, not here.
 */
struct nsrun_request;

struct nsrun_request *nsrun_request_new(void);		/* NULL: no memory */
void nsrun_request_free(struct nsrun_request *request);
int nsrun_request_set(struct nsrun_request *request, const char *name,
    const char *value, struct nsrun_err *err);
/* What to run inside; argv[0] is looked up in the sandbox's PATH. */
int nsrun_request_set_command(struct nsrun_request *request,
    char *const argv[], struct nsrun_err *err);

/*
 * A plan: the whole sandbox as data, made from a request by reading the host
 * (never changing it). Roots are opened and pinned now: a plan stays valid
 * while they live and refuses to start when one was replaced.
 */
struct nsrun_plan;

enum nsrun_format {
	NSRUN_FORMAT_TREE,	/* for a person */
	NSRUN_FORMAT_COLOR,	/* the same, for a terminal */
	NSRUN_FORMAT_JSON,	/* one object; see nsrun-status(5) */
	NSRUN_FORMAT_ROWS,	/* one line an entry, in order: for tests */
};

int nsrun_plan_new(struct nsrun_plan **plan,
    const struct nsrun_request *request, struct nsrun_err *err);
int nsrun_plan_check(const struct nsrun_plan *plan, struct nsrun_err *err);
int nsrun_plan_print(const struct nsrun_plan *plan, enum nsrun_format format,
    int fd, struct nsrun_err *err);
void nsrun_plan_free(struct nsrun_plan *plan);

/*
 * A session: what a host grants to many launches, fixed when it is made. Each
 * root is opened once, and a launch refuses to start where something else
 * stands in its place; values of variables are those of now.
 *
 * `grants` says what the words of a session may say: project, ro, rw, as, temp,
 * on-hazard; and cwd, mask, env, network and nesting, which a launch may say
 * again, of these only what was granted. Everything else is said by each
 * launch, in the request of nsrun_session_plan(), which is nsrun_plan_new() for
 * a session.
 * Plans do not need their session any more; its temporary directory they do.
 *
 * An id is of the whole process. Registered again with the same grants it is
 * the same session, to be released once more; with others, or with a directory
 * that was replaced, it is an error. The last release removes the session's
 * temporary directory, or fails when that is not the one that was made; the
 * session is gone all the same. Any function may be called from any thread, but
 * none for a session whose last release has begun.
 */
struct nsrun_session;

int nsrun_session_register(struct nsrun_session **session, const char *id,
    const struct nsrun_request *grants, struct nsrun_err *err);
int nsrun_session_plan(struct nsrun_plan **plan,
    const struct nsrun_session *session, const struct nsrun_request *launch,
    struct nsrun_err *err);
/* Its directory on the host, with temp=host; or NULL. The session's. */
const char *nsrun_session_temp(const struct nsrun_session *session);
int nsrun_session_release(struct nsrun_session *session, struct nsrun_err *err);

/* Why a sandbox ended. */
enum nsrun_reason {
	NSRUN_REASON_EXIT,	/* the command returned: code */
	NSRUN_REASON_SIGNAL,	/* a signal killed it: signal */
	NSRUN_REASON_DEADLINE,	/* --timeout */
	NSRUN_REASON_CANCELLED,	/* its caller died, or asked for its end */
	NSRUN_REASON_FAILED,	/* never ran: see the nsrun_err */
	NSRUN_REASON_OOM,	/* it used up its memory: limit */
	NSRUN_REASON_LIMIT,	/* it met another bound on all of it: limit */
	NSRUN_N_REASONS
};

struct nsrun_result {
	enum nsrun_reason reason;
	int		code;		/* EXIT: 0 to 255 */
	int		signal;		/* SIGNAL: its number */
	int		status;		/* the program's exit status: 124-127 */
	uint64_t	wall_ms;
	uint64_t	cpu_ms;		/* user and system, all processes */
	uint64_t	peak_kib;	/* of the largest process */
	uint64_t	out_bytes[2];	/* stdout, stderr: passed on */
	uint64_t	dropped_bytes[2];	/* and cut by max-output */
	unsigned int	n_killed;	/* processes killed after the command */
	unsigned int	n_violations;	/* masks that did not hold all the
					   time, see nsrun-status(5) */
	const char	*limit;		/* OOM, LIMIT: its name, static; or
					   NULL */
	uint64_t	memory_peak_bytes;	/* of all together, where there
						   is a cgroup; or 0 */
	uint64_t	processes_peak;		/* likewise */
	uint64_t	grown_bytes;	/* of what it may write, where that is
					   watched; or 0 */
	uint64_t	grown_inodes;
	unsigned int	n_returned;	/* credentials handed back */
	unsigned int	n_not_returned;	/* changed, but they could not be */
};

/*
 * A run: one started sandbox. nsrun_start() returns when the command has been
 * exec'ed, or with -1 when anything failed before; then nothing runs and
 * nothing is left. nsrun_pidfd() is borrowed and becomes readable when the
 * sandbox's pid 1, and with it every process inside, is gone.
 *
 * nsrun_wait() blocks, enforces the plan's deadline and output caps, and
 * returns once. nsrun_stop() ends the sandbox from any thread, then wait
 * reports NSRUN_REASON_CANCELLED. nsrun_run_free() on a run that was not
 * waited for kills it. When the calling process dies, so does the sandbox.
 */
struct nsrun_run;

int nsrun_start(struct nsrun_run **run, const struct nsrun_plan *plan,
    struct nsrun_err *err);
int nsrun_pidfd(const struct nsrun_run *run);
int nsrun_stop(struct nsrun_run *run, struct nsrun_err *err);
int nsrun_wait(struct nsrun_run *run, struct nsrun_result *result,
    struct nsrun_err *err);
void nsrun_run_free(struct nsrun_run *run);

#ifdef __cplusplus
}
#endif

#endif
