/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is granted on this host, by whom it is bounded, and what is not
 * enforced: counts and states, never a value.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/number.h"
#include "doctor.h"
#include "host/config.h"
#include "host/request.h"
#include "host/session.h"
#include "host/site.h"
#include "nsrun.h"
#include "policy/embedded.h"

static const char config_file[] = NSRUN_CONFIG_DIR "/oc-nsrun.conf";

/* A path may be what a variable holds: only those of the site are shown. */
static const char *
redact(char *text)
{
	char *path = *text == '/' ? text : strstr(text, " /");
	char *end;

	if (!path || !strncmp(path, NSRUN_CONFIG_DIR, strlen(NSRUN_CONFIG_DIR)))
		return text;
	/* It may have blanks in it; what is wrong with it comes last. */
	path += *path == ' ';
	end = strrchr(path, ':');
	for (char *s = path; end && s < end; s++)
		if (!strncmp(s, ": ", 2)) {
			end = s;
			break;
		}
	if (end && end - path > 3)
		memmove(stpcpy(path, "..."), end, strlen(end) + 1);
	return text;
}

static void
count_roots(const struct nsrun_session *s, unsigned int counts[2])
{
	counts[0] = counts[1] = 0;
	for (size_t i = 0; i < s->n_roots; i++)
		counts[s->roots[i].writable]++;
}

/* Does each profile of the site parse, and has it a filter? */
static void
check_site(struct doctor *d)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_words names;
	char text[600];

	if (nsrun_config_names("profile", &arena, &names, &err) < 0)
		doctor_tell(d, FAIL, "site profiles", doctor_cause(&err, text,
		    sizeof text), "every launch fails until it is mended");
	for (size_t i = 0; err.step == NSRUN_STEP_NONE && i < names.n; i++) {
		struct nsrun_profile profile;

		if (nsrun_site_profile(&profile, names.v[i], &err) == 0) {
			doctor_tell(d, OK, "site profile", names.v[i], NULL);
			nsrun_profile_deinit(&profile);
			continue;
		}
		doctor_tell(d, FAIL, "site profile", doctor_cause(&err, text,
		    sizeof text), "oc-nsrun policy check FILE");
		err = (struct nsrun_err)NSRUN_ERR_INIT;
	}
	nsrun_arena_deinit(&arena);
}

static void
check_boundary(struct doctor *d)
{
	const struct nsrun_session *s = d->session;
	bool off = s->config.permits[NSRUN_BOUNDARY_UNSANDBOXED];
	bool hooks = s->config.permits[NSRUN_BOUNDARY_HOOK_ENV_SCRUB] ||
	    s->config.permits[NSRUN_BOUNDARY_HOOK_NONE];

	if (s->unsandboxed && off)
		doctor_tell(d, INFO, "WARNING", "OPENCLAUDIA_BASH_SANDBOX is"
		    " off, and the site permits it: commands run without a"
		    " sandbox", "unset it when the host is mended");
	else if (s->unsandboxed)
		doctor_tell(d, FAIL, "sandbox", "OPENCLAUDIA_BASH_SANDBOX is"
		    " off and the site does not permit it: every launch fails",
		    "unset it");
	if (s->trusts_hooks)
		doctor_tell(d, INFO, hooks ? "WARNING" : "hooks", hooks ?
		    "hooks may run without a sandbox" :
		    "OPENCLAUDIA_TRUST_UNSANDBOXED_HOOKS is set and the site"
		    " does not permit it", NULL);
}

static void
check_servers(struct doctor *d)
{
	const struct nsrun_session *s = d->session;
	char check[300], found[128];

	for (size_t i = 0; i < s->servers.n; i++) {
		snprintf(check, sizeof check, "server %s", s->servers.v[i]);
		snprintf(found, sizeof found, "trust=required,"
		    " profile=mcp-stdio, network=denied, env-grants=%zu",
		    s->server_env.n);
		doctor_tell(d, OK, check, found, NULL);
	}
}

