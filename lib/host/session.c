/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/session.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "host/envpolicy.h"
#include "host/grants.h"

static const char not_granted[] =
    "is not granted by " NSRUN_CONFIG_DIR "/oc-nsrun.conf";

static int
by_depth(const void *a, const void *b)
{
	const struct nsrun_granted *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* The same place twice: only if it is the same grant. */
static int
check_twice(const struct nsrun_session *s, struct nsrun_err *err)
{
	for (size_t i = 1; i < s->n_roots; i++)
		if (!strcmp(s->roots[i].path, s->roots[i - 1].path) &&
		    s->roots[i].writable != s->roots[i - 1].writable)
			return nsrun_err_rule(err, NSRUN_STEP_ROOT,
			    "is granted both read-only and writable",
			    s->roots[i].path, NULL);
	return 0;
}

static int
check_root(const struct nsrun_session *s, const struct nsrun_granted *root,
    enum nsrun_step step, struct nsrun_err *err)
{
	const struct nsrun_config *c = &s->config;

	if (!c->present || (step == NSRUN_STEP_PROJECT ?
	    nsrun_allowed_path(&c->projects, root->path) :
	    nsrun_allowed_path(&c->read_write, root->path) ||
	    (!root->writable && nsrun_allowed_path(&c->read_only, root->path))))
		return 0;
	return nsrun_err_rule(err, step, not_granted, root->path, NULL);
}

static int
add_root(struct nsrun_session *s, const char *path, bool writable,
    const char *home, enum nsrun_step step, struct nsrun_err *err)
{
	struct nsrun_granted *v = nsrun_arena_grow(&s->arena, s->roots,
	    s->n_roots, sizeof *v);

	if (!v)
		return nsrun_err_nomem(err, path);
	s->roots = v;
	if (nsrun_root_open(&v[s->n_roots], &s->arena, path, writable, home,
	    step, err) < 0)
		return -1;
	s->n_roots++;
	return 0;
}

static int
open_root(struct nsrun_session *s, const char *path, bool writable,
    const char *home, enum nsrun_step step, struct nsrun_err *err)
{
	if (add_root(s, path, writable, home, step, err) < 0)
		return -1;
	return check_root(s, &s->roots[s->n_roots - 1], step, err);
}

/*
 * Open the project and the extra roots, and put them in order: a parent before
 * what is below it, so that the deeper grant holds whatever the order of the
 * options. In byte order a path stands before every path that continues it.
 */
static int
open_roots(struct nsrun_session *s, const struct nsrun_request *r,
    const struct nsrun_grants *grants, const char *home, struct nsrun_err *err)
{
	const char *project = NULL;

	for (size_t i = 0; i < grants->read_only.n; i++)
		if (open_root(s, grants->read_only.v[i], false, home,
		    NSRUN_STEP_ROOT, err) < 0)
			return -1;
	for (size_t i = 0; i < grants->read_write.n; i++)
		if (open_root(s, grants->read_write.v[i], true, home,
		    NSRUN_STEP_ROOT, err) < 0)
			return -1;
	for (size_t i = 0; i < r->n_roots; i++)
		if (open_root(s, r->roots[i].path, r->roots[i].writable, home,
		    NSRUN_STEP_ROOT, err) < 0)
			return -1;
	/* Ours, so no grant of the site's is asked for. */
	if (r->temp) {
		if (add_root(s, r->temp, true, home, NSRUN_STEP_ROOT, err) < 0)
			return -1;
		s->temp = s->roots[s->n_roots - 1].path;
	}
	if (r->project) {
		if (open_root(s, r->project, true, home, NSRUN_STEP_PROJECT,
		    err) < 0)
			return -1;
		project = s->roots[s->n_roots - 1].path;
	}
	if (s->n_roots)
		qsort(s->roots, s->n_roots, sizeof *s->roots, by_depth);
	for (size_t i = 0; project && i < s->n_roots; i++)
		if (s->roots[i].path == project)
			s->project = &s->roots[i];
	return check_twice(s, err);
}

static int
check_words(const struct nsrun_session *s, const struct nsrun_words *words,
    const struct nsrun_allowed *allowed, enum nsrun_step step,
    struct nsrun_err *err)
{
	for (size_t i = 0; s->config.present && i < words->n; i++)
		if (!nsrun_allowed_word(allowed, words->v[i]))
			return nsrun_err_rule(err, step, not_granted,
			    words->v[i], NULL);
	return 0;
}

/* What the command line names, beside the roots. */
static int
check_variables(const struct nsrun_session *s, const struct nsrun_request *r,
    struct nsrun_err *err)
{
	const struct nsrun_config *c = &s->config;

	for (size_t i = 0; c->present && i < r->n_variables; i++)
		if (!nsrun_allowed_word(&c->env, r->variables[i].name) &&
		    !(r->server && nsrun_allowed_word(&c->server_env,
		    r->variables[i].name)))
			return nsrun_err_rule(err, NSRUN_STEP_ENVIRONMENT,
			    not_granted, r->variables[i].name, NULL);
	return 0;
}

/* Values as they are now: what becomes of the environment changes nothing. */
static int
read_variables(struct nsrun_session *s, struct nsrun_err *err)
{
	s->env_values = nsrun_arena_alloc(&s->arena, (s->env.n + 1) *
	    sizeof *s->env_values);
	if (!s->env_values)
		return nsrun_err_nomem(err, "environment");
	for (size_t i = 0; i < s->env.n; i++) {
		const char *name = s->env.v[i], *value = getenv(name);

		if (!value)
			continue;
		if (!nsrun_text_is_utf8(value))
			return nsrun_err_rule(err, NSRUN_STEP_ENVIRONMENT,
			    "has a value that is not UTF-8", name, NULL);
		s->env_values[i] = nsrun_arena_strdup(&s->arena, value);
		if (!s->env_values[i])
			return nsrun_err_nomem(err, name);
	}
	return 0;
}

static int
fill(struct nsrun_session *s, const struct nsrun_request *r, const char *home,
    struct nsrun_err *err)
{
	struct nsrun_grants grants;

	s->owner = getuid();
	if (r->probes)
		return 0;
	if (nsrun_config_load(&s->config, err) < 0 ||
	    nsrun_grants_read(&grants, &s->arena, err) < 0)
		return -1;
	s->env = grants.env;
	s->server_env = grants.server_env;
	s->servers = grants.servers;
	s->masks = grants.masks;
	s->network_denied = grants.network_denied;
	s->unsandboxed = grants.unsandboxed;
	s->trusts_hooks = grants.trusts_hooks;
	for (size_t i = 0; i < s->config.masks.n; i++)
		if (nsrun_words_add(&s->masks, &s->arena,
		    s->config.masks.v[i]) < 0)
			return nsrun_err_nomem(err, "masks");
	if (check_words(s, &s->env, &s->config.env, NSRUN_STEP_ENVIRONMENT,
	    err) < 0 ||
	    check_words(s, &s->server_env, &s->config.server_env,
	    NSRUN_STEP_ENVIRONMENT, err) < 0 ||
	    check_words(s, &s->servers, &s->config.servers, NSRUN_STEP_OPTION,
	    err) < 0 ||
	    check_variables(s, r, err) < 0 || read_variables(s, err) < 0)
		return -1;
	if (r->nesting && s->config.present && !s->config.nesting)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, not_granted,
		    "--nesting", "allow");
	return open_roots(s, r, &grants, home, err);
}

