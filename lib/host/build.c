/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/build.h"

#include <linux/audit.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/path.h"
#include "host/credentials.h"
#include "host/envpolicy.h"
#include "host/identity.h"
#include "host/server.h"
#include "host/session.h"
#include "host/site.h"
#include "host/stdio.h"
#include "policy/embedded.h"

#if defined __x86_64__
static const uint32_t our_arch = AUDIT_ARCH_X86_64;
#elif defined __aarch64__
static const uint32_t our_arch = AUDIT_ARCH_AARCH64;
#else
#error "the filters know x86_64 and aarch64"
#endif

int
nsrun_build_add(struct nsrun_build *b, enum nsrun_mount_kind kind,
    unsigned int flags, const char *source, const char *target)
{
	const struct nsrun_mount m = {
		.kind = kind, .flags = flags, .source = source,
		.target = target,
	};

	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

int
nsrun_build_bind(struct nsrun_build *b, unsigned int flags, const char *path,
    mode_t type)
{
	const struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND, .flags = flags, .source = path,
		.target = path, .type = type,
	};

	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

int
nsrun_build_make(struct nsrun_build *b, enum nsrun_mount_kind kind,
    const char *target, mode_t mode)
{
	const struct nsrun_mount m = {
		.kind = kind, .target = target, .mode = mode,
	};

	return nsrun_plan_add_mount(b->plan, &m, b->err);
}

const char *
nsrun_build_text(struct nsrun_build *b, const char *format, ...)
{
	char buf[8192];
	va_list ap;
	int n;
	const char *text;

	va_start(ap, format);
	n = vsnprintf(buf, sizeof buf, format, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof buf) {
		nsrun_err_rule(b->err, NSRUN_STEP_PLAN, "a path is too long",
		    NULL, NULL);
		return NULL;
	}
	text = nsrun_arena_dup(&b->plan->arena, buf, (size_t)n + 1);
	if (!text)
		nsrun_err_nomem(b->err, "plan");
	return text;
}

static int
check_kernel(struct nsrun_err *err)
{
	struct utsname name;

	if (nsrun_kernel_suffices(&name))
		return 0;
	return nsrun_err_rule(err, NSRUN_STEP_PLAN, "is older than Linux 5.14",
	    name.release, NULL);
}

/* May this home stand at its own path inside, and in /etc/passwd? */
static bool
is_usable_home(const struct nsrun_build *b, const char *home)
{
	if (nsrun_root_is_broad(home) && strcmp(home, "/root"))
		return false;
	for (const char *s = home; *s; s++)
		if (*s == ':' || (unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	for (size_t i = 0; i < b->profile->system.n; i++)
		if (nsrun_path_is_within(home, b->profile->system.v[i]))
			return false;
	return true;
}

static int
find_home(struct nsrun_build *b)
{
	char *real = nsrun_session_home();

	if (real && !(b->host_home = nsrun_build_text(b, "%s", real))) {
		free(real);
		return -1;
	}
	free(real);
	b->home = b->host_home && is_usable_home(b, b->host_home) ?
	    b->host_home : "/home/user";
	return 0;
}

/* A name for the command's uid: the caller's, where it is one. */
static int
find_user(struct nsrun_build *b)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *name = getenv("USER");

	b->user = "user";
	if (b->plan->identity.uid == 0)
		b->user = "root";
	else if (name && *name >= 'a' && *name <= 'z' &&
	    !name[strspn(name, letters)] && strlen(name) <= 32 &&
	    strcmp(name, "root") && strcmp(name, "nobody"))
		b->user = nsrun_build_text(b, "%s", name);
	b->shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
	return b->user ? 0 : -1;
}

static int
add_filter(struct nsrun_build *b, const char *name, const char *variant)
{
	const struct nsrun_filter *filter = NULL;

	if (nsrun_site_filter(&filter, &b->plan->arena, name, variant, our_arch,
	    b->err) < 0)
		return -1;
	if (!filter)
		return nsrun_err_rule(b->err, NSRUN_STEP_FILTER,
		    "there is no such filter", name, variant);
	return nsrun_plan_add_filter(b->plan, filter, b->err);
}

/* May a file of this root's belong to root, or its group, on the host? */
static bool
has_root_files(const struct nsrun_identity *who,
    const struct nsrun_granted *root)
{
	return root->writable && (who->host_uid == 0 || who->host_gid == 0 ||
	    (nsrun_identity_maps(who, &root->pin) &&
	    (root->pin.uid == 0 || root->pin.gid == 0)));
}

/*
 * A set-ID bit on such a file would be an escape: a second filter keeps it from
 * being made, and the scan refuses a file that has it already.
 */
static int
guard_root_files(struct nsrun_build *b)
{
	const struct nsrun_identity *who = &b->plan->identity;
	bool any = false;

	for (size_t i = 0; i < b->n_roots; i++)
		any |= has_root_files(who, &b->roots[i]);
	if (!any && who->host_uid != 0 && who->host_gid != 0)
		return 0;
	/* Who has namespaces inside could give files capabilities, too. */
	return add_filter(b, b->plan->nesting ? "nosetid-2" : "nosetid-1",
	    NULL);
}

/*
 * Sandboxes inside: only for ids that are not root's on the host, since /proc
 * has no covers then, and in a network of its own, where the capabilities that
 * the command can get are worth nothing outside.
 */
static int
set_nesting(struct nsrun_build *b)
{
	const char *rule = NULL;

	if (!b->request->nesting)
		return 0;
	if (!b->profile->nesting)
		rule = "is not permitted by the profile";
	else if (b->plan->identity.host_uid == 0)
		rule = "needs a host uid other than 0: --as UID:GID";
	else if (b->request->share_network)
		rule = "needs a network namespace, which this host refuses";
	if (rule)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION, rule,
		    "--nesting", "allow");
	b->plan->nesting = true;
	return 0;
}

static int
set_network(struct nsrun_build *b)
{
	struct nsrun_plan *plan = b->plan;

	plan->network = b->request->has_network ? b->request->network :
	    b->profile->network;
	if (nsrun_session_check(b->session, b->profile->name, plan->network,
	    b->err) < 0)
		return -1;
	if (!b->profile->networks[plan->network])
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "is not permitted by the profile", "--network",
		    nsrun_network_name(plan->network));
	if (b->request->share_network) {
		plan->namespaces &= ~(uint64_t)CLONE_NEWNET;
		if (nsrun_plan_add_fallback(plan, "network-namespace",
		    b->err) < 0)
			return -1;
	}
	plan->loopback = plan->namespaces & CLONE_NEWNET;
	if (set_nesting(b) < 0 || add_filter(b, plan->nesting ?
	    b->profile->nesting : b->profile->filter,
	    nsrun_network_name(plan->network)) < 0)
		return -1;
	return guard_root_files(b);
}

