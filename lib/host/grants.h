/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the environment that this process was started with grants: the
 * OPENCLAUDIA_* variables of nsrun-session(7). One bad word in one of them is
 * an error for every launch; an empty variable is one that is not set.
 */
#ifndef NSRUN_HOST_GRANTS_H
#define NSRUN_HOST_GRANTS_H

#include <stdbool.h>

#include "host/profile.h"

struct nsrun_arena;
struct nsrun_err;

struct nsrun_grants {
	struct nsrun_words	read_only, read_write;	/* as given */
	struct nsrun_words	env, server_env, servers, masks;
	bool			network_denied, unsandboxed, trusts_hooks;
};

int nsrun_grants_read(struct nsrun_grants *grants, struct nsrun_arena *arena,
    struct nsrun_err *err);

/* Is this a path beneath a project? NAMEs joined by `/`, in UTF-8. */
int nsrun_mask_check(const char *path, struct nsrun_err *err);

/* Append word, which is the arena's, unless it is there. -1: no memory. */
int nsrun_words_add(struct nsrun_words *words, struct nsrun_arena *arena,
    const char *word);

/* Is the text valid UTF-8? */
bool nsrun_text_is_utf8(const char *text);

#endif
