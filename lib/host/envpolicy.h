/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment of the command: built from nothing.
 *
 * What is passed on by itself is a list of harmless names; what a caller may
 * add is any other name but those that the sandbox sets itself, those that a
 * loader obeys, and those that look like a credential. A value for a name that
 * makes programs run something is only the caller's own, never its
 * environment's.
 */
#ifndef NSRUN_HOST_ENVPOLICY_H
#define NSRUN_HOST_ENVPOLICY_H

struct nsrun_err;
struct nsrun_plan;
struct nsrun_profile;
struct nsrun_request;
struct nsrun_session;
struct nsrun_words;

/*
 * May a caller name this variable? Each of these asks more than the one before:
 *
 *	name		a variable's, and neither reserved nor a loader's;
 *	injection	and none that makes programs run what it names, which
 *			nobody passes on from the caller's environment;
 *	grant		a name, and no credential's;
 *	ambient		both: may its value come from the caller's environment?
 */
int nsrun_envpolicy_check_name(const char *name, struct nsrun_err *err);
int nsrun_envpolicy_check_injection(const char *name, struct nsrun_err *err);
int nsrun_envpolicy_check_grant(const char *name, struct nsrun_err *err);
int nsrun_envpolicy_check_ambient(const char *name, struct nsrun_err *err);

/* What the plan's own names are, before the caller's grants. */
struct nsrun_env_facts {
	const char	*home;		/* inside */
	const char	*user;
	const char	*shell;
	const char	*cwd;
	const char	*project;	/* NULL: none */
	const char	*temp;
	const struct nsrun_words *toolchains;	/* that are visible */
};

/*
 * Fill in plan->env from the caller's environment, what the session grants, the
 * profile and the request.
 */
int nsrun_envpolicy_build(struct nsrun_plan *plan,
    const struct nsrun_session *session, const struct nsrun_profile *profile,
    const struct nsrun_request *request, const struct nsrun_env_facts *facts,
    struct nsrun_err *err);

#endif
