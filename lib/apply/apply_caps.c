/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * No capability in any of the five sets of capabilities(7), none to be gained
 * by exec or setuid, and the way back locked. And what pid 1 shows of itself.
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
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)child;
	(void)prep;
	/* EINVAL: one past the last that this kernel knows. */
	for (int cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; )
		cap++;
	if (errno != EINVAL || prctl(PR_CAPBSET_READ, 0, 0, 0, 0) != 0)
		return failed(err, "PR_CAPBSET_DROP");
	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return failed(err, "PR_SET_SECUREBITS");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return failed(err, "PR_CAP_AMBIENT_CLEAR_ALL");
	if (syscall(SYS_capset, &header, none) < 0)
		return failed(err, "capset");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return failed(err, "PR_SET_NO_NEW_PRIVS");
	return 0;
}

int
nsrun_apply_cwd(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	(void)child;
	if (chdir(prep->plan->cwd) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_CHDIR, "chdir",
		    prep->plan->cwd, NULL);
	return 0;
}

/*
 * /proc/1 of the sandbox is ours, and we are a copy of the caller: its
 * arguments and environment are wiped from our copy of its memory, and no
 * file of /proc/1 but the harmless ones opens (PR_SET_DUMPABLE in prctl(2)).
 * The command's exec makes *it* dumpable again.
 */
int
nsrun_apply_privacy(const struct nsrun_prep *prep, struct nsrun_child *child,
    struct nsrun_err *err)
{
	static const char title[] = "oc-nsrun-init";

	(void)child;
	memset(prep->own_strings, 0, prep->n_own_strings);
	if (prep->n_own_strings > sizeof title)
		memcpy(prep->own_strings, title, sizeof title);
	(void)prctl(PR_SET_NAME, title, 0, 0, 0);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "PR_SET_DUMPABLE",
		    NULL, NULL);
	/* The caller's oddities (ADDR_NO_RANDOMIZE) are not passed on. */
	if (personality(PER_LINUX) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "personality",
		    NULL, NULL);
	/* Out of the caller's session: its terminal is not ours to have. */
	if (setsid() < 0)
		return nsrun_err_sys(err, NSRUN_STEP_INIT, "setsid", NULL,
		    NULL);
	return 0;
}
