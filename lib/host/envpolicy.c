/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/envpolicy.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "host/profile.h"
#include "host/request.h"
#include "host/session.h"
#include "plan/plan.h"

/*
 * Names: exact, a prefix ("LC_*") or a suffix ("*_TOKEN"). Compared without
 * regard to case: programs that read a credential often do the same.
 */
static const char *const passed_on[] = {
	"LANG", "LANGUAGE", "LC_*", "TERM", "TERMINFO", "COLORTERM", "TZ",
	"HOSTTYPE", "OSTYPE", "MACHTYPE", "MANPATH", "INFOPATH",
	"PKG_CONFIG_PATH", "RUSTUP_TOOLCHAIN", "RUST_BACKTRACE", "RUST_LOG",
	"CARGO_TARGET_DIR", "CC", "CXX", "LD", "AR", "RANLIB", "NODE_ENV",
	"NPM_CONFIG_PREFIX", "NVM_DIR", "VIRTUAL_ENV", "PIPENV_VENV_IN_PROJECT",
	"POETRY_HOME", "JAVA_HOME", "JDK_HOME", "GOPATH", "GOROOT", "CI", NULL,
};

/* Set by us, or the key to something of the host's. */
static const char *const reserved[] = {
	"HOME", "PATH", "TMP", "TEMP", "TMPDIR", "PWD", "OLDPWD", "USER",
	"LOGNAME", "SHELL", "HOSTNAME", "CARGO_HOME", "RUSTUP_HOME", "XDG_*",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "DBUS_*", "DISPLAY",
	"WAYLAND_DISPLAY", "XAUTHORITY", "OPENCLAUDIA_*", "OC_NSRUN_*",
	"LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET", NULL,
};

/* Read by a loader or a shell before the program's first instruction. */
static const char *const loader[] = {
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "NLSPATH",
	"HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS", "MALLOC_*", "BASH_ENV",
	"BASH_FUNC_*", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS",
	"PROMPT_COMMAND", NULL,
};

/* Names that make a compiler, an interpreter or git run what they say. */
static const char *const injection[] = {
	"PYTHON*", "PERL5*", "PERLLIB", "RUBYOPT", "RUBYLIB", "NODE_OPTIONS",
	"NODE_PATH", "NODE_EXTRA_CA_CERTS", "JAVA_TOOL_OPTIONS",
	"_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "GIT_*", "PAGER",
	"MANPAGER", "LESSOPEN", "LESSCLOSE", "EDITOR", "VISUAL", "BROWSER",
	"MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "RUSTC", "RUSTC_WRAPPER",
	"RUSTC_WORKSPACE_WRAPPER", "RUSTFLAGS", "CARGO_BUILD_*",
	"*_RUNNER", "GOFLAGS", "GCC_EXEC_PREFIX",
	"COMPILER_PATH", "TAR_OPTIONS", "RSYNC_RSH", "npm_config_*", "PIP_*",
	"UV_*", "LUA_*", "PHPRC", "PHP_INI_SCAN_DIR", "OPENSSL_CONF",
	"OPENSSL_MODULES", NULL,
};

static const char *const credential[] = {
	"AWS_*", "AZURE_*", "GCP_*", "GCLOUD_*", "CLAUDE_CODE_*", "*_API_KEY",
	"*_APIKEY", "*_ACCESS_KEY", "*_SECRET_KEY", "*_TOKEN", "*_SECRET",
	"*_PASSWORD", "*_PASSWD", "*_PASSPHRASE", "*_PRIVATE_KEY",
	"*_CREDENTIALS", "*_CREDENTIAL", "API_KEY", "TOKEN", "PASSWORD",
	"SECRET", "KUBECONFIG", "DOCKER_AUTH_CONFIG", "OPENAI_ORG_ID",
	"OPENAI_PROJECT_ID", "NETRC", "PGPASSFILE", NULL,
};

static bool
matches(const char *name, const char *pattern)
{
	size_t n = strlen(pattern), len = strlen(name);

	if (pattern[0] == '*')
		return len >= n - 1 &&
		    !strcasecmp(name + len - (n - 1), pattern + 1);
	if (pattern[n - 1] == '*')
		return !strncasecmp(name, pattern, n - 1);
	return !strcasecmp(name, pattern);
}

static bool
is_in(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (matches(name, *list))
			return true;
	return false;
}

static bool
is_name(const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz_0123456789";

	return *name && (*name < '0' || *name > '9') &&
	    !name[strspn(name, letters)];
}

static int
refuse(const char *rule, const char *name, struct nsrun_err *err)
{
	return nsrun_err_rule(err, NSRUN_STEP_ENVIRONMENT, rule, name, NULL);
}

int
nsrun_envpolicy_check_name(const char *name, struct nsrun_err *err)
{
	const char *rule = !is_name(name) ? "is not a variable's name" :
	    is_in(name, reserved) ? "is reserved: the sandbox sets it or has"
	    " none" : is_in(name, loader) ? "is obeyed by loaders and shells:"
	    " it is never passed on" : NULL;

	return rule ? refuse(rule, name, err) : 0;
}

