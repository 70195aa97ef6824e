/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Identity: which ids the command gets on the host, and how a root caller's
 * trees stay usable for them.
 */
#ifndef NSRUN_HOST_IDENTITY_H
#define NSRUN_HOST_IDENTITY_H

#include "host/request.h"
#include "host/roots.h"
#include "plan/plan.h"

/*
 * Whom a root caller becomes when nobody better is at hand: reserved in
 * Debian's policy, unused by systemd, and not 65534, which is how unmapped
 * owners look.
 */
enum { NSRUN_UNPRIVILEGED_ID = 65530 };

/*
 * Decide plan->identity and the id maps. `project` is NULL when there is none;
 * roots are all n granted ones, the project among them.
 */
int nsrun_identity_decide(struct nsrun_plan *plan,
    const struct nsrun_request *request, const struct nsrun_granted *project,
    const struct nsrun_granted *roots, size_t n, struct nsrun_err *err);

/* A key that is new gets its ids, on the host: a plan only looks them up. */
int nsrun_identity_record(const struct nsrun_request *request,
    struct nsrun_err *err);

/*
 * Who the command of this request will most likely be on the host, before there
 * is a plan: what is made for it is theirs.
 */
void nsrun_identity_expect(const struct nsrun_request *request, uid_t *uid,
    gid_t *gid);

/* Does the command need this root idmapped? */
bool nsrun_identity_maps(const struct nsrun_identity *who,
    const struct nsrun_pin *pin);

/*
 * Try on each root that needs it what the launch will do. NULL when all of it
 * works, else why it does not.
 */
const char *nsrun_identity_try_maps(const struct nsrun_identity *who,
    const struct nsrun_granted *roots, size_t n);

/* Is our uid 0 the host's own? Have we the right to mount where we are? */
bool nsrun_identity_is_host_root(void);
bool nsrun_identity_can_mount(void);

#endif
