/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/idmapped.h"
#include "base/sys.h"
#include "host/keys.h"

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

/* Is somebody asked for by number or by name? */
static bool
is_named(const struct nsrun_request *request)
{
	return request->as == NSRUN_AS_IDS || request->as == NSRUN_AS_USER ||
	    request->as == NSRUN_AS_KEY;
}

static int
find_user(const char *name, uid_t *uid, gid_t *gid, struct nsrun_err *err)
{
	struct passwd space, *account = NULL;
	char text[16384];

	errno = getpwnam_r(name, &space, text, sizeof text, &account);
	if (errno)
		return nsrun_err_sys(err, NSRUN_STEP_IDENTITY, "getpwnam_r",
		    "--as", name);
	if (!account)
		return nsrun_err_rule(err, NSRUN_STEP_IDENTITY,
		    "is no user of this host", "--as", name);
	if (account->pw_uid == 0 || account->pw_gid == 0)
		return nsrun_err_rule(err, NSRUN_STEP_IDENTITY, "has id 0,"
		    " which is none to change to", "--as", name);
	*uid = account->pw_uid;
	*gid = account->pw_gid;
	return 0;
}

/* Recorded by the program: building a plan changes nothing. */
static int
find_key(const struct nsrun_request *request, uid_t *uid, gid_t *gid,
    struct nsrun_err *err)
{
	int rc = nsrun_key_find(request->as_name, false, uid, gid, err);

	if (rc == 0 && !request->only_explains)
		rc = nsrun_err_rule(err, NSRUN_STEP_IDENTITY, "has no ids yet:"
		    " oc-nsrun run gives it some", "key", request->as_name);
	return rc < 0 ? -1 : 0;
}

int
nsrun_identity_record(const struct nsrun_request *request,
    struct nsrun_err *err)
{
	uid_t uid;
	gid_t gid;

	return request->as != NSRUN_AS_KEY || nsrun_key_find(request->as_name,
	    true, &uid, &gid, err) >= 0 ? 0 : -1;
}

/* Whoever is_named(). */
static int
find_named(const struct nsrun_request *request, uid_t *uid, gid_t *gid,
    struct nsrun_err *err)
{
	if (request->as == NSRUN_AS_USER)
		return find_user(request->as_name, uid, gid, err);
	if (request->as == NSRUN_AS_KEY)
		return find_key(request, uid, gid, err);
	*uid = request->as_uid;
	*gid = request->as_gid;
	return 0;
}