int
nsrun_envpolicy_check_injection(const char *name, struct nsrun_err *err)
{
	if (nsrun_envpolicy_check_name(name, err) < 0)
		return -1;
	return is_in(name, injection) ? refuse("makes programs run what it"
	    " says: it is never passed on, give it a value", name, err) : 0;
}

int
nsrun_envpolicy_check_grant(const char *name, struct nsrun_err *err)
{
	if (nsrun_envpolicy_check_name(name, err) < 0)
		return -1;
	return is_in(name, credential) ? refuse("looks like a credential: it is"
	    " never passed on", name, err) : 0;
}

int
nsrun_envpolicy_check_ambient(const char *name, struct nsrun_err *err)
{
	if (nsrun_envpolicy_check_grant(name, err) < 0)
		return -1;
	return nsrun_envpolicy_check_injection(name, err);
}

static bool
is_passed_on(const struct nsrun_profile *profile, const char *name)
{
	if (!profile->pass.n)
		return is_in(name, passed_on);
	for (size_t i = 0; i < profile->pass.n; i++)
		if (matches(name, profile->pass.v[i]))
			return true;
	return false;
}

/* Of the caller's, what is harmless by its name and by its value. */
static int
pass_on(struct nsrun_plan *plan, const struct nsrun_profile *profile,
    const char *entry, struct nsrun_err *err)
{
	size_t n = strcspn(entry, "=");
	char name[64];

	if (!entry[n] || n == 0 || n >= sizeof name)
		return 0;
	memcpy(name, entry, n);
	name[n] = '\0';
	if (!is_name(name) || !is_passed_on(profile, name) ||
	    is_in(name, credential) || is_in(name, loader) ||
	    is_in(name, injection) || is_in(name, reserved))
		return 0;
	/* A TZ that is a path names a file to parse, in every program. */
	if (!strcmp(name, "TZ") && (entry[n + 1] == ':' ||
	    entry[n + 1] == '/' || strstr(entry, "..")))
		return 0;
	return nsrun_plan_set_env(plan, name, entry + n + 1, err);
}

/* Is this entry of the caller's PATH within what the profile keeps? */
static bool
keeps_path(const struct nsrun_profile *profile,
    const struct nsrun_env_facts *facts, const char *dir)
{
	char below_home[4096];

	if (!nsrun_path_is_clean(dir))
		return false;
	for (size_t i = 0; i < profile->path.n; i++) {
		const char *word = profile->path.v[i];

		if (*word == '/') {
			if (nsrun_path_is_within(dir, word))
				return true;
		} else if (!strcmp(word, "toolchains")) {
			for (size_t k = 0; k < facts->toolchains->n; k++)
				if (nsrun_path_is_within(dir,
				    facts->toolchains->v[k]))
					return true;
		} else if (!strcmp(word, "project")) {
			if (facts->project &&
			    nsrun_path_is_within(dir, facts->project))
				return true;
		} else if (snprintf(below_home, sizeof below_home, "%s/%s",
		    facts->home, word) < (int)sizeof below_home &&
		    nsrun_path_is_within(dir, below_home)) {
			return true;
		}
	}
	return false;
}

static bool
path_has(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	for (const char *s = path; *s; s += *s == ':') {
		size_t len = strcspn(s, ":");

		if (len == n && !strncmp(s, dir, n))
			return true;
		s += len;
	}
	return false;
}

/*
 * The caller's PATH without what is not visible inside, in its order. A system
 * directory is never behind a writable one, so that a project cannot stand in
 * for a system command: the project's come last.
 */
static int
build_path(struct nsrun_plan *plan, const struct nsrun_profile *profile,
    const struct nsrun_env_facts *facts, struct nsrun_err *err)
{
	const char *host = getenv("PATH");
	char *kept = nsrun_arena_strdup(&plan->arena, "");

	for (int project = 0; project < 2; project++)
		for (const char *s = host ? host : ""; *s && kept;
		    s += *s == ':') {
			int n = (int)strcspn(s, ":");
			char *dir = nsrun_arena_printf(&plan->arena, "%.*s", n,
			    s);

			s += n;
			while (dir && n > 1 && dir[n - 1] == '/')
				dir[--n] = '\0';
			if (!dir || !keeps_path(profile, facts, dir) ||
			    path_has(kept, dir) || (facts->project &&
			    nsrun_path_is_within(dir, facts->project)) !=
			    (project == 1))
				continue;
			kept = nsrun_arena_printf(&plan->arena, "%s%s%s", kept,
			    *kept ? ":" : "", dir);
		}
	if (!kept)
		return nsrun_err_nomem(err, "PATH");
	return nsrun_plan_set_env(plan, "PATH", *kept ? kept :
	    "/usr/local/bin:/usr/bin:/bin", err);
}

