/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source trees of a caller that is about to leave uid 0: cloned while it may
 * still reach them (a project below /root, mode 0700), restricted, and
 * idmapped where their owner would be a stranger to the command: the owner's
 * files appear as the command's, and what the command makes is the owner's.
 */
#include "run/prep.h"

#include <errno.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/idmapped.h"
#include "base/sys.h"

static int
open_idmap(const struct nsrun_prep *prep, const struct nsrun_pin *pin)
{
	const struct nsrun_identity *who = &prep->plan->identity;

	return nsrun_idmap_open(prep->proc_fd, pin->uid, who->host_uid,
	    pin->gid, who->host_gid);
}

/* -1 and no error: an optional source that is absent. */
static int
clone_tree(const struct nsrun_mount *m, int idmap_fd, struct nsrun_err *err)
{
	bool overlay = m->kind == NSRUN_MOUNT_OVERLAY;
	const char *call, *path = overlay ? m->layers[0] : m->source;
	int fd = nsrun_tree_clone(m->flags & NSRUN_MOUNT_PINNED ? m->pin.fd :
	    -1, path, m->flags & NSRUN_MOUNT_RECURSIVE,
	    overlay ? 0 : nsrun_mount_attributes(m), idmap_fd, &call);

	if (fd >= 0 || (errno == ENOENT && m->flags & NSRUN_MOUNT_OPTIONAL))
		return fd;
	return nsrun_err_sys(err, NSRUN_STEP_IDENTITY, call, path, NULL);
}

/* What an overlay is kept in: the caller's, and what is in it the command's. */
static int
clone_kept(const struct nsrun_mount *m, struct nsrun_err *err)
{
	const char *call;
	int fd = nsrun_tree_clone(-1, m->source, 0, 0, -1, &call);

	return fd >= 0 ? fd : nsrun_err_sys(err, NSRUN_STEP_IDENTITY, call,
	    m->source, NULL);
}

int
nsrun_trees_clone(struct nsrun_prep *prep, struct nsrun_err *err)
{
	const struct nsrun_mounts *mounts = &prep->plan->mounts;
	nsrun_autoclose int idmap_fd = -1;
	const struct nsrun_pin *mapped = NULL;

	for (size_t i = 0; i < mounts->n; i++) {
		const struct nsrun_mount *m = &mounts->v[i];
		bool idmap = m->flags & NSRUN_MOUNT_IDMAPPED;
		bool overlay = m->kind == NSRUN_MOUNT_OVERLAY &&
		    m->flags & NSRUN_MOUNT_PINNED;

		if (m->kind != NSRUN_MOUNT_BIND && !overlay)
			continue;
		if (idmap && (!mapped || mapped->uid != m->pin.uid ||
		    mapped->gid != m->pin.gid)) {
			nsrun_fd_close(&idmap_fd);
			idmap_fd = open_idmap(prep, &m->pin);
			if (idmap_fd < 0)
				return nsrun_err_sys(err, NSRUN_STEP_IDENTITY,
				    "idmap", m->source, NULL);
			mapped = &m->pin;
		}
		prep->tree_fds[i] = clone_tree(m, idmap ? idmap_fd : -1, err);
		if (prep->tree_fds[i] < 0 && err->step != NSRUN_STEP_NONE)
			return -1;
		if (overlay && m->source && !m->work &&
		    (prep->tree_fds[mounts->n + i] = clone_kept(m, err)) < 0)
			return -1;
	}
	return 0;
}