static int
set_limits(struct nsrun_build *b)
{
	char subject[64];

	for (int i = 0; i < NSRUN_N_LIMITS; i++) {
		const struct nsrun_limit *asked = &b->request->limits[i];
		struct nsrun_limit *limit = &b->plan->limits[i];

		*limit = b->profile->limits[i];
		if (!asked->set)
			continue;
		if (limit->set && asked->value > limit->value) {
			snprintf(subject, sizeof subject, "--limit %s",
			    nsrun_limit_name((enum nsrun_limit_kind)i));
			return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
			    "is higher than the profile's: a limit is only"
			    " lowered", subject, NULL);
		}
		*limit = *asked;
	}
	return 0;
}

static void
set_supervision(struct nsrun_build *b)
{
	b->plan->supervision = (struct nsrun_supervision){
		.timeout_ms = b->request->has_timeout ?
		    b->request->timeout_ms : b->profile->wall_ms,
		.max_output_bytes = b->request->max_output_bytes,
		.reports = b->request->reports,
		.watches_writes = b->plan->limits[NSRUN_LIMIT_WRITE].set ||
		    b->plan->limits[NSRUN_LIMIT_INODES].set,
		.thread_is_process = b->request->for_program,
	};
}

static int
add_tree(struct nsrun_build *b)
{
	const struct nsrun_mount root = {
		.kind = NSRUN_MOUNT_ROOT, .flags = NSRUN_MOUNT_RDONLY,
		.target = "/", .mode = 0755,
		.size_bytes = b->profile->tmpfs_size,
		.n_inodes = b->profile->tmpfs_inodes,
	};

	if (nsrun_plan_add_mount(b->plan, &root, b->err) < 0 ||
	    nsrun_build_system(b) < 0 || nsrun_build_etc(b) < 0 ||
	    nsrun_build_devices(b) < 0 || nsrun_build_private(b) < 0 ||
	    nsrun_build_proc(b) < 0 || nsrun_build_toolchains(b) < 0 ||
	    nsrun_build_credentials(b) < 0)
		return -1;
	if (nsrun_build_roots(b) < 0 || nsrun_build_git(b) < 0 ||
	    nsrun_build_walk(b) < 0 || nsrun_build_masks(b) < 0)
		return -1;
	/* With all that covers a place: it looks at what can be reached. */
	return nsrun_build_scan(b);
}

