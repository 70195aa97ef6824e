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
	const char		*temp;		/* its own directory; NULL */
	struct nsrun_words	env;		/* names, granted */
	const char		**env_values;	/* as they were; NULL: unset */
	struct nsrun_words	server_env;	/* to servers, also secrets */
	struct nsrun_words	servers;	/* trusted, PLUGIN/SERVER */
	struct nsrun_words	masks;		/* below the project */
	bool			network_denied;	/* whatever is asked */
	bool			unsandboxed;	/* is asked for */
	bool			trusts_hooks;	/* without a sandbox */
	struct nsrun_request	words;		/* with an id: what it grants */
};

/*
 * The caller's home, which is not to be granted whole: as HOME says, and where
 * it says nothing (env -i, services), as the account does. Canonical, to be
 * freed; NULL: none.
 */
char *nsrun_session_home(void);

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

/*
 * Make it one of many launches: it keeps the id and what the request grants,
 * with the values that variables have now. An error where the request says what
 * only a launch can.
 */
int nsrun_session_keep(struct nsrun_session *session, const char *id,
    const struct nsrun_request *request, struct nsrun_err *err);

/* Do both, which are kept, grant the same to the same owner? */
bool nsrun_session_is_same(const struct nsrun_session *a,
    const struct nsrun_session *b);

/*
 * The request of one launch with what its session grants, all of it valid as
 * long as those two and the arena. An error where the launch asks for more.
 */
int nsrun_session_request(struct nsrun_request *whole,
    struct nsrun_arena *arena, const struct nsrun_session *session,
    const struct nsrun_request *launch, struct nsrun_err *err);

#endif
