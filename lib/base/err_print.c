/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/err_print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"

static const struct {
	const char *name;
	const char *category;
} steps[NSRUN_N_STEPS] = {
	[NSRUN_STEP_NONE]	= { "nothing", "none" },
	[NSRUN_STEP_OPTION]	= { "option", "bad-input" },
	[NSRUN_STEP_POLICY]	= { "policy", "bad-input" },
	[NSRUN_STEP_PLAN]	= { "plan", "bad-input" },
	[NSRUN_STEP_PROJECT]	= { "project", "bad-input" },
	[NSRUN_STEP_ROOT]	= { "root", "bad-input" },
	[NSRUN_STEP_ENVIRONMENT] = { "environment", "bad-input" },
	[NSRUN_STEP_STDIO]	= { "stdio", "bad-input" },
	[NSRUN_STEP_IDENTITY]	= { "identity", "identity-refused" },
	[NSRUN_STEP_NAMESPACE]	= { "namespace", "namespace-refused" },
	[NSRUN_STEP_IDMAP]	= { "idmap", "namespace-refused" },
	[NSRUN_STEP_MOUNT]	= { "mount", "mount-refused" },
	[NSRUN_STEP_PROC]	= { "proc", "mount-refused" },
	[NSRUN_STEP_DEV]	= { "dev", "mount-refused" },
	[NSRUN_STEP_SYSCTL]	= { "sysctl", "kernel-refused" },
	[NSRUN_STEP_NETWORK]	= { "network", "network-refused" },
	[NSRUN_STEP_HOSTNAME]	= { "hostname", "namespace-refused" },
	[NSRUN_STEP_FD]		= { "descriptor", "kernel-refused" },
	[NSRUN_STEP_LIMIT]	= { "limit", "kernel-refused" },
	[NSRUN_STEP_CAPABILITY]	= { "capability", "kernel-refused" },
	[NSRUN_STEP_FILTER]	= { "filter", "kernel-refused" },
	[NSRUN_STEP_INIT]	= { "init", "kernel-refused" },
	[NSRUN_STEP_CHDIR]	= { "chdir", "bad-input" },
	[NSRUN_STEP_EXEC]	= { "exec", "exec-failed" },
	[NSRUN_STEP_SUPERVISE]	= { "supervise", "kernel-refused" },
	[NSRUN_STEP_MASK]	= { "mask", "bad-input" },
	[NSRUN_STEP_STATE]	= { "state", "bad-input" },
	[NSRUN_STEP_HOME]	= { "home", "bad-input" },
	[NSRUN_STEP_CREDENTIAL]	= { "credential", "bad-input" },
	[NSRUN_STEP_MEMORY]	= { "memory", "no-memory" },
	[NSRUN_STEP_CGROUP]	= { "cgroup", "cgroup-refused" },
};

const char *
nsrun_step_name(enum nsrun_step step)
{
	return (unsigned int)step < NSRUN_N_STEPS ? steps[step].name : "?";
}

const char *
nsrun_err_category(const struct nsrun_err *err)
{
	if ((unsigned int)err->step >= NSRUN_N_STEPS)
		return "none";
	if (err->step == NSRUN_STEP_EXEC && err->errnum == ENOENT &&
	    strcmp(err->call, "interpreter"))
		return "not-found";
	return steps[err->step].category;
}

/*
 * Remedies, first match wins; 0 matches any errno, NULL any call. A call that
 * several causes share names the command that tells them apart.
 */
