/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles and filters by name: the release's own, which are embedded, and the
 * site's, which are files of its configuration. A name is of one of the two: a
 * site's text that is called like one of the release's is an error.
 */
#ifndef NSRUN_HOST_SITE_H
#define NSRUN_HOST_SITE_H

#include <stdint.h>

#include "host/profile.h"

struct nsrun_err;
struct nsrun_filter;

/* To be released with nsrun_profile_deinit(), unless it failed. */
int nsrun_site_profile(struct nsrun_profile *profile, const char *name,
    struct nsrun_err *err);

/* *filter is the release's or the arena's, or NULL: there is none. */
int nsrun_site_filter(const struct nsrun_filter **filter,
    struct nsrun_arena *arena, const char *name, const char *variant,
    uint32_t audit_arch, struct nsrun_err *err);

/*
 * The text of a name of that kind ("profile" or "filter"): the release's, or
 * the arena's; NULL: there is none. path gets what to call it in messages.
 */
int nsrun_site_text(const char **text, struct nsrun_arena *arena,
    const char *kind, const char *name, char path[160], struct nsrun_err *err);

#endif