/* The ids of the project's owner, or nobody's. */
static void
choose_ids(const struct nsrun_granted *project, uid_t *uid, gid_t *gid)
{
	*uid = NSRUN_UNPRIVILEGED_ID;
	*gid = NSRUN_UNPRIVILEGED_ID;
	if (project && project->pin.uid != 0) {
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
	struct nsrun_err ignored = NSRUN_ERR_INIT;
	struct stat st;
	bool has = request->project && stat(request->project, &st) == 0;

	*uid = geteuid();
	*gid = getegid();
	if (*uid != 0 || request->as == NSRUN_AS_KEEP || (is_named(request) &&
	    find_named(request, uid, gid, &ignored) == 0))
		return;
	if (has) {
		project.pin.uid = st.st_uid;
		project.pin.gid = st.st_gid;
	}
	choose_ids(has ? &project : NULL, uid, gid);
}

static int
decide_root(struct nsrun_identity *who, const struct nsrun_request *request,
    const struct nsrun_granted *project, const struct nsrun_granted *roots,
    size_t n, struct nsrun_err *err)
{
	const char *why;
	uid_t uid;
	gid_t gid;

	choose_ids(project, &uid, &gid);
	if (is_named(request) && find_named(request, &uid, &gid, err) < 0)
		return -1;
	why = request->as == NSRUN_AS_KEEP ? "asked for with --as keep" :
	    try_leave(who, uid, gid, roots, n);
	if (!why)
		return 0;
	/* What was asked for by name is done or refused, never replaced. */
	if (request->as == NSRUN_AS_OWNER || is_named(request))
		return refuse(err, why);
	keep_ids(who, why);
	return 0;
}

/*
 * Can another user with these ids write it, as far as the modes tell? What an
 * access list says is not known.
 */
static bool
may_write(const struct nsrun_granted *root, uid_t uid, gid_t gid)
{
	struct stat st;

	if (fstat(root->pin.fd, &st) < 0 || st.st_uid == uid)
		return true;
	if (getxattr(root->path, "system.posix_acl_access", NULL, 0) > 0)
		return true;
	return st.st_mode & (st.st_gid == gid ? S_IWGRP : S_IWOTH);
}

/*
 * A key of an ordinary user's: newuidmap(1) maps its ids, which are set before
 * anything is made, so that what is made is the key's. The caller's own ids are
 * in the map too, for the capabilities that lead to the caller's files while
 * the tree is built. None of the caller's groups remains.
 */
static int
decide_key(struct nsrun_identity *who, const struct nsrun_request *request,
    const struct nsrun_granted *roots, size_t n, struct nsrun_err *err)
{
	char rule[128];
	uid_t uid;
	gid_t gid;

	if (find_key(request, &uid, &gid, err) < 0)
		return -1;
	/* What is made on the host for the key has to be given to it. */
	if (request->host_temp || request->home == NSRUN_HOME_PRIVATE ||
	    request->keeps_overlay)
		return refuse(err, "a key with --temp host, --home private or"
		    " --home-keep is only for root");
	for (size_t i = 0; i < n; i++)
		if (roots[i].writable && !may_write(&roots[i], uid, gid)) {
			snprintf(rule, sizeof rule, "is not writable for the"
			    " key: setfacl -m u:%u:rwx, or grant it with --ro",
			    (unsigned int)uid);
			return nsrun_err_rule(err, NSRUN_STEP_IDENTITY, rule,
			    roots[i].path, NULL);
		}
	*who = (struct nsrun_identity){
		.uid = uid, .host_uid = uid, .gid = gid, .host_gid = gid,
		.asks_for_maps = true, .sets_ids_first = true,
		.sets_groups = true,
	};
	return 0;
}

static int
decide_user(struct nsrun_identity *who, const struct nsrun_request *request,
    const struct nsrun_granted *project, const struct nsrun_granted *roots,
    size_t n, struct nsrun_err *err)
{
	uid_t uid;
	gid_t gid;

	if (request->as == NSRUN_AS_KEY)
		return decide_key(who, request, roots, n, err);
	keep_ids(who, NULL);
	if (request->as == NSRUN_AS_OWNER && project &&
	    project->pin.uid != who->host_uid)
		return refuse(err, "the project has another owner, and only"
		    " root can become somebody else");
	if (!is_named(request))
		return 0;
	if (find_named(request, &uid, &gid, err) < 0)
		return -1;
	if (uid != who->host_uid || gid != who->host_gid)
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
	    decide_user(who, request, project, roots, n, err);

	if (rc < 0)
		return -1;
	if (request->as == NSRUN_AS_KEY && !(who->key = nsrun_arena_strdup(
	    &plan->arena, request->as_name)))
		return nsrun_err_nomem(err, "key");
	/* kernel.shm* of the new ipc namespace obey only its uid 0. */
	who->lock_namespaces = true;
	if (nsrun_plan_add_idrange(plan, &plan->uid_map,
	    (struct nsrun_idrange){ 0, who->host_uid, 1 }, err) < 0 ||
	    nsrun_plan_add_idrange(plan, &plan->gid_map,
	    (struct nsrun_idrange){ 0, who->host_gid, 1 }, err) < 0)
		return -1;
	if (who->asks_for_maps && (nsrun_plan_add_idrange(plan, &plan->uid_map,
	    (struct nsrun_idrange){ 1, geteuid(), 1 }, err) < 0 ||
	    nsrun_plan_add_idrange(plan, &plan->gid_map,
	    (struct nsrun_idrange){ 1, getegid(), 1 }, err) < 0))
		return -1;
	return 0;
}
