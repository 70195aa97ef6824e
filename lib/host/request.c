/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "host/credentials.h"
#include "host/envpolicy.h"
#include "host/home.h"
#include "host/keys.h"
#include "host/masks.h"
#include "host/server.h"
#include "host/store.h"

struct nsrun_request *
nsrun_request_new(void)
{
	struct nsrun_request *request = calloc(1, sizeof *request);

	if (request)
		request->cgroup_use = NSRUN_CGROUP_AUTO;
	return request;
}

void
nsrun_request_free(struct nsrun_request *request)
{
	if (!request)
		return;
	nsrun_arena_deinit(&request->arena);
	free(request);
}

static int
bad(struct nsrun_err *err, const char *rule, const char *value)
{
	return nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, value, NULL);
}

static int
copy(struct nsrun_request *r, const char **slot, const char *value,
    struct nsrun_err *err)
{
	*slot = nsrun_arena_strdup(&r->arena, value);
	return *slot ? 0 : nsrun_err_nomem(err, value);
}

static int
set_profile(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	return copy(r, &r->profile, value, err);
}

static int
set_project(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	return copy(r, &r->project, value, err);
}

static int
set_cwd(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	return copy(r, &r->cwd, value, err);
}

static int
add_root(struct nsrun_request *r, const char *value, bool writable,
    struct nsrun_err *err)
{
	struct nsrun_root *v = nsrun_arena_grow(&r->arena, r->roots, r->n_roots,
	    sizeof *v);

	if (!v)
		return nsrun_err_nomem(err, value);
	r->roots = v;
	v[r->n_roots] = (struct nsrun_root){ .writable = writable };
	return copy(r, &v[r->n_roots++].path, value, err);
}

static int
add_ro(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	return add_root(r, value, false, err);
}

static int
add_rw(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	return add_root(r, value, true, err);
}

static int
add_env(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	size_t n = strcspn(value, "=");
	struct nsrun_variable *v = nsrun_arena_grow(&r->arena, r->variables,
	    r->n_variables, sizeof *v);
	char *name = nsrun_arena_printf(&r->arena, "%.*s", (int)n, value);

	if (!v || !name)
		return nsrun_err_nomem(err, "environment");
	/* A credential may be granted to a server: known only in the plan. */
	if ((value[n] ? nsrun_envpolicy_check_name(name, err) :
	    nsrun_envpolicy_check_injection(name, err)) < 0)
		return -1;
	r->variables = v;
	v[r->n_variables] = (struct nsrun_variable){ .name = name };
	if (value[n] == '=' && copy(r, &v[r->n_variables].value, value + n + 1,
	    err) < 0)
		return -1;
	r->n_variables++;
	return 0;
}

static int
set_as(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	static const char rule[] = "is neither keep, owner, user:NAME, key:NAME"
	    " nor UID:GID";
	const char *colon = strchr(value, ':');
	uint64_t uid, gid;
	char text[16];

	if (!strcmp(value, "keep") || !strcmp(value, "owner")) {
		r->as = *value == 'k' ? NSRUN_AS_KEEP : NSRUN_AS_OWNER;
		return 0;
	}
	if (!strncmp(value, "key:", 4)) {
		r->as = NSRUN_AS_KEY;
		return nsrun_key_check(value + 4, err) < 0 ? -1 :
		    copy(r, &r->as_name, value + 4, err);
	}
	if (!strncmp(value, "user:", 5) && value[5]) {
		r->as = NSRUN_AS_USER;
		return copy(r, &r->as_name, value + 5, err);
	}
	if (!colon || colon - value >= (ptrdiff_t)sizeof text)
		return bad(err, rule, value);
	memcpy(text, value, (size_t)(colon - value));
	text[colon - value] = '\0';
	/* -1 means "no change" to setresuid(2). */
	if (nsrun_number_parse(text, UINT32_MAX - 1, &uid) < 0 ||
	    nsrun_number_parse(colon + 1, UINT32_MAX - 1, &gid) < 0)
		return bad(err, rule, value);
	if (uid == 0 || gid == 0)
		return bad(err, "0 is not an id to change to (keep keeps it)",
		    value);
	r->as = NSRUN_AS_IDS;
	r->as_uid = (uid_t)uid;
	r->as_gid = (gid_t)gid;
	return 0;
}