char *
nsrun_session_home(void)
{
	const char *home = getenv("HOME");
	struct passwd account, *found = NULL;
	char text[4096];

	/* Not getpwuid(): a host may have threads. */
	if ((!home || *home != '/') && getpwuid_r(getuid(), &account, text,
	    sizeof text, &found) == 0 && found)
		home = account.pw_dir;
	return home && *home == '/' ? realpath(home, NULL) : NULL;
}

int
nsrun_session_new(struct nsrun_session **session,
    const struct nsrun_request *request, const char *home,
    struct nsrun_err *err)
{
	struct nsrun_session *s = calloc(1, sizeof *s);

	*session = NULL;
	if (!s)
		return nsrun_err_nomem(err, "session");
	if (fill(s, request, home, err) < 0) {
		nsrun_session_free(s);
		return -1;
	}
	*session = s;
	return 0;
}

void
nsrun_session_free(struct nsrun_session *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_roots; i++)
		nsrun_fd_close(&s->roots[i].pin.fd);
	nsrun_config_deinit(&s->config);
	nsrun_arena_deinit(&s->arena);
	free(s);
}

int
nsrun_session_check(const struct nsrun_session *s, const char *profile,
    enum nsrun_network network, struct nsrun_err *err)
{
	const struct nsrun_config *c = &s->config;

	if (c->present && !nsrun_allowed_word(&c->profiles, profile))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, not_granted,
		    "--profile", profile);
	if (network == NSRUN_NETWORK_DENIED)
		return 0;
	if (s->network_denied)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is not granted by OPENCLAUDIA_AGENT_NETWORK", "--network",
		    nsrun_network_name(network));
	if (c->present && !c->networks[network])
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, not_granted,
		    "--network", nsrun_network_name(network));
	return 0;
}

/* Options that would not be what they say without a sandbox. */
static int
check_unsandboxed(const struct nsrun_profile *profile,
    const struct nsrun_request *r, struct nsrun_err *err)
{
	const char *option = r->home ? "--home" :
	    r->keeps_overlay ? "--home-keep" :
	    r->n_credentials ? "--credential" :
	    r->returns_credentials ? "--credential-return" :
	    r->overlay ? "--overlay-project" :
	    r->max_output_bytes ? "--max-output" :
	    r->n_masks ? "--mask" : r->on_hazard ? "--on-hazard" :
	    profile->git == NSRUN_GIT_WORKTREE ? "git" :
	    r->as != NSRUN_AS_DEFAULT && r->as != NSRUN_AS_KEEP ? "--as" :
	    r->cgroup_use != NSRUN_CGROUP_AUTO ? "--cgroup" :
	    r->has_network ? "--network" : r->nesting ? "--nesting" :
	    r->server ? "--server" : NULL;

	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (r->limits[i].set)
			option = "--limit";
	return option ? nsrun_err_rule(err, NSRUN_STEP_OPTION,
	    "holds in a sandbox only", option, NULL) : 0;
}

int
nsrun_session_boundary(const struct nsrun_session *s,
    const struct nsrun_profile *profile, const struct nsrun_request *r,
    enum nsrun_boundary *boundary, struct nsrun_err *err)
{
	const char *name = nsrun_boundary_name(r->hook_mode);

	*boundary = s->unsandboxed ? NSRUN_BOUNDARY_UNSANDBOXED : r->hook_mode;
	if (r->has_hook_mode && !profile->is_hook)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "belongs to a profile of hooks", "--hook-mode", NULL);
	if (*boundary == NSRUN_BOUNDARY_SANDBOX)
		return 0;
	if (*boundary == NSRUN_BOUNDARY_UNSANDBOXED)
		name = "OPENCLAUDIA_BASH_SANDBOX=off";
	else if (!s->trusts_hooks)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "needs"
		    " OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS=true in the host's"
		    " environment", name, NULL);
	if (!s->config.permits[*boundary])
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "needs"
		    " the permission of " NSRUN_CONFIG_DIR "/oc-nsrun.conf",
		    name, NULL);
	return check_unsandboxed(profile, r, err);
}
