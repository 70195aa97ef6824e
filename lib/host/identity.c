/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/idmapped.h"
#include "base/sys.h"

static bool
has_capability(int cap)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capget, &header, data) == 0 &&
	    data[CAP_TO_INDEX(cap)].effective & CAP_TO_MASK(cap);
}

/*
 * Is our uid 0 the host's, or only that of a user namespace? *whole: the map
 * is the initial namespace's, of every id.
 */
static bool
is_host_root(bool *whole)
{
	unsigned long inside = 0, outside = 0, count = 0;
	char *map, *s;

	*whole = false;
	if (geteuid() != 0)
		return false;
	s = map = nsrun_file_read("/proc/self/uid_map", 4096);
	if (map) {
		inside = strtoul(s, &s, 10);
		outside = strtoul(s, &s, 10);
		count = strtoul(s, &s, 10);
	}
	free(map);
	*whole = !inside && !outside && count == UINT32_MAX;
	return !inside && !outside;
}

bool
nsrun_identity_is_host_root(void)
{
	bool whole;

	return is_host_root(&whole);
}

bool
nsrun_identity_can_mount(void)
{
	return has_capability(CAP_SYS_ADMIN);
}

bool
nsrun_identity_maps(const struct nsrun_identity *who,
    const struct nsrun_pin *pin)
{
	return who->clones_trees && pin->uid != who->host_uid;
}

const char *
nsrun_identity_try_maps(const struct nsrun_identity *who,
    const struct nsrun_granted *roots, size_t n)
{
	nsrun_autoclose int proc_fd = open("/proc", O_PATH | O_CLOEXEC);
	const char *call;

	for (size_t i = 0; i < n; i++) {
		const struct nsrun_pin *pin = &roots[i].pin;
		nsrun_autoclose int idmap_fd = -1, tree = -1;

		if (!nsrun_identity_maps(who, pin))
			continue;
		idmap_fd = nsrun_idmap_open(proc_fd, pin->uid, who->host_uid,
		    pin->gid, who->host_gid);
		if (idmap_fd < 0)
			return "this host refuses the id map of a mount";
		tree = nsrun_tree_clone(pin->fd, NULL, !roots[i].writable, 0,
		    idmap_fd, &call);
		if (tree < 0)
			return "a root is on a file system without idmapped"
			    " mounts";
	}
	return NULL;
}

/* Would the ids we change to still be allowed a user namespace? */
static const char *
why_no_userns(void)
{
	if (nsrun_file_number("/proc/sys/kernel/unprivileged_userns_clone")
	    == 0)
		return "kernel.unprivileged_userns_clone is 0";
	if (nsrun_file_number("/proc/sys/kernel/"
	    "apparmor_restrict_unprivileged_userns") == 1)
		return "kernel.apparmor_restrict_unprivileged_userns is 1";
	return NULL;
}

/* Leave uid 0 for the given ids. Returns why it cannot be, or NULL. */
static const char *
try_leave(struct nsrun_identity *who, uid_t uid, gid_t gid,
    const struct nsrun_granted *roots, size_t n)
{
	const char *why = why_no_userns();
	bool whole;

	if (why)
		return why;
	if (!is_host_root(&whole) || !whole)
		return "this uid 0 is only a user namespace's";
	if (!has_capability(CAP_SETUID) || !has_capability(CAP_SETGID))
		return "CAP_SETUID or CAP_SETGID is missing";
	*who = (struct nsrun_identity){
		.uid = uid, .host_uid = uid, .gid = gid, .host_gid = gid,
		.leaves_root = true, .clones_trees = true,
	};
	if (!has_capability(CAP_SYS_ADMIN)) {
		/* Then only what the new ids own and reach can be used. */
		who->clones_trees = false;
		for (size_t i = 0; i < n; i++)
			if (roots[i].pin.uid != uid)
				return "CAP_SYS_ADMIN is missing";
		return NULL;
	}
	return nsrun_identity_try_maps(who, roots, n);
}

