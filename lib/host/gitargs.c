/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/gitargs.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/err.h"

/* What only reads; with a second word, only then. */
static const struct {
	const char *name, *second;
} readers[] = {
	{ "status", NULL }, { "diff", NULL }, { "log", NULL },
	{ "show", NULL }, { "ls-files", NULL }, { "ls-tree", NULL },
	{ "blame", NULL }, { "cat-file", NULL }, { "check-attr", NULL },
	{ "check-ignore", NULL }, { "check-ref-format", NULL },
	{ "describe", NULL }, { "diff-files", NULL }, { "diff-index", NULL },
	{ "diff-tree", NULL }, { "for-each-ref", NULL }, { "grep", NULL },
	{ "merge-base", NULL }, { "name-rev", NULL }, { "reflog", NULL },
	{ "rev-list", NULL }, { "rev-parse", NULL }, { "shortlog", NULL },
	{ "show-ref", NULL }, { "stash", "list" }, { "stash", "show" },
	{ "worktree", "list" },
};

static const char *const writers[] = {
	"add", "branch", "checkout", "cherry-pick", "clean", "commit", "fetch",
	"merge", "mv", "rebase", "reset", "restore", "revert", "rm", "stash",
	"switch", "tag", "worktree",
};

/* Hosts that guard themselves say these; they take nothing of ours away. */
static const char *const guards[] = {
	"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat",
	"credential.helper=", "diff.external=", "protocol.ext.allow=never",
	"protocol.file.allow=never",
};

static int
refuse(struct nsrun_err *err, const char *rule, const char *arg)
{
	return nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, arg, NULL);
}

static bool
begins(const char *arg, const char *with)
{
	return !strncmp(arg, with, strlen(with));
}

/* Options, with their abbreviations, that a command that writes is not given:
 * they name a program or a file to write, or lead git into a submodule. */
static const char *
why_not(const char *arg)
{
	if (begins(arg, "--upl") || begins(arg, "--rece"))
		return "names a program to run";
	if (begins(arg, "--exe"))
		return "names a program to run";
	if (begins(arg, "--outp"))
		return "names a file to write";
	if (begins(arg, "--rec"))
		return "leads git into submodules";
	return NULL;
}

/* Is one of the path's components .git, as any file system may spell it? */
static bool
names_git(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 4 && !strncasecmp(path, ".git", 4))
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

/* prune, and what prunes, would take work trees that are not granted away. */
static bool
is_worktree_word(const char *word)
{
	return word && (!strcmp(word, "add") || !strcmp(word, "remove") ||
	    !strcmp(word, "lock") || !strcmp(word, "unlock"));
}

static int
check_writer(char *const argv[], struct nsrun_err *err)
{
	for (char *const *arg = argv + 2; *arg && strcmp(*arg, "--"); arg++) {
		const char *rule = why_not(*arg);

		if (rule)
			return refuse(err, rule, *arg);
	}
	if (!strcmp(argv[1], "worktree") && !is_worktree_word(argv[2]))
		return refuse(err, "is not done from inside, where the other"
		    " work trees seem gone", argv[2] ? argv[2] : argv[1]);
	if (!strcmp(argv[1], "worktree"))
		for (char *const *arg = argv + 2; *arg; arg++)
			if (names_git(*arg))
				return refuse(err, "is in a git directory",
				    *arg);
	return 0;
}

static bool
is_guard(const char *setting)
{
	for (size_t i = 0; setting && i < sizeof guards / sizeof *guards; i++)
		if (!strcmp(guards[i], setting))
			return true;
	return false;
}

int
nsrun_gitargs_check(struct nsrun_gitargs *args, char *const argv[],
    struct nsrun_err *err)
{
	*args = (struct nsrun_gitargs){ .writes = false };
	if (strcmp(argv[0], "git") && strcmp(argv[0], "/usr/bin/git"))
		return refuse(err, "is not git, which is all that this profile"
		    " runs", argv[0]);
	while (argv[1] && !strcmp(argv[1], "-c") && is_guard(argv[2]))
		argv += 2;
	if (!argv[1])
		return refuse(err, "no subcommand of git's given", NULL);
	if (*argv[1] == '-')
		return refuse(err, "stands before git's subcommand: such"
		    " options are not passed on", argv[1]);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
		if (!strcmp(readers[i].name, argv[1]) && (!readers[i].second ||
		    (argv[2] && !strcmp(readers[i].second, argv[2]))))
			return 0;
	for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
		if (!strcmp(writers[i], argv[1])) {
			args->writes = true;
			args->needs_shell = !strcmp(argv[1], "fetch");
			return check_writer(argv, err);
		}
	return refuse(err, "is no subcommand that oc-nsrun runs; see"
	    " oc-nsrun-git(1)", argv[1]);
}
