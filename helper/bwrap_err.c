/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the library says, in the words that callers of bubblewrap look for:
 * hosts tell by them whether to try again without a procfs, and users search
 * the web for them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err_print.h"
#include "bwrap.h"

/* "a -> b" in two; b is a where there is only one. */
struct subject {
	char	a[sizeof ((struct nsrun_err *)0)->subject];
	const char *b;
};

static void
split(struct subject *s, const char *text)
{
	char *arrow;

	snprintf(s->a, sizeof s->a, "%s", text);
	arrow = strstr(s->a, " -> ");
	s->b = s->a;
	if (arrow) {
		*arrow = '\0';
		s->b = arrow + 4;
	}
}

static const char *
reason(const struct nsrun_err *err)
{
	switch (err->errnum) {
	case EROFS:
		return "Read-only file system (what is not there cannot be"
		    " made there)";
	case ENOSYS:
		return "Function not implemented (a filter forbids it, as that"
		    " of oc-nsrun does where files are root's on the host)";
	case ENOSPC:
		return "Limit exceeded (ENOSPC). (Hint: Check that"
		    " /proc/sys/fs/mount-max is sufficient, typically 100000)";
	default:
		return nsrun_errno_text(err->errnum);
	}
}

/* The library does not say which entry it was; its target does, mostly. */
static const struct nsrun_mount *
has(const struct nsrun_plan *plan, enum nsrun_mount_kind kind,
    const char *target)
{
	for (size_t i = 0; i < plan->mounts.n; i++)
		if (plan->mounts.v[i].kind == kind &&
		    !strcmp(plan->mounts.v[i].target, target))
			return &plan->mounts.v[i];
	return NULL;
}

static unsigned int
mode_of(const struct nsrun_plan *plan, const char *target)
{
	const struct nsrun_mount *m = has(plan, NSRUN_MOUNT_CHMOD, target);

	return m ? m->mode & 07777 : 0;
}

static void
mount_text(const struct nsrun_err *err, const struct nsrun_plan *plan,
    char *buf, size_t size)
{
	static const struct {
		const char *call, *format;
	} texts[] = {
		{ "open_tree", "Can't find source path %s: %s" },
		{ "openat2", "Can't find source path %s: %s" },
		{ "fstat", "Can't find source path %s: %s" },
		{ "parent directory", "Can't mkdir parents for %s: %s" },
		{ "mkdir", "Can't mkdir %s: %s" },
		{ "create", "Can't create file at %s: %s" },
		{ "open", "Can't create file at %s: %s" },
		{ "write", "Can't write data to file %s: %s" },
		{ "symlink", "Can't make symlink at %s: %s" },
		{ "overlay", "Can't make overlay mount on /newroot%s: %s" },
		{ "share", "Can't use mount point %s: %s" },
	};
	struct subject s;
	const char *why = reason(err);

	split(&s, err->subject);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (strcmp(texts[i].call, err->call))
			continue;
		if (!strcmp(err->call, "overlay") && err->errnum == ELOOP)
			why = "Overlay directories may not overlap";
		if (!strcmp(err->call, "overlay") && err->errnum == EINVAL)
			why = "Invalid argument (a layer with mounts below it"
			    " is only for root without a user namespace)";
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(buf, size, texts[i].format, i < 3 ? s.a : s.b, why);
#pragma GCC diagnostic pop
		return;
	}
	if (!strcmp(err->call, "chmod"))
		snprintf(buf, size, "Can't chmod %#o %s: %s",
		    mode_of(plan, s.b), s.b, why);
	else if (!strcmp(err->call, "slave"))
		snprintf(buf, size, "Failed to make / slave: %s", why);
	else if (!strcmp(err->call, "remount"))
		snprintf(buf, size, err->errnum == EINVAL ?
		    "Can't remount readonly on %s: it is not a mount point" :
		    "Can't remount readonly on %s: %s", s.b, why);
	else if (!strncmp(err->call, "fs", 2))
		snprintf(buf, size, "Can't mount %s on /newroot%s: %s",
		    err->step == NSRUN_STEP_PROC ? "proc" :
		    err->step == NSRUN_STEP_DEV ? "devpts" :
		    has(plan, NSRUN_MOUNT_MQUEUE, s.b) ? "mqueue" : "tmpfs",
		    s.b, why);
	else
		snprintf(buf, size, "Can't bind mount /oldroot%s%s on"
		    " /newroot%s: %s: %s", *s.a == '/' ? "" : "/", s.a, s.b,
		    strcmp(err->call, "mount_setattr") ?
		    "Unable to mount source on destination" :
		    "Unable to apply mount flags", why);
}