static int
set_temp(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	if (strcmp(value, "host") && strcmp(value, "private"))
		return bad(err, "is neither private nor host", value);
	r->host_temp = *value == 'h';
	return 0;
}

static int
set_overlay(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	if (strcmp(value, NSRUN_REQUEST_OWN) &&
	    nsrun_store_check_name(value, err) < 0)
		return -1;
	return copy(r, &r->overlay, value, err);
}

static int
set_server(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	if (nsrun_server_check(value, err) < 0)
		return -1;
	return copy(r, &r->server, value, err);
}

static int
set_hook_mode(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	static const struct {
		const char *name;
		enum nsrun_boundary boundary;
	} modes[] = {
		{ "full", NSRUN_BOUNDARY_SANDBOX },
		{ "env-scrub", NSRUN_BOUNDARY_HOOK_ENV_SCRUB },
		{ "none", NSRUN_BOUNDARY_HOOK_NONE },
	};

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].name, value)) {
			r->hook_mode = modes[i].boundary;
			r->has_hook_mode = true;
			return 0;
		}
	return bad(err, "is neither full, env-scrub nor none", value);
}

static int
set_stdin(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	if (strcmp(value, "null"))
		return bad(err, "standard input can only be null", value);
	r->stdin_null = true;
	return 0;
}

static int
set_network(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	for (int i = 0; i < NSRUN_N_NETWORKS; i++)
		if (!strcmp(value, nsrun_network_name((enum nsrun_network)i))) {
			r->network = (enum nsrun_network)i;
			r->has_network = true;
			return 0;
		}
	return bad(err, "is neither denied nor isolated", value);
}

static int
set_nesting(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	if (strcmp(value, "allow"))
		return bad(err, "nesting can only be allowed", value);
	r->nesting = true;
	return 0;
}

static int
add_limit(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	uint64_t number;
	int kind;

	switch (nsrun_limit_parse(value, &kind, &number)) {
	case 0:
		break;
	case -1:
		return bad(err, "is not KEY=VALUE with a KEY of"
		    " nsrun-profiles(5)", value);
	default:
		return bad(err, "is not a number, a size or a duration", value);
	}
	r->limits[kind] = (struct nsrun_limit){
		.set = true, .value = number,
	};
	return 0;
}

/* A directory is one that must do. */
static int
set_cgroup(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	r->cgroup_parent = NULL;
	r->cgroup_use = NSRUN_CGROUP_REQUIRE;
	if (*value == '/')
		return copy(r, &r->cgroup_parent, value, err);
	for (int i = 0; i < NSRUN_N_CGROUP_USES; i++)
		if (!strcmp(value, nsrun_cgroup_use_name(
		    (enum nsrun_cgroup_use)i))) {
			r->cgroup_use = (enum nsrun_cgroup_use)i;
			return 0;
		}
	return bad(err, "is neither auto, require, off nor an absolute path",
	    value);
}

static int
set_timeout(struct nsrun_request *r, const char *value, struct nsrun_err *err)
{
	r->timeout_ms = 0;
	r->has_timeout = true;
	if (!strcmp(value, "none"))
		return 0;
	if (nsrun_duration_parse(value, &r->timeout_ms) < 0 || !r->timeout_ms)
		return bad(err, "is not a duration like 1.5s, 10m or none",
		    value);
	return 0;
}

/* What --limit write=SIZE says. */
static int
set_max_write(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	struct nsrun_limit *limit = &r->limits[NSRUN_LIMIT_WRITE];

	if (nsrun_limit_value(NSRUN_LIMIT_WRITE, value, &limit->value) < 0)
		return bad(err, "is not a size like 10M", value);
	limit->set = true;
	return 0;
}

static int
set_max_output(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	if (nsrun_size_parse(value, &r->max_output_bytes) < 0 ||
	    !r->max_output_bytes)
		return bad(err, "is not a size like 10M", value);
	return 0;
}