/* What is newer than the minimum kernel, or not on every file system. */
static int
add_features(struct nsrun_plan *plan, struct nsrun_err *err)
{
	for (size_t i = 0; i < plan->mounts.n; i++)
		if (plan->mounts.v[i].flags & NSRUN_MOUNT_IDMAPPED)
			return nsrun_plan_add_feature(plan, "idmapped-mounts",
			    err);
	return 0;
}

static int
set_environment(struct nsrun_build *b)
{
	const struct nsrun_env_facts facts = {
		.home = b->home, .user = b->user, .shell = b->shell,
		.cwd = b->plan->cwd,
		.project = b->project ? b->project->path : NULL,
		.temp = b->session->temp ? b->session->temp : "/tmp",
		.toolchains = &b->toolchains,
	};

	return nsrun_envpolicy_build(b->plan, b->session, b->profile,
	    b->request, &facts, b->err);
}

/* What is left of a plan where the site permits that there is no sandbox. */
static int
build_unsandboxed(struct nsrun_build *b)
{
	struct nsrun_plan *plan = b->plan;

	plan->namespaces = 0;
	plan->identity = (struct nsrun_identity){
		.uid = getuid(), .gid = getgid(),
		.host_uid = getuid(), .host_gid = getgid(),
		.keeps_root = getuid() == 0, .why_kept = "there is no sandbox",
	};
	plan->stdio[0] = b->request->stdin_null || b->profile->stdin_null ?
	    NSRUN_STDIO_NULL : NSRUN_STDIO_INHERIT;
	if (nsrun_session_check(b->session, b->profile->name,
	    NSRUN_NETWORK_DENIED, b->err) < 0 ||
	    nsrun_build_open_roots(b) < 0 || find_user(b) < 0 ||
	    nsrun_build_cwd(b) < 0)
		return -1;
	set_supervision(b);
	if (set_environment(b) < 0)
		return -1;
	return nsrun_plan_set_argv(plan, b->request->argv, b->err);
}

