/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The environment of the command: built from nothing.
 *
 * What is passed on by itself is a list of harmless names; what a caller may
 * add is any other name but those that the sandbox sets itself, those that a
 * loader obeys, and those that look like a credential.
 */
#ifndef NSRUN_HOST_ENVPOLICY_H
#define NSRUN_HOST_ENVPOLICY_H

struct nsrun_err;
struct nsrun_plan;
struct nsrun_profile;
struct nsrun_request;

/* May a caller grant or set this name? */
int nsrun_envpolicy_check_grant(const char *name, struct nsrun_err *err);

/* What the plan's own names are, before the caller's grants. */
struct nsrun_env_facts {
	const char	*home;		/* inside */
	const char	*user;
	const char	*shell;
	const char	*cwd;
	const char	*project;	/* NULL: none */
};

/* Fill in plan->env from the caller's environment, the profile and request. */
int nsrun_envpolicy_build(struct nsrun_plan *plan,
    const struct nsrun_profile *profile, const struct nsrun_request *request,
    const struct nsrun_env_facts *facts, struct nsrun_err *err);

#endif
