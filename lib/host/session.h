/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session: what one caller may grant to commands, fixed when it is made.
 *
 * It is made of the request, of the host's environment at start-up (the
 * OPENCLAUDIA_* variables of nsrun-session(7)) and, where there is one, of the
 * site's configuration, which bounds both. Nothing in it changes afterwards,
 * and each root was opened once: all that is made of it uses that identity.
 * `oc-nsrun run` makes one for its one launch.
 */
#ifndef NSRUN_HOST_SESSION_H
#define NSRUN_HOST_SESSION_H

#include <sys/types.h>

#include "base/arena.h"
#include "host/config.h"
#include "host/request.h"
#include "host/roots.h"

struct nsrun_session {
	struct nsrun_arena	arena;
	const char		*id;		/* NULL: of one launch */
	uid_t			owner;
	struct nsrun_config	config;
	struct nsrun_granted	*roots;		/* shallow first; it owns their
						   descriptors */
	size_t			n_roots;
	const struct nsrun_granted *project;	/* NULL: none */
	const char		*cwd;		/* canonical; NULL: the
						   project's, or none */
	const char		*temp;		/* its own directory; NULL */
	struct nsrun_words	env;		/* names, granted */
	struct nsrun_words	server_env;	/* to servers, also secrets */
	struct nsrun_words	servers;	/* trusted, PLUGIN/SERVER */
	struct nsrun_words	masks;		/* below the project */
	bool			network_denied;	/* whatever is asked */
	bool			unsandboxed;	/* is asked for */
	bool			trusts_hooks;	/* without a sandbox */
};

/*
 * Make one. `home` is the caller's, which is not to be granted whole; NULL:
 * none. After -1 there is none.
 */
int nsrun_session_new(struct nsrun_session **session,
    const struct nsrun_request *request, const char *home,
    struct nsrun_err *err);
void nsrun_session_free(struct nsrun_session *session);

/* May this launch use the profile and the network? */
int nsrun_session_check(const struct nsrun_session *session,
    const char *profile, enum nsrun_network network, struct nsrun_err *err);

/* What stands between this launch and the host; an error where it may not. */
int nsrun_session_boundary(const struct nsrun_session *session,
    const struct nsrun_profile *profile, const struct nsrun_request *request,
    enum nsrun_boundary *boundary, struct nsrun_err *err);

/* The sessions of a server, by id. */
struct nsrun_sessions {
	struct nsrun_session	**v;
	size_t			n;
};

/*
 * Take *session under its id: *known is that one, or, if the id is there
 * already, the one that was, and the new one is freed. An id that is there with
 * another project, or for another owner, is an error, and *session stays the
 * caller's.
 */
int nsrun_sessions_add(struct nsrun_sessions *sessions,
    struct nsrun_session **session, struct nsrun_session **known,
    struct nsrun_err *err);
void nsrun_sessions_deinit(struct nsrun_sessions *sessions);

#endif
