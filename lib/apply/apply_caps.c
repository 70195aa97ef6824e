/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No capability in any of the five sets of capabilities(7) but what the plan
 * keeps, none to be gained by exec or setuid, and the way back locked. And what
 * pid 1 shows of itself.
 */
#include "apply/apply.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

static int
failed(struct nsrun_err *err, const char *call)
{
	return nsrun_err_sys(err, NSRUN_STEP_CAPABILITY, call, NULL, NULL);
}

/*
 * A capability as the kernel numbers them; the sets of capset(2) come in two
 * words.
 */
static uint64_t
bit(int cap)
{
	return (uint64_t)1 << cap;
}

/* Groups first, while there is the right to say which. */
int
nsrun_apply_ids(const struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_identity *who = &prep->plan->identity;
	/* Of the first namespace, where the tree is made, it is the root. */
	uid_t uid = who->lock_namespaces && who->sets_ids_first ? 0 : who->uid;
	gid_t gid = who->lock_namespaces && who->sets_ids_first ? 0 : who->gid;

	if (who->sets_groups && syscall(SYS_setgroups, who->n_groups,
	    who->groups) < 0)
		return failed(err, "setgroups");
	if (!who->sets_ids && !who->sets_ids_first)
		return 0;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
		return failed(err, "PR_SET_KEEPCAPS");
	if (syscall(SYS_setresgid, gid, gid, gid) < 0)
		return failed(err, "setresgid");
	if (syscall(SYS_setresuid, uid, uid, uid) < 0)
		return failed(err, "setresuid");
	return 0;
}

static int
drop_bounding(uint64_t keep, struct nsrun_err *err)
{
	int cap;

	/* EINVAL: one past the last that this kernel knows. */
	for (cap = 0; cap < 64; cap++)
		if (!(keep & bit(cap)) &&
		    prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			break;
	if (cap < 64 && errno != EINVAL)
		return failed(err, "PR_CAPBSET_DROP");
	if (!(keep & 1) && prctl(PR_CAPBSET_READ, 0, 0, 0, 0) != 0)
		return failed(err, "PR_CAPBSET_DROP");
	return 0;
}

/* The kept ones in every set: they survive exec by the ambient one. */
static int
set_caps(uint64_t keep, struct nsrun_err *err)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, sets) < 0)
		return failed(err, "capget");
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].permitted &= (uint32_t)(keep >> 32 * i);
		sets[i].effective = sets[i].inheritable = sets[i].permitted;
	}
	if (syscall(SYS_capset, &header, sets) < 0)
		return failed(err, "capset");
	for (int cap = 0; cap < 64; cap++)
		if (sets[cap / 32].permitted & bit(cap % 32) && prctl(
		    PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return failed(err, "PR_CAP_AMBIENT_RAISE");
	return 0;
}

/*
 * Must: come after everything that needs a right. The bounding set and the
 * securebits need CAP_SETPCAP, so they go first.
 */
int
nsrun_apply_caps(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const unsigned long bits =
	    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED |
	    SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
	    SECBIT_KEEP_CAPS_LOCKED |
	    SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
	const struct nsrun_process *process = &prep->plan->process;

	(void)child;
	if (drop_bounding(process->caps, err) < 0)
		return -1;
	if (!prep->plan->identity.sets_ids_first &&
	    nsrun_apply_ids(prep, err) < 0)
		return -1;
	if (!process->free_caps && prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return failed(err, "PR_SET_SECUREBITS");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return failed(err, "PR_CAP_AMBIENT_CLEAR_ALL");
	if (set_caps(process->caps, err) < 0)
		return -1;
	if (!process->new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failed(err, "PR_SET_NO_NEW_PRIVS");
	return 0;
}

int
nsrun_apply_cwd(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	if (chdir(prep->plan->cwd) == 0) {
		child->pwd = prep->pwds[0];
		return 0;
	}
	nsrun_err_sys(err, NSRUN_STEP_CHDIR, "chdir", prep->plan->cwd, NULL);
	for (size_t i = 0; prep->plan->cwd_else && prep->plan->cwd_else[i]; i++)
		if (chdir(prep->plan->cwd_else[i]) == 0) {
			child->pwd = prep->pwds[i + 1];
			err->step = NSRUN_STEP_NONE;
			return 0;
		}
	return -1;
}

/*
 * /proc/1 of the sandbox is ours, and we are a copy of the caller: its
 * arguments and environment are wiped from our copy of its memory, and no
 * file of /proc/1 but the harmless ones opens (PR_SET_DUMPABLE in prctl(2)),
 * unless the plan wants them to. The command's exec makes *it* dumpable again.
 */
int
nsrun_apply_privacy(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const char title[] = "oc-nsrun-init";

	const struct nsrun_process *process = &prep->plan->process;

	(void)child;
	if (!process->in_place) {
		memset(prep->own_strings, 0, prep->n_own_strings);
		if (prep->n_own_strings > sizeof title)
			memcpy(prep->own_strings, title, sizeof title);
		(void)prctl(PR_SET_NAME, title, 0, 0, 0);
	}
	if (prctl(PR_SET_DUMPABLE, process->open_init, 0, 0, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "PR_SET_DUMPABLE",
		    NULL, NULL);
	/* The caller's oddities (ADDR_NO_RANDOMIZE) are not passed on. */
	if (!process->keeps_signals &&
	    personality(PER_LINUX | process->personality) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "personality",
		    NULL, NULL);
	/* Out of the caller's session: its terminal is not ours to have. */
	if (process->session != NSRUN_SESSION_CALLER && setsid() < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "setsid", NULL,
		    NULL);
	return 0;
}
