/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * oc-nsrun git: run, with the profile git and a project that is found as git
 * finds it. What the command may be, the profile's word decides.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "helper.h"
#include "host/request.h"
#include "opts.h"

/* What would loosen the profile, or have git do something else. */
static const char *
why_not(const struct nsrun_request *r)
{
	return r->profile ? "--profile" : r->n_variables ? "--env" :
	    r->has_network ? "--network" : r->home ? "--home" :
	    r->n_credentials ? "--credential" : NULL;
}

/* The nearest directory at or above ours that has a .git, whatever it is. */
static int
find_project(struct nsrun_request *r, struct nsrun_err *err)
{
	char *dir = getcwd(NULL, 0), name[4096];
	struct stat st;
	int rc = 1;

	while (rc > 0 && dir && *dir) {
		snprintf(name, sizeof name, "%s/.git", dir);
		if (lstat(name, &st) == 0)
			rc = nsrun_request_set(r, "project", dir, err);
		else
			*strrchr(dir, '/') = '\0';
	}
	free(dir);
	return rc <= 0 ? rc : nsrun_err_rule(err, NSRUN_STEP_PROJECT,
	    "is in no work tree of git's: give --project", ".", NULL);
}

static int
complete(struct nsrun_request *r, struct nsrun_err *err)
{
	static char git[] = "git";
	size_t n = 0;
	char **argv;
	int rc;

	if (why_not(r))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is not for oc-nsrun git", why_not(r), NULL);
	if (nsrun_request_set(r, "profile", git, err) < 0 || (!r->project &&
	    find_project(r, err) < 0))
		return -1;
	while (r->argv && r->argv[n])
		n++;
	argv = calloc(n + 2, sizeof *argv);
	if (!argv)
		return nsrun_err_nomem(err, git);
	argv[0] = git;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = r->argv[i];
	rc = nsrun_request_set_command(r, argv, err);
	free(argv);
	return rc;
}

int
git_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct opts opts;
	int rc = opts_parse(&opts, argc, argv, &err);

	if (rc == 0 && opts.help) {
		usage_print(stdout);
		opts_deinit(&opts);
		return 0;
	}
	if (rc == 0)
		(void)complete(opts.request, &err);
	return run_opts(&opts, &err);
}