/* NAME is home/rest, unless the caller's own value is visible as it is. */
static int
set_toolchain(struct nsrun_plan *plan, const char *name, const char *home,
    const char *rest, struct nsrun_err *err)
{
	const char *host = getenv(name);
	char *value = host && nsrun_path_is_clean(host) &&
	    (nsrun_path_is_within(host, "/usr") ||
	    nsrun_path_is_within(host, "/nix/store")) ?
	    nsrun_arena_strdup(&plan->arena, host) :
	    nsrun_arena_printf(&plan->arena, "%s/%s", home, rest);

	return value ? nsrun_plan_set_env(plan, name, value, err) :
	    nsrun_err_nomem(err, name);
}

static int
set_own(struct nsrun_plan *plan, const struct nsrun_profile *profile,
    const struct nsrun_env_facts *facts, struct nsrun_err *err)
{
	const struct {
		const char *name, *value, *rest;
	} own[] = {
		{ "HOME", facts->home, "" },
		{ "USER", facts->user, "" },
		{ "LOGNAME", facts->user, "" },
		{ "SHELL", facts->shell, "" },
		{ "HOSTNAME", plan->hostname, "" },
		{ "PWD", facts->cwd, "" },
		{ "TMPDIR", facts->temp, "" },
		{ "TMP", facts->temp, "" },
		{ "TEMP", facts->temp, "" },
		{ "XDG_CONFIG_HOME", facts->home, "/.config" },
		{ "XDG_CACHE_HOME", facts->home, "/.cache" },
		{ "XDG_DATA_HOME", facts->home, "/.local/share" },
		{ "XDG_STATE_HOME", facts->home, "/.local/state" },
		{ "XDG_RUNTIME_DIR", "/run/user", "" },
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		char *value = own[i].value ? nsrun_arena_printf(&plan->arena,
		    "%s%s", own[i].value, own[i].rest) : NULL;

		if (own[i].value && !value)
			return nsrun_err_nomem(err, own[i].name);
		if (value &&
		    nsrun_plan_set_env(plan, own[i].name, value, err) < 0)
			return -1;
	}
	if (set_toolchain(plan, "CARGO_HOME", facts->home, ".cargo", err) < 0 ||
	    set_toolchain(plan, "RUSTUP_HOME", facts->home, ".rustup", err) < 0)
		return -1;
	for (size_t i = 0; i < profile->n_set; i++) {
		const char *value = profile->set[i].value;

		if (nsrun_plan_set_env(plan, profile->set[i].name,
		    !strcmp(value, "$cwd") ? facts->cwd : value, err) < 0)
			return -1;
	}
	return build_path(plan, profile, facts, err);
}

/* One more name, with a value; counted once. */
static int
grant(struct nsrun_plan *plan, const char *name, const char *value,
    struct nsrun_err *err)
{
	const char **v = nsrun_arena_grow(&plan->arena, plan->granted,
	    plan->n_granted, sizeof *v);
	char *copy = nsrun_arena_strdup(&plan->arena, name);

	if (!v || !copy)
		return nsrun_err_nomem(err, name);
	if (nsrun_plan_set_env(plan, name, value, err) < 0)
		return -1;
	plan->granted = v;
	for (size_t i = 0; i < plan->n_granted; i++)
		if (!strcmp(v[i], name))
			return 0;
	v[plan->n_granted++] = copy;
	return 0;
}

/* What the host's environment grants; what it does not have grants nothing. */
static int
grant_session(struct nsrun_plan *plan, const struct nsrun_session *session,
    struct nsrun_err *err)
{
	for (size_t i = 0; i < session->env.n; i++)
		if (session->env_values[i] && grant(plan, session->env.v[i],
		    session->env_values[i], err) < 0)
			return -1;
	return 0;
}

/* A server gets credentials by exact name, and nothing that runs others. */
static int
check_variable(const struct nsrun_session *session,
    const struct nsrun_profile *profile, const char *name,
    struct nsrun_err *err)
{
	if (!profile->needs_server)
		return nsrun_envpolicy_check_grant(name, err);
	if (nsrun_envpolicy_check_injection(name, err) < 0)
		return -1;
	for (size_t i = 0; i < session->server_env.n; i++)
		if (!strcmp(session->server_env.v[i], name))
			return 0;
	return is_in(name, credential) ? refuse("looks like a credential and is"
	    " not in OPENCLAUDIA_MCP_ENV_GRANTS", name, err) : 0;
}

int
nsrun_envpolicy_build(struct nsrun_plan *plan,
    const struct nsrun_session *session, const struct nsrun_profile *profile,
    const struct nsrun_request *request, const struct nsrun_env_facts *facts,
    struct nsrun_err *err)
{
	for (char **e = environ; e && *e; e++)
		if (pass_on(plan, profile, *e, err) < 0)
			return -1;
	if (set_own(plan, profile, facts, err) < 0 ||
	    grant_session(plan, session, err) < 0)
		return -1;
	for (size_t i = 0; i < request->n_variables; i++) {
		const struct nsrun_variable *v = &request->variables[i];
		const char *value = v->value ? v->value : getenv(v->name);

		if (check_variable(session, profile, v->name, err) < 0)
			return -1;
		/* A grant of what the caller does not have grants nothing. */
		if (value && grant(plan, v->name, value, err) < 0)
			return -1;
	}
	return 0;
}