static int
build(struct nsrun_build *b)
{
	struct nsrun_plan *plan = b->plan;

	plan->profile = nsrun_build_text(b, "%s", b->profile->name);
	plan->hostname = b->profile->hostname ? nsrun_build_text(b, "%s",
	    b->profile->hostname) : "sandbox";
	if (!plan->profile || !plan->hostname)
		return -1;
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		plan->namespaces |= nsrun_namespaces[i].flag;
	if (b->request->host_temp && !b->request->temp &&
	    !b->request->only_explains)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "is made by oc-nsrun, not by the library", "--temp host",
		    NULL);
	if (!b->request->argv || !*b->request->argv)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "no command given", NULL, NULL);
	if (find_home(b) < 0 || (!b->session && nsrun_session_new(
	    &b->own_session, b->request, b->host_home, b->err) < 0))
		return -1;
	if (b->own_session)
		b->session = b->own_session;
	if (nsrun_session_boundary(b->session, b->profile, b->request,
	    &plan->boundary, b->err) < 0)
		return -1;
	if (plan->boundary != NSRUN_BOUNDARY_SANDBOX)
		return build_unsandboxed(b);
	if (nsrun_build_git_command(b) < 0 || nsrun_build_open_roots(b) < 0 ||
	    nsrun_identity_decide(plan, b->request, b->project, b->roots,
	    b->n_roots, b->err) < 0 || nsrun_build_overlay(b) < 0 ||
	    find_user(b) < 0 || nsrun_build_cwd(b) < 0 ||
	    set_network(b) < 0 || set_limits(b) < 0 ||
	    nsrun_build_cgroup(b) < 0 ||
	    nsrun_stdio_decide(plan, b->request, b->profile->stdin_null,
	    b->err) < 0)
		return -1;
	set_supervision(b);
	if (add_tree(b) < 0 || set_environment(b) < 0 ||
	    nsrun_build_server(b) < 0)
		return -1;
	if (add_features(plan, b->err) < 0)
		return -1;
	return nsrun_plan_set_argv(plan, b->request->argv, b->err);
}

/* The plan is there: fill it, for a session's launch with what that grants. */
static int
fill(struct nsrun_build *b)
{
	struct nsrun_request whole;
	int rc;

	nsrun_plan_init(b->plan);
	if (b->session) {
		if (nsrun_session_request(&whole, &b->plan->arena, b->session,
		    b->request, b->err) < 0)
			return -1;
		b->request = &whole;
	}
	rc = build(b);
	if (rc == 0 && b->plan->boundary == NSRUN_BOUNDARY_SANDBOX)
		rc = nsrun_plan_check(b->plan, b->err);
	for (size_t i = 0; i < b->n_roots; i++)
		nsrun_fd_close(&b->roots[i].pin.fd);
	nsrun_overlay_cancel(&b->overlay_maker);
	nsrun_fd_close(&b->lower_fd);
	nsrun_build_walk_deinit(b);
	nsrun_session_free(b->own_session);
	return rc;
}

int
nsrun_build_plan(struct nsrun_plan **plan, const struct nsrun_session *session,
    const struct nsrun_request *request, struct nsrun_err *err)
{
	struct nsrun_profile profile;
	struct nsrun_build b = {
		.session = session, .request = request, .home_fd = -1,
		.overlay_maker = NSRUN_OVERLAY_MAKER_INIT,
		.lower_fd = -1, .merged_fd = -1, .err = err,
	};
	int rc = -1;

	*plan = NULL;
	if (check_kernel(err) < 0 || nsrun_site_profile(&profile,
	    request->profile ? request->profile : "shell", err) < 0)
		return -1;
	b.profile = &profile;
	b.plan = malloc(sizeof *b.plan);
	rc = b.plan ? fill(&b) : nsrun_err_nomem(err, "plan");
	nsrun_profile_deinit(&profile);
	if (rc < 0) {
		nsrun_plan_free(b.plan);
		return -1;
	}
	*plan = b.plan;
	return 0;
}

int
nsrun_plan_new(struct nsrun_plan **plan, const struct nsrun_request *request,
    struct nsrun_err *err)
{
	return nsrun_build_plan(plan, NULL, request, err);
}

void
nsrun_plan_free(struct nsrun_plan *plan)
{
	if (!plan)
		return;
	nsrun_plan_deinit(plan);
	free(plan);
}