static void
namespace_text(const struct nsrun_err *err, char *buf, size_t size)
{
	const char *text = NULL;

	if (!strcmp(err->call, "setns user"))
		snprintf(buf, size, "Joining specified user namespace failed:"
		    " %s", nsrun_errno_text(err->errnum));
	else if (!strncmp(err->call, "setns", 5))
		snprintf(buf, size, "Setting %s failed: %s",
		    !strcmp(err->call, "setns pid") ? "pidns" :
		    !strcmp(err->call, "setns net") ? "netns" : "userns2",
		    nsrun_errno_text(err->errnum));
	else if (!strcmp(err->call, "unshare") &&
	    strcmp(err->subject, "network"))
		snprintf(buf, size, "unshare user ns: %s",
		    nsrun_errno_text(err->errnum));
	else if (err->errnum == EINVAL)
		text = "Creating new namespace failed, likely because the"
		    " kernel does not support user namespaces.";
	else if (err->errnum == EPERM)
		text = "No permissions to create a new namespace, likely"
		    " because the kernel does not allow non-privileged user"
		    " namespaces. On e.g. debian this can be enabled with"
		    " 'sysctl kernel.unprivileged_userns_clone=1'.";
	else if (err->errnum == ENOSPC)
		text = "Creating new namespace failed: nesting depth or"
		    " /proc/sys/user/max_*_namespaces exceeded (ENOSPC)";
	else if (err->errnum == ENOSYS)
		text = "Creating new namespace failed: a filter forbids"
		    " namespaces (inside oc-nsrun, start that with --nesting"
		    " allow)";
	else
		snprintf(buf, size, "Creating new namespace failed: %s",
		    nsrun_errno_text(err->errnum));
	if (text)
		snprintf(buf, size, "%s", text);
}

static void
idmap_text(const struct nsrun_err *err, char *buf, size_t size)
{
	snprintf(buf, size, "%s: %s", strstr(err->subject, "gid_map") ?
	    "setting up gid map" : strstr(err->subject, "setgroups") ?
	    "error writing to setgroups" : "setting up uid map",
	    nsrun_errno_text(err->errnum));
}

static void
rest_text(const struct nsrun_err *err, char *buf, size_t size)
{
	const char *why = nsrun_errno_text(err->errnum);

	switch ((int)err->step) {
	case NSRUN_STEP_NETWORK:
		snprintf(buf, size, !strcmp(err->call, "socket") ?
		    "loopback: Failed to create NETLINK_ROUTE socket: %s" :
		    "loopback: Failed RTM_NEWLINK: %s", why);
		break;
	case NSRUN_STEP_HOSTNAME:
		snprintf(buf, size, "Can't set hostname to %s: %s",
		    err->subject, why);
		break;
	case NSRUN_STEP_FILTER:
		snprintf(buf, size, "prctl(PR_SET_SECCOMP): %s%s", why,
		    err->errnum == EINVAL ? " (the kernel does not accept the"
		    " program)" : "");
		break;
	case NSRUN_STEP_CHDIR:
		snprintf(buf, size, "Can't chdir to %s: %s", err->subject, why);
		break;
	case NSRUN_STEP_EXEC:
		snprintf(buf, size, "execvp %s: %s%s", err->subject, why,
		    strcmp(err->call, "interpreter") ? "" :
		    " (what is missing is its interpreter or loader)");
		break;
	case NSRUN_STEP_INIT:
		snprintf(buf, size, "Unable to %s%s %s: %s", err->call,
		    *err->subject ? " lock file" : "", err->subject, why);
		break;
	default:
		snprintf(buf, size, "%s%s%s: %s", *err->subject ? err->subject :
		    nsrun_step_name(err->step), *err->subject ? ": " : " ",
		    err->call, why);
	}
}

void
bwrap_err_text(const struct nsrun_err *err, const struct nsrun_plan *plan,
    char *buf, size_t size)
{
	struct subject s;

	if (err->errnum == 0) {
		split(&s, err->subject);
		if (!strncmp(err->call, "existing destination", 20))
			snprintf(buf, size, "Can't make symlink at %s: %s %s",
			    s.a, err->call, s.b);
		else if (!strncmp(err->call, "destination exists", 18))
			snprintf(buf, size, "Can't make symlink at %s: %s",
			    s.a, err->call);
		else if (err->step == NSRUN_STEP_NAMESPACE)
			snprintf(buf, size, "creation of new user namespaces"
			    " was not disabled as requested");
		else
			snprintf(buf, size, "%s%s%s", err->subject,
			    *err->subject ? " " : "", err->call);
		return;
	}
	if (err->step == NSRUN_STEP_MOUNT || err->step == NSRUN_STEP_PROC ||
	    err->step == NSRUN_STEP_DEV)
		mount_text(err, plan, buf, size);
	else if (err->step == NSRUN_STEP_NAMESPACE)
		namespace_text(err, buf, size);
	else if (err->step == NSRUN_STEP_IDMAP)
		idmap_text(err, buf, size);
	else
		rest_text(err, buf, size);
}