const struct nsrun_request_word nsrun_request_words[] = {
	{ "profile", "NAME", "what the command may see and use (shell)",
	    set_profile },
	{ "project", "DIR", "the tree it works on, writable", set_project },
	{ "overlay-project", "[=NAME]", "keep what it writes there apart",
	    set_overlay },
	{ "cwd", "DIR", "working directory, in a granted root", set_cwd },
	{ "ro", "DIR", "one more tree, read-only", add_ro },
	{ "rw", "DIR", "one more tree, writable", add_rw },
	{ "mask", "PATH|GLOB", "not to be seen, changed or made in a root",
	    nsrun_request_add_mask },
	{ "as", "WHO", "keep, owner, key:NAME, user:NAME or UID:GID",
	    set_as },
	{ "env", "NAME[=VALUE]", "grant or set a variable", add_env },
	{ "temp", "private|host", "TMPDIR: in memory, or the same path outside",
	    set_temp },
	{ "home", "KIND", "tmpfs, private[=NAME] or overlay[=DIR]",
	    nsrun_request_set_home },
	{ "home-keep", "NAME", "keep what is written over an overlay home",
	    nsrun_request_set_home_keep },
	{ "state-dir", "DIR", "where homes and overlays are kept",
	    nsrun_request_set_state_dir },
	{ "credential", "PATH[:DEST]", "a file for the home, read-only",
	    nsrun_request_add_credential },
	{ "credential-copy", "PATH[:DEST]", "a copy of one, to be written",
	    nsrun_request_add_credential_copy },
	{ "credential-return", NULL, "hand changed copies back at the end",
	    nsrun_request_set_credential_return },
	{ "server", "PLUGIN/SERVER", "the trusted server that it is",
	    set_server },
	{ "hook-mode", "full|env-scrub|none", "how much a hook is sandboxed",
	    set_hook_mode },
	{ "stdin", "null", "nothing on standard input", set_stdin },
	{ "network", "denied|isolated", "no sockets, or nobody to talk to",
	    set_network },
	{ "nesting", "allow", "let it make sandboxes of its own", set_nesting },
	{ "limit", "KEY=VALUE", "lower a limit", add_limit },
	{ "cgroup", "auto|require|off|DIR", "a cgroup of its own, in DIR",
	    set_cgroup },
	{ "on-hazard", "refuse|shield", "sockets, aliases in what it may write",
	    nsrun_request_set_on_hazard },
	{ "timeout", "DURATION", "end it then: 500ms, 30s, 10m, none",
	    set_timeout },
	{ "max-write", "SIZE", "end it when its roots grew by more: 10G",
	    set_max_write },
	{ "max-output", "SIZE", "pass on so much of each stream: 64K, 10M",
	    set_max_output },
};
const size_t nsrun_n_request_words =
    sizeof nsrun_request_words / sizeof *nsrun_request_words;
_Static_assert(sizeof nsrun_request_words / sizeof *nsrun_request_words <= 64,
    "a bit of `said` each");

int
nsrun_request_set(struct nsrun_request *request, const char *name,
    const char *value, struct nsrun_err *err)
{
	for (size_t i = 0; i < nsrun_n_request_words; i++) {
		const struct nsrun_request_word *word = &nsrun_request_words[i];

		if (strcmp(word->name, name))
			continue;
		if (word->argument && (!value || !*value))
			return bad(err, "wants a value", name);
		if (!word->argument && value)
			return bad(err, "takes no value", name);
		request->said |= UINT64_C(1) << i;
		if (word->set(request, value, err) == 0)
			return 0;
		/* The handlers know the value; which option, we do. */
		if (err->step == NSRUN_STEP_OPTION)
			snprintf(err->subject, sizeof err->subject, "--%s%s%s",
			    name, value ? " " : "", value ? value : "");
		return -1;
	}
	return bad(err, "is no option", name);
}

int
nsrun_request_set_command(struct nsrun_request *request, char *const argv[],
    struct nsrun_err *err)
{
	size_t n = 0;

	while (argv[n])
		n++;
	request->argv = nsrun_arena_dup(&request->arena, argv,
	    (n + 1) * sizeof *argv);
	if (!request->argv)
		return nsrun_err_nomem(err, "command");
	for (size_t i = 0; i < n; i++) {
		request->argv[i] = nsrun_arena_strdup(&request->arena, argv[i]);
		if (!request->argv[i])
			return nsrun_err_nomem(err, "command");
	}
	return 0;
}
