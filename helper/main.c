/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/err.h"
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
};

char *helper_strings;
size_t helper_n_strings;

/*
 * As execve(2) lays them out: the arguments, the environment, and last the name
 * of the program, which the auxiliary vector points at.
 */
static void
find_strings(char *argv[])
{
	char *end = (char *)getauxval(AT_EXECFN);

	if (end > argv[0]) {
		helper_strings = argv[0];
		helper_n_strings = (size_t)(end - argv[0]) + strlen(end);
	}
}

static int
refuse(enum nsrun_step step, const char *rule, const char *subject)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	nsrun_err_rule(&err, step, rule, subject, NULL);
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}

/* With 0 to 2 open, no descriptor of ours is ever mistaken for stdio. */
static int
open_stdio(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    (errno != EBADF || open("/dev/null", O_RDWR) != fd))
			return -1;
	return 0;
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
	if (open_stdio() < 0)
		return HELPER_FAILED;
	if (argc < 1)
		return refuse(NSRUN_STEP_OPTION, "there is no argv[0]", NULL);
	/* Never with more rights than the caller: we are no setuid program. */
	if (getauxval(AT_SECURE))
		return refuse(NSRUN_STEP_OPTION, "runs neither setuid nor with"
		    " file capabilities", NULL);
	find_strings(argv);
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
