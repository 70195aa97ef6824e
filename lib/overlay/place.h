/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Making one object of the host, beside its name, and putting it there. */
#ifndef NSRUN_OVERLAY_PLACE_H
#define NSRUN_OVERLAY_PLACE_H

#include "overlay/apply.h"

/* Each: 0; 1, a->why says why it is refused; -1, a->err is set. */

/* A file or link of the layer under a->temp in host_fd. */
int nsrun_place_file(struct nsrun_apply *a, const struct nsrun_change *change);
int nsrun_place_link(struct nsrun_apply *a, const struct nsrun_change *change);
int nsrun_place_dir(struct nsrun_apply *a, const struct nsrun_change *change);

/* Is it, with all that is in it, as it was? Then delete it. */
int nsrun_place_may_delete(struct nsrun_apply *a, int host_fd,
    const char *name, const char *path);
int nsrun_place_delete(struct nsrun_apply *a, int host_fd, const char *name,
    const char *path);

/* In these words. */
extern const char nsrun_place_changed[];
int nsrun_place_failed(struct nsrun_apply *a, const char *call,
    const char *path);

#endif
