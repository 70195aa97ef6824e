/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The site's configuration: what the operator of this host lets callers grant.
 *
 * It stands in one directory, NSRUN_CONFIG_DIR, which only root can change, and
 * which need not be there. oc-nsrun.conf bounds every launch; NAME.profile and
 * NAME.policy are profiles and filters of the site's own. A file or directory
 * that anybody else could have written is not ignored, it is an error.
 */
#ifndef NSRUN_HOST_CONFIG_H
#define NSRUN_HOST_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "host/profile.h"
#include "plan/plan.h"

struct nsrun_err;

/* What callers may name: these, or with `any` whatever they could without. */
struct nsrun_allowed {
	bool			any;
	struct nsrun_words	words;
};

struct nsrun_config {
	struct nsrun_arena	arena;
	bool			present;	/* there is an oc-nsrun.conf */
	struct nsrun_allowed	projects, read_only, read_write;
	struct nsrun_allowed	env, server_env, servers, profiles;
	bool			networks[NSRUN_N_NETWORKS];
	bool			nesting;
	struct nsrun_words	masks;		/* of every project */
	bool			permits[NSRUN_N_BOUNDARIES];
};

/* Read oc-nsrun.conf. After -1 nothing is left to release. */
int nsrun_config_load(struct nsrun_config *config, struct nsrun_err *err);
void nsrun_config_deinit(struct nsrun_config *config);

/* The same from a text, called `file` in errors: "file:LINE:COLUMN". */
int nsrun_config_parse(struct nsrun_config *config, const char *file,
    const char *text, struct nsrun_err *err);

/*
 * The text of NAME.KIND in the directory, which the caller frees: 1, or 0 where
 * there is none, or -1. path gets its name, for messages.
 */
enum { NSRUN_CONFIG_PATH = 160 };
int nsrun_config_text(const char *name, const char *kind, char **text,
    char path[NSRUN_CONFIG_PATH], struct nsrun_err *err);

/* Each name of a text of that kind ("profile", "policy"), in byte order. */
int nsrun_config_names(const char *kind, struct nsrun_arena *arena,
    struct nsrun_words *names, struct nsrun_err *err);

/* Is the word allowed? Is the directory, or one above it? */
bool nsrun_allowed_word(const struct nsrun_allowed *allowed, const char *word);
bool nsrun_allowed_path(const struct nsrun_allowed *allowed, const char *path);

#endif