/* The profile `shell`, which is what is meant where nothing is said. */
static void
check_shell(struct doctor *d)
{
	const struct nsrun_filter *filters;
	size_t n = nsrun_filters(&filters);
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_profile profile;
	char text[400] = "", value[24];

	if (nsrun_site_profile(&profile, "shell", &err) < 0) {
		doctor_tell(d, FAIL, "profile shell", doctor_cause(&err, text,
		    sizeof text), NULL);
		return;
	}
	for (size_t i = 0; i < n; i++)
		if (!strcmp(filters[i].name, profile.filter) &&
		    !strcmp(filters[i].variant, "denied") && !*text)
			snprintf(text, sizeof text, "%s", profile.filter);
	doctor_tell(d, *text ? OK : FAIL, "syscall policy", *text ? text :
	    "unavailable", NULL);
	*text = '\0';
	for (int i = 0; i <= NSRUN_LIMIT_PROCESSES; i++) {
		size_t used = strlen(text);

		if (profile.limits[i].set)
			snprintf(text + used, sizeof text - used, "%s%s=%s",
			    used ? ", " : "",
			    nsrun_limit_name((enum nsrun_limit_kind)i),
			    nsrun_size_text(profile.limits[i].value, value));
	}
	doctor_tell(d, OK, "resource limits", text, NULL);
	nsrun_profile_deinit(&profile);
}

static void
check_grants(struct doctor *d)
{
	const struct nsrun_session *s = d->session;
	unsigned int roots[2];
	char text[200];

	count_roots(s, roots);
	snprintf(text, sizeof text, "%u read-only, %u read-write", roots[0],
	    roots[1]);
	doctor_tell(d, OK, "capability roots", text, NULL);
	snprintf(text, sizeof text, "%zu variable name%s, values redacted",
	    s->env.n, s->env.n == 1 ? "" : "s");
	doctor_tell(d, OK, "explicit environment grants", text, NULL);
	snprintf(text, sizeof text, "%zu", s->masks.n);
	doctor_tell(d, OK, "masks", text, NULL);
	doctor_tell(d, OK, "network", d->only_network_refused ?
	    "denied, by the filter alone, in the host's namespace" : "denied",
	    NULL);
}

void
doctor_session_check(struct doctor *d)
{
	struct nsrun_request *request = nsrun_request_new();
	struct nsrun_err err = NSRUN_ERR_INIT;
	char text[600];

	doctor_tell(d, OK, "backend", "oc-nsrun " PACKAGE_VERSION, NULL);
	check_shell(d);
	check_site(d);
	if (!request)
		nsrun_err_nomem(&err, "request");
	else
		nsrun_session_new(&d->session, request, getenv("HOME"), &err);
	nsrun_request_free(request);
	if (!d->session) {
		doctor_cause(&err, text, sizeof text);
		doctor_tell(d, FAIL, "grants", redact(text),
		    "every launch fails until it is mended; see"
		    " nsrun-session(7)");
		return;
	}
	doctor_tell(d, d->session->config.present ? OK : INFO,
	    "configuration", d->session->config.present ? config_file :
	    "none: callers grant what they like", NULL);
	check_grants(d);
	check_servers(d);
	check_boundary(d);
}

void
doctor_session_put(struct doctor *d)
{
	const struct nsrun_session *s = d->session;
	struct nsrun_json *j = &d->out;
	unsigned int roots[2];

	nsrun_json_string(j, "backend", "oc-nsrun");
	if (!s)
		return;
	count_roots(s, roots);
	nsrun_json_string(j, "boundary", nsrun_boundary_name(s->unsandboxed ?
	    NSRUN_BOUNDARY_UNSANDBOXED : NSRUN_BOUNDARY_SANDBOX));
	nsrun_json_bool(j, "configured", s->config.present);
	nsrun_json_number(j, "roots_read_only", roots[0]);
	nsrun_json_number(j, "roots_read_write", roots[1]);
	nsrun_json_number(j, "env_grants", s->env.n);
	nsrun_json_number(j, "masks", s->masks.n);
	nsrun_json_number(j, "servers", s->servers.n);
	nsrun_json_number(j, "server_env_grants", s->server_env.n);
	nsrun_json_bool(j, "hooks_trusted", s->trusts_hooks);
}

void
doctor_session_deinit(struct doctor *d)
{
	nsrun_session_free(d->session);
	d->session = NULL;
}
