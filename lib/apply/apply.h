/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Apply: the child between clone and exec, one function a step.
 *
 * Each obeys a plan that passed nsrun_plan_check(), makes system calls, and
 * fills in err when one fails. None allocates, locks, formats, looks up a
 * name or falls back: tests/check_child.sh holds the objects to that. The
 * order of the steps, and why, is in child.c.
 */
#ifndef NSRUN_APPLY_APPLY_H
#define NSRUN_APPLY_APPLY_H

#include <limits.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <sys/types.h>

#include "apply/prep.h"

enum { NSRUN_NO_JANITOR = -2 };

/* The child's own notes. */
struct nsrun_child {
	int	root_fd;	/* the new root; -1 after pivot_root */
	int	base_fd;	/* the plan's first tmpfs, likewise */
	int	shade_fd;	/* a root once more, for its shields; or -1 */
	const char *shade;	/* which, by its target */
	int	masks_fd;	/* what is mounted over masks; or -1 */
	int	pins_fd;	/* a tree of `pins_of`, out of reach; or -1 */
	const char *pins_of;
	unsigned int n_pin_trees;
	size_t	absents_end;	/* up to where stubs were asked for */
	bool	absents_barred;	/* where nobody can make what is not there */
	int	janitor_fd;	/* socket to it, once there is one; or -1,
				   or NSRUN_NO_JANITOR: not any more */
	bool	is_watched;	/* it has what it needs to mend masks */
	unsigned int n_own_devs;
	int	dir_fd;		/* of the last target's parent; -1: none */
	bool	dir_own;	/* the plan may make things there */
	bool	root_covered;	/* by a mount: no more ours to restrict */
	char	dir[PATH_MAX];	/* its path beneath the new root */
	char	link[PATH_MAX];	/* where a link leads that leads to nothing */
	int	sys_fd;		/* the sandbox's /proc/sys, uncovered; or -1 */
	int	terminal_fd;	/* slave side, or -1 */
	mode_t	umask;		/* the caller's, for the command */
	const char *pwd;	/* "PWD=..." of where the command starts */
	struct nsrun_witness witness;
};

int nsrun_apply_release(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_idmap(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_oom_score(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_mounts(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_pivot(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_network(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_hostname(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_terminal(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_lock(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_witness(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_fds(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_core_limit(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_caps(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_cwd(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_privacy(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_scheduling(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);
int nsrun_apply_gate(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);
int nsrun_apply_filter(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err);

/* Lower the new namespaces' settings through proc_fd, their own procfs. */
int nsrun_apply_sysctls(const struct nsrun_prep *prep,
    struct nsrun_child *child, int proc_fd, struct nsrun_err *err);
/* And those of the second user namespace, once in it. */
int nsrun_apply_user_sysctls(const struct nsrun_prep *prep,
    struct nsrun_child *child, struct nsrun_err *err);

/*
 * Open what stands at m's target beneath the new root; links are followed,
 * never out of it, and none where it is EXACT. Returns an O_PATH descriptor, or
 * -1 with errno set.
 */
int nsrun_target_open(const struct nsrun_child *child,
    const struct nsrun_mount *m);

/*
 * The directory that holds `target`, a path of m's, made if need be; *name is
 * the last component. The descriptor is child's and good until the next call.
 * -1 with errno EROFS where the plan may make nothing: on the host's file
 * systems, unless it says writes_host.
 */
int nsrun_target_parent(const struct nsrun_prep *prep,
    struct nsrun_child *child, const struct nsrun_mount *m, const char *target,
    const char **name);

/* The same, and whether anything may be made there is not asked. */
int nsrun_target_dir(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, const char *target, const char **name);

/*
 * Make what m's target lacks, of mode with its type; *fd is an O_PATH
 * descriptor of what stands there then, links followed. -1 with errno set, and
 * *call says what failed.
 */
int nsrun_target_make(const struct nsrun_prep *prep, struct nsrun_child *child,
    const struct nsrun_mount *m, mode_t mode, int *fd, const char **call);

/* Open what an O_PATH descriptor stands for; -1 with errno set. */
int nsrun_target_reopen(const struct nsrun_prep *prep, int fd, int flags);

/*
 * Mount points on the host's file systems: made by the janitor, which removes
 * them when the sandbox is gone, or another sandbox's, which must not remove it
 * before. 0, or -1 with errno set: EEXIST when there is something already.
 */
int nsrun_stub_make(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, const char *name, mode_t mode);
/* And a link that holds text. */
int nsrun_stub_link(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, const char *name, const char *text);
int nsrun_stub_share(const struct nsrun_prep *prep, struct nsrun_child *child,
    int fd);
/* Have a janitor that watches masks; child has their sources. */
int nsrun_stub_watch(const struct nsrun_prep *prep, struct nsrun_child *child);

/*
 * Stubs in dir for mounts *i to end-1, whose names must stay absent; what else
 * is at one is left alone. -1 with errno EROFS: nothing can be made there; any
 * other is of mount *i.
 */
int nsrun_stub_absent(const struct nsrun_prep *prep, struct nsrun_child *child,
    int dir, size_t *i, size_t end);

/*
 * Attach the detached mount at m's target, which is made when it is missing: a
 * directory or an empty file, by type (S_IFDIR or other). -1 with errno set,
 * and *call says what failed.
 */
int nsrun_target_attach(const struct nsrun_prep *prep,
    struct nsrun_child *child, int mount_fd, const struct nsrun_mount *m,
    mode_t type, const char **call);

/* "Interface 1, up", as rtnetlink(7) wants it; tested against libmnl. */
struct nsrun_link_message {
	struct nlmsghdr		header;
	struct ifinfomsg	link;
};
extern const struct nsrun_link_message nsrun_loopback_up;

/* Bring the loopback up where we are. Returns the netlink socket, or -1. */
int nsrun_loopback_raise(struct nsrun_err *err);

/* Become the plan's ids, with its groups if it says so; capabilities stay. */
int nsrun_apply_ids(const struct nsrun_prep *prep, struct nsrun_err *err);

/* The command's limits, when it is about to be executed. */
int nsrun_apply_limits(const struct nsrun_prep *prep, struct nsrun_err *err);

/* Say something to the supervisor. -1 with errno set: it may be gone. */
int nsrun_child_say(const struct nsrun_prep *prep,
    const struct nsrun_message *message);

/* Send n bytes and a descriptor. -1 with errno set. */
int nsrun_child_pass(int socket_fd, const void *data, size_t n, int fd);

/* Die with the supervisor, if the plan wants that; false: it is dead. */
bool nsrun_child_follow_parent(const struct nsrun_prep *prep);

/* Wait for the supervisor to do what it was asked; -1 with errno set. */
int nsrun_child_wait(const struct nsrun_prep *prep);

/* The plan's programs, now. */
int nsrun_load_filters(const struct nsrun_prep *prep, struct nsrun_err *err);

/* Execute the plan's command; returns when nothing could be. */
void nsrun_exec_command(const struct nsrun_prep *prep,
    const struct nsrun_child *child, struct nsrun_err *err);

/* All of it: becomes pid 1 of the sandbox. For clone3. */
_Noreturn void nsrun_child_main(const struct nsrun_prep *prep);

/* What the plan wants back, into prep's return_fds. */
void nsrun_returns_collect(const struct nsrun_prep *prep);

/* Pid 1's life: run the command, reap, obey, end everything. */
_Noreturn void nsrun_init_main(const struct nsrun_prep *prep,
    struct nsrun_child *child);

#endif
