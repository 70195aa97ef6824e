/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun home: the homes that are kept, and their end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "helper.h"
#include "host/store.h"

/* As --home and --home-keep name them, and as the state directory does. */
static const struct {
	const char *word, *kind;
} kinds[] = {
	{ "private=", "home" },
	{ "overlay=", "home-overlay" },
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static int
list(const struct nsrun_store *store, struct nsrun_err *err)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	int rc = 0;

	for (int i = 0; rc == 0 && i < N_KINDS; i++) {
		struct nsrun_words names = { 0 };

		rc = nsrun_store_list(store, kinds[i].kind, &arena, &names,
		    err);
		for (size_t k = 0; rc == 0 && k < names.n; k++)
			printf("%s%s\n", kinds[i].word, names.v[k]);
	}
	nsrun_arena_deinit(&arena);
	if (rc == 0 && fflush(stdout) != 0)
		return nsrun_err_sys(err, NSRUN_STEP_STATE, "write", "stdout",
		    NULL);
	return rc;
}

static int
release(const struct nsrun_store *store, const char *word,
    struct nsrun_err *err)
{
	for (int i = 0; i < N_KINDS; i++) {
		size_t n = strlen(kinds[i].word);
		struct nsrun_store_item item;

		if (strncmp(word, kinds[i].word, n))
			continue;
		/* Nobody uses it, and nobody will: that is what a lock says. */
		if (nsrun_store_hold(&item, store, kinds[i].kind, word + n,
		    NSRUN_STORE_ALONE, err) < 0)
			return -1;
		return nsrun_store_remove(&item, err);
	}
	return nsrun_err_rule(err, NSRUN_STEP_OPTION,
	    "is neither private=NAME nor overlay=NAME", word, NULL);
}

static int
act(const char *dir, char *argv[], struct nsrun_err *err)
{
	struct nsrun_store store;
	char path[NSRUN_STORE_PATH];
	int rc = 0;

	if (!*argv || (strcmp(*argv, "list") && strcmp(*argv, "release")))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "wants list or release; see oc-nsrun(1)", "home", *argv);
	if (!strcmp(*argv, "list") ? argv[1] != NULL : argv[1] == NULL)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, argv[1] ?
		    "takes no argument" : "wants private=NAME or overlay=NAME",
		    *argv, NULL);
	if (nsrun_store_where(path, dir, err) < 0)
		return -1;
	/* None is made to be looked at. */
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return !strcmp(*argv, "list") ? 0 : nsrun_err_sys(err,
		    NSRUN_STEP_STATE, "open", path, NULL);
	if (nsrun_store_open(&store, dir, err) < 0)
		return -1;
	if (!strcmp(*argv, "list"))
		rc = list(&store, err);
	else
		for (argv++; rc == 0 && *argv; argv++)
			rc = release(&store, *argv, err);
	nsrun_store_close(&store);
	return rc;
}

int
home_main(int argc, char *argv[])
{
	static const char option[] = "--state-dir";
	struct nsrun_err err = NSRUN_ERR_INIT;
	const char *dir = NULL;
	int i = 1;

	if (i < argc && !strncmp(argv[i], "--state-dir=", sizeof option)) {
		dir = argv[i++] + sizeof option;
	} else if (i < argc && !strcmp(argv[i], option)) {
		dir = ++i < argc ? argv[i++] : "";
	} else if (i < argc && argv[i][0] == '-') {
		nsrun_err_rule(&err, NSRUN_STEP_OPTION,
		    "is no option; see oc-nsrun(1)", argv[i], NULL);
	}
	if (dir && !*dir)
		nsrun_err_rule(&err, NSRUN_STEP_OPTION, "wants a value", option,
		    NULL);
	if (err.step == NSRUN_STEP_NONE)
		(void)act(dir, argv + i, &err);
	if (err.step == NSRUN_STEP_NONE)
		return 0;
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}
