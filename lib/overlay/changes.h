/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an upper layer changes in a project, told one name at a time: a
 * directory before what is in it, names in byte order.
 *
 * What is equal is no change, whatever the layer holds: a file that was only
 * opened for writing is copied up and stays the same. A directory that is
 * deleted is one change; one that was replaced shows what it lacks. A rename is
 * a deletion and an addition: that is how it is recorded.
 */
#ifndef NSRUN_OVERLAY_CHANGES_H
#define NSRUN_OVERLAY_CHANGES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "nsrun.h"
#include "overlay/layer.h"

struct nsrun_baseline;

enum nsrun_change_kind {
	NSRUN_CHANGE_ADDED,
	NSRUN_CHANGE_MODIFIED,	/* its content, its mode, what it is */
	NSRUN_CHANGE_DELETED,
	NSRUN_CHANGE_NONE,	/* the same by now */
};

struct nsrun_change {
	enum nsrun_change_kind kind;
	const char	*path;		/* below the project */
	const char	*name;		/* its last component */
	int		host_fd;	/* the directory there; -1: none */
	int		layer_fd;
	struct nsrun_layer_place place;	/* in the layer */
	const struct stat *was;		/* on the host; NULL: nothing */
	const struct nsrun_layer_entry *entry;	/* NULL: DELETED */
	bool		conflict;	/* the host's changed since */
	const char	*why_not;	/* why it is never applied; or NULL */
};

typedef int nsrun_change_fn(void *arg, const struct nsrun_change *change);

struct nsrun_changes {
	int		layer_fd, project_fd;
	int		notes_fd;	/* a directory, see layer.h */
	const struct nsrun_baseline *baseline;	/* NULL: no conflict */
	const char *const *reserved;	/* names at the top that are no
					   command's; NULL at the end */
	bool		tells_none;	/* also what is the same */
	nsrun_change_fn	*tell;		/* not 0: and no more */
	void		*arg;
	struct nsrun_err *err;
	char		path[PATH_MAX];
	int		depth;
};

/*
 * Returns 0, what tell returned when that was not 0, or -1 with err set. tell
 * may make a directory that was added: what is in it is told with that.
 */
int nsrun_changes_walk(struct nsrun_changes *c);

/*
 * Take out of the layer what is the same on the host by now, whatever else is
 * in it. What is left shows as before.
 */
int nsrun_changes_prune(struct nsrun_changes *c);

#endif