static const struct {
	enum nsrun_step step;
	int errnum;
	const char *call;
	const char *hint;
} hints[] = {
	{ NSRUN_STEP_NAMESPACE, ENOSPC, NULL,
	    "a namespace limit is reached: see /proc/sys/user/max_*_namespaces;"
	    " oc-nsrun doctor names the one" },
	{ NSRUN_STEP_NAMESPACE, EPERM, NULL,
	    "this host refuses user namespaces to this user; oc-nsrun doctor"
	    " names the setting" },
	{ NSRUN_STEP_NAMESPACE, ENOSYS, "clone3",
	    "a filter forbids namespaces: inside oc-nsrun, start the outer one"
	    " with --nesting allow" },
	{ NSRUN_STEP_NAMESPACE, EUSERS, NULL,
	    "too many nested user namespaces (the kernel allows 32)" },
	{ NSRUN_STEP_NAMESPACE, EAGAIN, NULL,
	    "the caller's own process limit is reached (ulimit -u)" },
	{ NSRUN_STEP_IDMAP, EPERM, NULL,
	    "user namespaces are made but not usable, as under Ubuntu's"
	    " AppArmor restriction; oc-nsrun doctor names the profile to"
	    " load" },
	{ NSRUN_STEP_IDMAP, EACCES, NULL,
	    "user namespaces are made but not usable, as under Ubuntu's"
	    " AppArmor restriction; oc-nsrun doctor names the profile to"
	    " load" },
	{ NSRUN_STEP_MOUNT, ENOSYS, NULL,
	    "a filter forbids openat2, as that of oc-nsrun does where files are"
	    " root's on the host" },
	{ NSRUN_STEP_MOUNT, ENOSPC, NULL,
	    "the mount limit is reached: /proc/sys/fs/mount-max" },
	{ NSRUN_STEP_MOUNT, EINVAL, "open_tree",
	    "something is mounted below this directory, or it is no longer"
	    " mounted here" },
	{ NSRUN_STEP_MOUNT, ENODEV, "overlay",
	    "this kernel has no overlay file system, or its module is not"
	    " loaded: modprobe overlay" },
	{ NSRUN_STEP_MOUNT, EPERM, "overlay",
	    "this kernel lets only root mount an overlay: Linux 5.11 is needed,"
	    " and nothing that forbids it" },
	{ NSRUN_STEP_MOUNT, EINVAL, "overlay",
	    "the file system below cannot be a layer, or the one that is"
	    " written to cannot be that; the kernel's log says which" },
	{ NSRUN_STEP_MASK, ENOLCK, NULL,
	    "locks want a directory of your own, mode 0700: /run/user/UID or"
	    " /tmp/.oc-nsrun-UID.N" },
	{ NSRUN_STEP_STATE, EWOULDBLOCK, "lock",
	    "another launch uses it, or it is being removed; wait for that, or"
	    " use another name" },
	{ NSRUN_STEP_PROC, EPERM, NULL,
	    "a container that covers parts of /proc forbids a new procfs; run"
	    " it with an unmasked /proc (docker: --security-opt systempaths="
	    "unconfined)" },
	{ NSRUN_STEP_NETWORK, 0, "RTM_NEWLINK",
	    "this host refuses a loopback device in a new network namespace;"
	    " --network denied can do without" },
	{ NSRUN_STEP_EXEC, ENOENT, "interpreter",
	    "the file is there; its interpreter or loader is not visible in the"
	    " sandbox" },
	{ NSRUN_STEP_EXEC, ENOENT, NULL,
	    "the command is looked up inside the sandbox; oc-nsrun explain"
	    " shows what is visible there" },
	{ NSRUN_STEP_EXEC, E2BIG, NULL,
	    "arguments and environment are larger than the kernel allows" },
	{ NSRUN_STEP_CHDIR, 0, NULL,
	    "oc-nsrun explain shows what is visible in the sandbox" },
	{ NSRUN_STEP_LIMIT, EACCES, "look at",
	    "what is written is counted in every directory: the caller must be"
	    " able to read it" },
	{ NSRUN_STEP_CGROUP, 0, NULL,
	    "oc-nsrun doctor says what of cgroups is missing here, and which"
	    " command gives it" },
	{ NSRUN_STEP_FILTER, EINVAL, NULL,
	    "the kernel has no seccomp filters, or another filter forbids"
	    " loading one" },
};

const char *
nsrun_err_hint(const struct nsrun_err *err)
{
	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (hints[i].step == err->step &&
		    (!hints[i].errnum || hints[i].errnum == err->errnum) &&
		    (!hints[i].call || !strcmp(hints[i].call, err->call)))
			return hints[i].hint;
	return NULL;
}

/* A name may hold anything: what could drive a terminal is shown as '?'. */
static void
neutralise(char *s)
{
	while (*s) {
		unsigned char *c = (unsigned char *)s;
		int n = nsrun_utf8_length(c);

		if (n == 0 || (n == 1 ? *c < ' ' || *c == 0x7f :
		    nsrun_utf8_misleads(c)))
			memset(s, '?', (size_t)(n ? n : 1));
		s += n ? n : 1;
	}
}

static void
put_line(int fd, char *line, size_t size, int len)
{
	size_t n = len < 0 ? 0 : (size_t)len;

	if (n > size - 2)
		n = size - 2;

	line[n] = '\0';
	neutralise(line);
	line[n] = '\n';
	/* Standard error may be closed or full: there is nobody to tell. */
	if (write(fd, line, n + 1) < 0)
		return;
}

void
nsrun_err_print(int fd, const char *prog, const struct nsrun_err *err)
{
	char line[1024];
	const char *hint = nsrun_err_hint(err);
	int len;

	len = snprintf(line, sizeof line, "%s: %s%s%s: %s%s%s", prog,
	    nsrun_step_name(err->step), *err->subject ? " " : "", err->subject,
	    err->call, err->errnum ? ": " : "",
	    err->errnum ? nsrun_errno_text(err->errnum) : "");
	put_line(fd, line, sizeof line, len);
	if (!hint)
		return;
	len = snprintf(line, sizeof line, "hint: %s", hint);
	put_line(fd, line, sizeof line, len);
}