static void
keep_ids(struct nsrun_identity *who, const char *why)
{
	bool whole;

	*who = (struct nsrun_identity){
		.uid = geteuid(), .host_uid = geteuid(),
		.gid = getegid(), .host_gid = getegid(),
		.keeps_root = geteuid() == 0,
		/* The kernel exempts the host's uid 0 from RLIMIT_NPROC. */
		.unlimited = is_host_root(&whole),
		.why_kept = geteuid() == 0 ? why : NULL,
	};
}

static int
refuse(struct nsrun_err *err, const char *why)
{
	return nsrun_err_rule(err, NSRUN_STEP_IDENTITY, why, "--as", NULL);
}

/* The ids asked for, or those of the project's owner, or nobody's. */
static void
choose_ids(const struct nsrun_request *request,
    const struct nsrun_granted *project, uid_t *uid, gid_t *gid)
{
	*uid = NSRUN_UNPRIVILEGED_ID;
	*gid = NSRUN_UNPRIVILEGED_ID;
	if (request->as == NSRUN_AS_IDS) {
		*uid = request->as_uid;
		*gid = request->as_gid;
	} else if (project && project->pin.uid != 0) {
		*uid = project->pin.uid;
		if (project->pin.gid != 0)
			*gid = project->pin.gid;
	}
}

void
nsrun_identity_expect(const struct nsrun_request *request, uid_t *uid,
    gid_t *gid)
{
	struct nsrun_granted project = { .pin.fd = -1 };
	struct stat st;
	bool has = request->project && stat(request->project, &st) == 0;

	*uid = geteuid();
	*gid = getegid();
	if (*uid != 0 || request->as == NSRUN_AS_KEEP)
		return;
	if (has) {
		project.pin.uid = st.st_uid;
		project.pin.gid = st.st_gid;
	}
	choose_ids(request, has ? &project : NULL, uid, gid);
}

static int
decide_root(struct nsrun_identity *who, const struct nsrun_request *request,
    const struct nsrun_granted *project, const struct nsrun_granted *roots,
    size_t n, struct nsrun_err *err)
{
	const char *why;
	uid_t uid;
	gid_t gid;

	choose_ids(request, project, &uid, &gid);
	why = request->as == NSRUN_AS_KEEP ? "asked for with --as keep" :
	    try_leave(who, uid, gid, roots, n);
	if (!why)
		return 0;
	/* What was asked for by name is done or refused, never replaced. */
	if (request->as == NSRUN_AS_OWNER || request->as == NSRUN_AS_IDS)
		return refuse(err, why);
	keep_ids(who, why);
	return 0;
}

static int
decide_user(struct nsrun_identity *who, const struct nsrun_request *request,
    const struct nsrun_granted *project, struct nsrun_err *err)
{
	keep_ids(who, NULL);
	if (request->as == NSRUN_AS_OWNER && project &&
	    project->pin.uid != who->host_uid)
		return refuse(err, "the project has another owner, and only"
		    " root can become somebody else");
	if (request->as == NSRUN_AS_IDS && (request->as_uid != who->host_uid ||
	    request->as_gid != who->host_gid))
		return refuse(err, "only root can become somebody else");
	return 0;
}

int
nsrun_identity_decide(struct nsrun_plan *plan,
    const struct nsrun_request *request, const struct nsrun_granted *project,
    const struct nsrun_granted *roots, size_t n, struct nsrun_err *err)
{
	struct nsrun_identity *who = &plan->identity;
	int rc = geteuid() == 0 ?
	    decide_root(who, request, project, roots, n, err) :
	    decide_user(who, request, project, err);

	if (rc < 0)
		return -1;
	/* kernel.shm* of the new ipc namespace obey only its uid 0. */
	who->lock_namespaces = true;
	if (nsrun_plan_add_idrange(plan, &plan->uid_map,
	    (struct nsrun_idrange){ 0, who->host_uid, 1 }, err) < 0 ||
	    nsrun_plan_add_idrange(plan, &plan->gid_map,
	    (struct nsrun_idrange){ 0, who->host_gid, 1 }, err) < 0)
		return -1;
	return 0;
}
