/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session of many launches: what it keeps, and what one of them may say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/path.h"
#include "host/envpolicy.h"
#include "host/session.h"

/* Whose a word is; one that is in neither is each launch's own. */
static const char *const of_session[] = {
	"project", "ro", "rw", "as", "temp", "on-hazard", NULL,
};
static const char *const of_both[] = { "cwd", "mask", "env", "network",
	"nesting", NULL };

static bool
is_in(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

enum speaker { SESSION, LAUNCH };

static int
check_said(const struct nsrun_request *r, enum speaker speaker,
    struct nsrun_err *err)
{
	char subject[64];

	for (size_t i = 0; i < nsrun_n_request_words; i++) {
		const char *name = nsrun_request_words[i].name;

		if (!(r->said >> i & 1) || is_in(name, of_both) ||
		    is_in(name, of_session) == (speaker == SESSION))
			continue;
		snprintf(subject, sizeof subject, "--%s", name);
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    speaker == SESSION ? "is for each launch to say, not for"
		    " its session" : "was fixed with the session", subject,
		    NULL);
	}
	return 0;
}

/* Where launches start that do not say where: in a root, as a launch must. */
static int
keep_cwd(struct nsrun_session *s, const char *cwd, struct nsrun_err *err)
{
	char *real;
	struct stat st;
	bool granted = false;

	if (!cwd) {
		s->words.cwd = s->words.project;
		return 0;
	}
	real = realpath(cwd, NULL);
	if (!real || stat(real, &st) < 0) {
		free(real);
		return nsrun_err_sys(err, NSRUN_STEP_ROOT, "realpath", cwd,
		    NULL);
	}
	for (size_t i = 0; i < s->n_roots; i++)
		granted |= nsrun_path_is_within(real, s->roots[i].path);
	s->words.cwd = nsrun_arena_strdup(&s->arena, real);
	free(real);
	if (!granted || !S_ISDIR(st.st_mode))
		return nsrun_err_rule(err, NSRUN_STEP_ROOT, granted ?
		    "is not a directory" : "is in no granted root", cwd, NULL);
	return s->words.cwd ? 0 : nsrun_err_nomem(err, cwd);
}

static int
keep_as(struct nsrun_session *s, const struct nsrun_request *r,
    struct nsrun_err *err)
{
	s->words.as = r->as;
	s->words.as_uid = r->as_uid;
	s->words.as_gid = r->as_gid;
	if (!r->as_name)
		return 0;
	s->words.as_name = nsrun_arena_strdup(&s->arena, r->as_name);
	return s->words.as_name ? 0 : nsrun_err_nomem(err, r->as_name);
}

static int
keep_masks(struct nsrun_session *s, const struct nsrun_request *r,
    struct nsrun_err *err)
{
	s->words.masks = nsrun_arena_alloc(&s->arena, (r->n_masks + 1) *
	    sizeof *s->words.masks);
	if (!s->words.masks)
		return nsrun_err_nomem(err, "masks");
	for (size_t i = 0; i < r->n_masks; i++) {
		s->words.masks[i] = nsrun_arena_strdup(&s->arena, r->masks[i]);
		if (!s->words.masks[i])
			return nsrun_err_nomem(err, r->masks[i]);
	}
	s->words.n_masks = r->n_masks;
	return 0;
}

/* With its value of now; a name that has none is granted without. */
static int
keep_variable(struct nsrun_session *s, const struct nsrun_variable *v,
    struct nsrun_err *err)
{
	struct nsrun_variable *kept = &s->words.variables[s->words.n_variables];
	const char *value = v->value ? v->value : getenv(v->name);

	/* What only some launches may have is for these to say. */
	if (nsrun_envpolicy_check_grant(v->name, err) < 0)
		return -1;
	kept->name = nsrun_arena_strdup(&s->arena, v->name);
	if (value)
		kept->value = nsrun_arena_strdup(&s->arena, value);
	if (!kept->name || (value && !kept->value))
		return nsrun_err_nomem(err, v->name);
	s->words.n_variables++;
	return 0;
}

static int
keep_variables(struct nsrun_session *s, const struct nsrun_request *r,
    struct nsrun_err *err)
{
	s->words.variables = nsrun_arena_alloc(&s->arena, (r->n_variables + 1) *
	    sizeof *s->words.variables);
	if (!s->words.variables)
		return nsrun_err_nomem(err, "environment");
	for (size_t i = 0; i < r->n_variables; i++)
		if (keep_variable(s, &r->variables[i], err) < 0)
			return -1;
	return 0;
}

int
nsrun_session_keep(struct nsrun_session *s, const char *id,
    const struct nsrun_request *r, struct nsrun_err *err)
{
	if (!*id)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is empty",
		    "the session's id", NULL);
	if (r->argv)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "a session has no"
		    " command: its launches have", *r->argv, NULL);
	if (check_said(r, SESSION, err) < 0)
		return -1;
	s->id = nsrun_arena_strdup(&s->arena, id);
	if (!s->id)
		return nsrun_err_nomem(err, id);
	s->words = (struct nsrun_request){
		.project = s->project ? s->project->path : NULL,
		.host_temp = r->host_temp, .temp = s->temp,
		.has_network = r->has_network, .network = r->network,
		.nesting = r->nesting, .on_hazard = r->on_hazard,
	};
	if (keep_as(s, r, err) < 0 || keep_cwd(s, r->cwd, err) < 0 ||
	    keep_masks(s, r, err) < 0)
		return -1;
	return keep_variables(s, r, err);
}

