/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile: the text of nsrun-profiles(5) as data. Parsing reads no file and
 * knows no host; what the words mean there is build.c's business.
 */
#ifndef NSRUN_HOST_PROFILE_H
#define NSRUN_HOST_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "host/gitview.h"
#include "host/scan.h"
#include "plan/plan.h"

struct nsrun_err;

struct nsrun_words {
	const char	**v;
	size_t		n;
};

struct nsrun_private {
	const char	*path;		/* "home" is the caller's */
	mode_t		mode;
};

struct nsrun_pair {
	const char	*name, *value;
};

/* What a variable of the caller's may point at; see host/toolchain.c. */
struct nsrun_toolchain {
	const char		*name;		/* "JAVA_HOME" */
	const char		*marker;	/* there, or it is none */
	struct nsrun_words	dirs;
};

struct nsrun_profile {
	struct nsrun_arena	arena;
	const char		*name, *filter, *hostname;
	const char		*nesting;	/* the filter that takes its
						   place; NULL: not permitted */
	bool			networks[NSRUN_N_NETWORKS];	/* permitted */
	enum nsrun_network	network;	/* the default */
	uint64_t		wall_ms;	/* 0: none */
	bool			stdin_null;
	enum nsrun_git		git;
	struct nsrun_limit	limits[NSRUN_N_LIMITS];
	uint64_t		tmpfs_size, tmpfs_inodes;
	enum nsrun_on_hazard	on_hazard;
	struct nsrun_scan_limits scan;
	struct nsrun_private	*privates;
	size_t			n_privates;
	struct nsrun_words	system, merged, toolchain, path, etc, device;
	struct nsrun_words	control, cover, mask, root_cover, root_mask;
	struct nsrun_words	pass;		/* empty: the usual names */
	struct nsrun_toolchain	*toolchains;
	size_t			n_toolchains;
	bool			needs_server;	/* and a trusted one */
	bool			is_hook;	/* --hook-mode may be asked */
	struct nsrun_pair	*lower, *set;
	size_t			n_lower, n_set;
};

/*
 * Parse text, called `file` in errors: "file:LINE:COLUMN". `like` reads the
 * release's own profiles. On failure nothing is left to release.
 */
int nsrun_profile_parse(struct nsrun_profile *profile, const char *file,
    const char *text, struct nsrun_err *err);
void nsrun_profile_deinit(struct nsrun_profile *profile);

#endif
