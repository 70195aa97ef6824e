/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who we are: uid_map, gid_map and setgroups of user_namespaces(7).
 *
 * A process may write a one-line map of its own ids itself, after denying
 * setgroups(2); who left uid 0, or wants other ids, has to ask the supervisor.
 */
#include "apply/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"

/*
 * `name` is below proc_fd, which the parent verified to be a procfs: a path
 * would trust whatever is mounted on /proc (CVE-2025-52881).
 */
static int
write_map(const struct nsrun_prep *prep, const char *name, const char *text,
    struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(prep->proc_fd, name,
	    O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "open", name, text);
	if (write(fd, text, strlen(text)) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "write", name,
		    text);
	return 0;
}

static int
write_own(const struct nsrun_prep *prep, int which, struct nsrun_err *err)
{
	/* Denied setgroups is inherited. */
	if ((which == 0 || prep->plan->identity.sets_ids_first) &&
	    write_map(prep, "self/setgroups", "deny", err) < 0)
		return -1;
	if (write_map(prep, "self/uid_map", prep->uid_maps[which], err) < 0 ||
	    write_map(prep, "self/gid_map", prep->gid_maps[which], err) < 0)
		return -1;
	return 0;
}

/*
 * The second one of a key of an ordinary user's, whose supervisor is not root:
 * its ids are ours by now. While these files are to be ours, what has the key's
 * ids could look into us; but that is in sandboxes, and sees no pid of ours.
 */
static int
write_key(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "PR_SET_DUMPABLE",
		    NULL, NULL);
	if (write_own(prep, 1, err) < 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "PR_SET_DUMPABLE",
		    NULL, NULL);
	return 0;
}

/*
 * A caller that left uid 0 is not dumpable, and stays so: whoever has the ids
 * that it took on could look into root's memory and take root's descriptors.
 * The maps then belong to the host's root, and the supervisor, which is that,
 * writes them. Everybody else writes them himself.
 */
static int
write_maps(const struct nsrun_prep *prep, int which, struct nsrun_err *err)
{
	struct nsrun_message ask = { .kind = NSRUN_MESSAGE_MAP, .map = which };
	const struct nsrun_identity *who = &prep->plan->identity;

	if (which && who->asks_for_maps && who->sets_ids_first)
		return write_key(prep, err);
	if (who->leaves_root || who->asks_for_maps) {
		if (nsrun_child_say(prep, &ask) < 0 ||
		    nsrun_child_wait(prep) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_IDMAP, "maps",
			    "the supervisor", NULL);
		return 0;
	}
	return write_own(prep, which, err);
}

/* Must: be in a user namespace without maps. */
int
nsrun_apply_idmap(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	if (!(prep->plan->namespaces & CLONE_NEWUSER) ||
	    prep->plan->identity.finds_maps)
		return 0;
	if (write_maps(prep, 0, err) < 0)
		return -1;
	return prep->plan->identity.sets_ids_first ?
	    nsrun_apply_ids(prep, err) : 0;
}

/*
 * One more user namespace, the one we are about to make, and none below it.
 * Through our /proc: the file is that of whoever opens it.
 */
static int
forbid_more(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	static const char name[] = "sys/user/max_user_namespaces";
	nsrun_autoclose int fd = openat(prep->proc_fd, name,
	    O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_SYSCTL, "write", name,
		    "1");
	return 0;
}

/* Not what was configured but what the kernel does. */
static int
check_none(struct nsrun_err *err)
{
	if (unshare(CLONE_NEWUSER) == 0)
		return nsrun_err_rule(err, NSRUN_STEP_NAMESPACE, "can still be"
		    " made", "a user namespace", NULL);
	return 0;
}

/*
 * Enter the second user namespace. The first keeps owning the mounts, the
 * network and the sysctls, and no capability of the second reaches them.
 * Must: be done with them.
 */
int
nsrun_apply_lock(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	const struct nsrun_identity *who = &prep->plan->identity;
	int second = prep->plan->join.second_user;

	if (second >= 0 && setns(second, CLONE_NEWUSER) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "setns",
		    "--userns2", NULL);
	if (!who->lock_namespaces)
		return who->check_no_userns ? check_none(err) : 0;
	if (who->no_more_userns && forbid_more(prep, err) < 0)
		return -1;
	if (unshare(CLONE_NEWUSER) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "unshare",
		    "second user namespace", NULL);
	if (write_maps(prep, 1, err) < 0 ||
	    nsrun_apply_user_sysctls(prep, child, err) < 0)
		return -1;
	return who->check_no_userns ? check_none(err) : 0;
}

/* For who watches from outside, with rights on what is made in here. */
static int
pass_userns(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_message message = { .kind = NSRUN_MESSAGE_USERNS };
	nsrun_autoclose int fd = openat(prep->proc_fd, "self/ns/user",
	    O_RDONLY | O_CLOEXEC);

	if (fd < 0 || nsrun_child_pass(prep->channel_fd, &message,
	    sizeof message, fd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "pass",
		    "self/ns/user", NULL);
	return 0;
}

/* Note which namespaces these are: nobody outside may look into pid 1 later. */
int
nsrun_apply_witness(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const char *const names[NSRUN_N_NAMESPACES] = {
		"self/ns/user", "self/ns/mnt", "self/ns/pid", "self/ns/net",
		"self/ns/ipc", "self/ns/uts", "self/ns/cgroup",
	};
	struct stat st;

	if (prep->plan->supervision.watches_writes &&
	    pass_userns(prep, err) < 0)
		return -1;
	if (!prep->plan->supervision.reports &&
	    !prep->plan->supervision.watches_writes)
		return 0;
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++) {
		if (fstatat(prep->proc_fd, names[i], &st, 0) < 0)
			return nsrun_err_sys(err, NSRUN_STEP_NAMESPACE, "stat",
			    names[i], NULL);
		child->witness.inodes[i] = st.st_ino;
	}
	return 0;
}
