/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a caller asks for, parsed but not yet measured against the host. */
#ifndef NSRUN_HOST_REQUEST_H
#define NSRUN_HOST_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "host/scan.h"
#include "nsrun.h"
#include "plan/plan.h"

enum nsrun_as {
	NSRUN_AS_DEFAULT,	/* owner where that can be, else keep */
	NSRUN_AS_KEEP,
	NSRUN_AS_OWNER,
	NSRUN_AS_IDS,
	NSRUN_AS_USER,		/* of the host, as_name */
	NSRUN_AS_KEY,		/* a tenant, as_name: see host/keys.h */
};

struct nsrun_root {
	const char	*path;		/* as given */
	bool		writable;
};

/* A variable: granted from the caller's environment, or given a value. */
struct nsrun_variable {
	const char	*name;
	const char	*value;		/* NULL: the caller's */
};

/* Where the command's home is, which has the same path in all of them. */
enum nsrun_home {
	NSRUN_HOME_DEFAULT,	/* as the profile says */
	NSRUN_HOME_TMPFS,	/* new, empty, in memory */
	NSRUN_HOME_PRIVATE,	/* on the host, for nothing else */
	NSRUN_HOME_OVERLAY,	/* a directory of the host's, read */
};

/* A file that the command gets to see, or to have as a copy. */
struct nsrun_credential {
	const char	*path;		/* as given */
	const char	*dest;		/* as given; NULL: the same path */
	bool		copies;
};

struct nsrun_request {
	struct nsrun_arena	arena;
	const char		*profile, *project, *cwd;
	struct nsrun_root	*roots;
	size_t			n_roots;
	const char		**masks;	/* clean; may be relative */
	size_t			n_masks;
	struct nsrun_variable	*variables;
	size_t			n_variables;
	enum nsrun_as		as;
	uid_t			as_uid;
	gid_t			as_gid;
	const char		*as_name;
	bool			host_temp;	/* a directory on the host */
	const char		*temp;		/* is this one; NULL: not yet */
	bool			only_explains;	/* and so never needs one */
	enum nsrun_home		home;
	const char		*home_name;	/* kept under it; NULL: not */
	bool			keeps_overlay;	/* --home-keep was said */
	const char		*home_dir;	/* OVERLAY; NULL: the usual */
	const char		*state_dir;	/* NULL: the usual one */
	const char		*home_item;	/* held on the host; NULL: none
						   yet, or none needed */
	struct nsrun_credential	*credentials;
	size_t			n_credentials;
	bool			returns_credentials;
	const char		*overlay;	/* the project's; NULL: none */
	bool			drops_overlay;	/* and lists it first */
	const struct nsrun_store_item *overlay_item;	/* held; NULL: not */
	int			overlay_busy_fd;	/* a lock, for pid 1 */
	const char		*server;	/* PLUGIN/SERVER; NULL: none */
	bool			has_hook_mode;
	enum nsrun_boundary	hook_mode;
	bool			nesting;	/* namespaces inside */
	bool			stdin_null;
	bool			has_network, has_timeout;
	enum nsrun_network	network;
	struct nsrun_limit	limits[NSRUN_N_LIMITS];
	enum nsrun_cgroup_use	cgroup_use;
	const char		*cgroup_parent;	/* NULL: to be found */
	enum nsrun_on_hazard	on_hazard;
	uint64_t		timeout_ms;		/* 0: none */
	uint64_t		max_output_bytes;	/* 0: no cap */
	char			**argv;
	bool			probes;		/* the host, not its grants */
	bool			share_network;	/* a fallback, not a wish */
	bool			for_program;	/* our thread is our process */
	bool			reports;	/* somebody reads the records */
	uint64_t		said;		/* 1 << index of each word */
};

/* Says that a word whose value may lack has none. */
#define NSRUN_REQUEST_OWN "-"

/* The words of the native face: for --help, and to know which take a value. */
struct nsrun_request_word {
	const char	*name;		/* "project" */
	const char	*argument;	/* "DIR"; "[=NAME]": may lack; NULL:
					   takes none */
	const char	*help;
	int (*set)(struct nsrun_request *request, const char *value,
	    struct nsrun_err *err);
};

/* build_scan.c */
int nsrun_request_set_on_hazard(struct nsrun_request *request,
    const char *value, struct nsrun_err *err);

extern const struct nsrun_request_word nsrun_request_words[];
extern const size_t nsrun_n_request_words;

#endif
