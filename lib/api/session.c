/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions as nsrun.h gives them to a C host: the process's own list of them,
 * by id, each with its temporary directory and the number of its users.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "host/build.h"
#include "host/identity.h"
#include "host/session.h"
#include "plan/plan.h"
#include "run/temp.h"

struct registered {
	struct nsrun_session	*session;
	struct nsrun_temp	temp;
	unsigned int		n_users;
	struct registered	*next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct registered *registry;

/* Lock held, as in all that follows. */
static struct registered *
find_id(const char *id)
{
	struct registered *r = registry;

	while (r && strcmp(r->session->id, id))
		r = r->next;
	return r;
}

static int
make_session(struct nsrun_session **session, const char *id,
    const struct nsrun_request *grants, struct nsrun_err *err)
{
	char *home = nsrun_session_home();
	int rc = nsrun_session_new(session, grants, home, err);

	free(home);
	if (rc == 0 && nsrun_session_keep(*session, id, grants, err) < 0) {
		nsrun_session_free(*session);
		*session = NULL;
		rc = -1;
	}
	return rc;
}

/* The id is there: for the same grants it is that session, once more. */
static int
add_user(struct registered *known, const struct nsrun_request *grants,
    struct nsrun_err *err)
{
	struct nsrun_session *again;
	bool same;

	if (make_session(&again, known->session->id, grants, err) < 0)
		return -1;
	same = nsrun_session_is_same(known->session, again);
	nsrun_session_free(again);
	if (!same)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is registered"
		    " already, with other roots or grants", "session",
		    known->session->id);
	known->n_users++;
	return 0;
}

/* grants gets the temporary directory that it asks for. */
static int
add_new(struct registered **added, const char *id,
    struct nsrun_request *grants, struct nsrun_err *err)
{
	struct registered *r = calloc(1, sizeof *r);
	uid_t uid;
	gid_t gid;

	if (!r)
		return nsrun_err_nomem(err, "session");
	r->temp = (struct nsrun_temp)NSRUN_TEMP_INIT;
	r->n_users = 1;
	if (nsrun_identity_record(grants, err) < 0) {
		free(r);
		return -1;
	}
	if (grants->host_temp) {
		nsrun_identity_expect(grants, &uid, &gid);
		if (nsrun_temp_make(&r->temp, uid, gid, err) < 0) {
			free(r);
			return -1;
		}
		grants->temp = r->temp.path;
	}
	if (make_session(&r->session, id, grants, err) < 0) {
		nsrun_temp_release(&r->temp, err);
		free(r);
		return -1;
	}
	r->next = registry;
	*added = registry = r;
	return 0;
}

int
nsrun_session_register(struct nsrun_session **session, const char *id,
    const struct nsrun_request *grants, struct nsrun_err *err)
{
	struct nsrun_request asked = *grants;
	struct registered *r;
	int rc;

	*session = NULL;
	pthread_mutex_lock(&lock);
	r = find_id(id);
	if (r) {
		if (asked.host_temp && *r->temp.path)
			asked.temp = r->temp.path;
		rc = add_user(r, &asked, err);
	} else {
		rc = add_new(&r, id, &asked, err);
	}
	if (rc == 0)
		*session = r->session;
	pthread_mutex_unlock(&lock);
	return rc;
}

const char *
nsrun_session_temp(const struct nsrun_session *session)
{
	return session->temp;
}

/* The directory is the command's, whoever that turned out to be. */
static int
give_temp(const struct nsrun_session *session, const struct nsrun_plan *plan,
    struct nsrun_err *err)
{
	struct registered *r;
	int rc;

	pthread_mutex_lock(&lock);
	r = find_id(session->id);
	rc = nsrun_temp_give(&r->temp, plan->identity.host_uid,
	    plan->identity.host_gid, err);
	pthread_mutex_unlock(&lock);
	return rc;
}

int
nsrun_session_plan(struct nsrun_plan **plan,
    const struct nsrun_session *session, const struct nsrun_request *launch,
    struct nsrun_err *err)
{
	if (nsrun_build_plan(plan, session, launch, err) < 0)
		return -1;
	if (!session->temp || give_temp(session, *plan, err) == 0)
		return 0;
	nsrun_plan_free(*plan);
	*plan = NULL;
	return -1;
}

int
nsrun_session_release(struct nsrun_session *session, struct nsrun_err *err)
{
	struct registered **at = &registry, *r;
	int rc = 0;

	if (!session)
		return 0;
	pthread_mutex_lock(&lock);
	while ((*at)->session != session)
		at = &(*at)->next;
	r = *at;
	if (--r->n_users == 0) {
		*at = r->next;
		rc = nsrun_temp_release(&r->temp, err);
		nsrun_session_free(r->session);
		free(r);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
