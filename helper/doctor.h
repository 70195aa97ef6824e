/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the two halves of doctor: the host, and what is granted on it. */
#ifndef HELPER_DOCTOR_H
#define HELPER_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

struct nsrun_err;
struct nsrun_session;

enum verdict { OK, INFO, FAIL };

struct doctor {
	bool			json;
	struct nsrun_json	out;
	unsigned int		n_failed;
	bool			only_network_refused;
	struct nsrun_session	*session;	/* NULL: there can be none */
};

/* remedy NULL: there is nothing to do. */
void doctor_tell(struct doctor *d, enum verdict verdict, const char *check,
    const char *found, const char *remedy);

/* "call: EPERM", or the rule. */
const char *doctor_cause(const struct nsrun_err *err, char *buf, size_t size);

/* Cgroups: whether a launch can have one. */
void doctor_cgroup_check(struct doctor *d);

/* The site's configuration and the host's grants; their numbers in JSON. */
void doctor_session_check(struct doctor *d);
void doctor_session_put(struct doctor *d);
void doctor_session_deinit(struct doctor *d);

#endif