/* The session's masks, and those that the launch adds. */
static int
add_masks(struct nsrun_request *whole, struct nsrun_arena *arena,
    const struct nsrun_request *words, struct nsrun_err *err)
{
	const char **v = nsrun_arena_alloc(arena, (words->n_masks +
	    whole->n_masks + 1) * sizeof *v);
	size_t n = 0;

	if (!v)
		return nsrun_err_nomem(err, "masks");
	for (size_t i = 0; i < words->n_masks; i++)
		v[n++] = words->masks[i];
	for (size_t i = 0; i < whole->n_masks; i++)
		v[n++] = whole->masks[i];
	whole->masks = v;
	whole->n_masks = n;
	return 0;
}

static const struct nsrun_variable *
find_kept(const struct nsrun_session *s, const char *name)
{
	for (size_t i = s->words.n_variables; i-- > 0; )
		if (!strcmp(s->words.variables[i].name, name))
			return &s->words.variables[i];
	return NULL;
}

/*
 * What a launch names is the session's, with the session's value unless it
 * gives one; or a credential of servers, whose value is the caller's of now.
 */
static int
add_variable(struct nsrun_request *whole, const struct nsrun_session *s,
    const struct nsrun_variable *asked, struct nsrun_err *err)
{
	const struct nsrun_variable *kept = find_kept(s, asked->name);
	struct nsrun_variable v = *asked;
	bool granted = kept;

	if (kept && !v.value)
		v.value = kept->value;
	for (size_t i = 0; i < s->env.n; i++) {
		if (strcmp(s->env.v[i], v.name))
			continue;
		granted = true;
		if (!v.value)
			v.value = s->env_values[i];
	}
	if (granted && !v.value)
		return 0;
	for (size_t i = 0; i < s->server_env.n; i++)
		granted |= !strcmp(s->server_env.v[i], v.name);
	if (!granted)
		return nsrun_err_rule(err, NSRUN_STEP_ENVIRONMENT,
		    "is not granted by the session", v.name, NULL);
	whole->variables[whole->n_variables++] = v;
	return 0;
}

static int
add_variables(struct nsrun_request *whole, struct nsrun_arena *arena,
    const struct nsrun_session *s, struct nsrun_err *err)
{
	const struct nsrun_variable *asked = whole->variables;
	size_t n_asked = whole->n_variables;

	whole->variables = nsrun_arena_alloc(arena, (s->words.n_variables +
	    n_asked + 1) * sizeof *whole->variables);
	whole->n_variables = 0;
	if (!whole->variables)
		return nsrun_err_nomem(err, "environment");
	for (size_t i = 0; i < s->words.n_variables; i++)
		if (s->words.variables[i].value)
			whole->variables[whole->n_variables++] =
			    s->words.variables[i];
	for (size_t i = 0; i < n_asked; i++)
		if (add_variable(whole, s, &asked[i], err) < 0)
			return -1;
	return 0;
}

/* What the session says of the network is the most that a launch may ask. */
static int
set_network(struct nsrun_request *whole, const struct nsrun_request *words,
    struct nsrun_err *err)
{
	enum nsrun_network granted = words->has_network ? words->network :
	    NSRUN_NETWORK_DENIED;

	if (whole->has_network && whole->network != NSRUN_NETWORK_DENIED &&
	    whole->network != granted)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is not granted by the session", "--network",
		    nsrun_network_name(whole->network));
	/* Else the profile has the say. */
	if (words->has_network && words->network == NSRUN_NETWORK_DENIED) {
		whole->has_network = true;
		whole->network = NSRUN_NETWORK_DENIED;
	}
	return 0;
}

/* A launch has no command line that could grant it: the session, the site. */
static int
check_nesting(const struct nsrun_session *s, const struct nsrun_request *launch,
    struct nsrun_err *err)
{
	if (!launch->nesting || s->words.nesting || s->config.nesting)
		return 0;
	return nsrun_err_rule(err, NSRUN_STEP_OPTION,
	    "is not granted by the session", "--nesting", "allow");
}

int
nsrun_session_request(struct nsrun_request *whole, struct nsrun_arena *arena,
    const struct nsrun_session *s, const struct nsrun_request *launch,
    struct nsrun_err *err)
{
	if (check_said(launch, LAUNCH, err) < 0)
		return -1;
	*whole = *launch;
	whole->project = s->words.project;
	whole->as = s->words.as;
	whole->as_uid = s->words.as_uid;
	whole->as_gid = s->words.as_gid;
	whole->as_name = s->words.as_name;
	whole->host_temp = s->words.host_temp;
	whole->temp = s->words.temp;
	whole->on_hazard = s->words.on_hazard;
	if (!whole->cwd)
		whole->cwd = s->words.cwd;
	if (check_nesting(s, launch, err) < 0 ||
	    set_network(whole, &s->words, err) < 0 ||
	    add_masks(whole, arena, &s->words, err) < 0)
		return -1;
	return add_variables(whole, arena, s, err);
}
