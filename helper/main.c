/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "bwrap.h"
#include "helper.h"
#include "nsrun.h"

static const struct {
	const char *name;
	int (*main)(int argc, char *argv[]);
} subcommands[] = {
	{ "run", run_main },
	{ "explain", explain_main },
	{ "doctor", doctor_main },
	{ "policy", policy_main },
	{ "scan", scan_main },
	{ "git", git_main },
	{ "home", home_main },
	{ "diff", changes_main },
	{ "apply", changes_main },
	{ "discard", changes_main },
};

static int
refuse(enum nsrun_step step, const char *rule, const char *subject)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	nsrun_err_rule(&err, step, rule, subject, NULL);
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}

static bool
is_subcommand(const char *word)
{
	for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
		if (!strcmp(subcommands[i].name, word))
			return true;
	return false;
}

int
main(int argc, char *argv[])
{
	const char *why = helper_start(argc, argv);

	if (why)
		return refuse(NSRUN_STEP_OPTION, why, NULL);
	/* bubblewrap's callers find their signals as they left them. */
	if (argc > 1 && !strcmp(argv[1], "bwrap"))
		return bwrap_main(argc - 1, argv + 1);
	signal(SIGPIPE, SIG_IGN);
	/* Giving a terminal its modes back must not stop us. */
	signal(SIGTTOU, SIG_IGN);
	if (argc < 2) {
		usage_print(stderr);
		return HELPER_FAILED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    (argc > 2 && is_subcommand(argv[1]) &&
	    !strcmp(argv[2], "--help"))) {
		usage_print(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts(PACKAGE_STRING);
		return 0;
	}
	for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
		if (!strcmp(argv[1], subcommands[i].name))
			return subcommands[i].main(argc - 1, argv + 1);
	return refuse(NSRUN_STEP_OPTION, "is no subcommand; see oc-nsrun(1)",
	    argv[1]);
}
