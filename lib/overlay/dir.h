/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Walking trees that may be anybody's, by descriptors. */
#ifndef NSRUN_OVERLAY_DIR_H
#define NSRUN_OVERLAY_DIR_H

#include <stdbool.h>
#include <stddef.h>

/* Two descriptors a level are held: see RLIMIT_NOFILE. */
enum { NSRUN_OVERLAY_DEPTH = 256 };

/* A directory of a tree that must not lead out of it: no link, no mount. */
int nsrun_dir_open(int dir_fd, const char *name);

/* The names in a directory, sorted; all in one piece that the caller frees. */
struct nsrun_names {
	char	**v;
	size_t	n;
};
int nsrun_names_read(struct nsrun_names *names, int dir_fd);
void nsrun_names_free(struct nsrun_names *names);
bool nsrun_names_have(const struct nsrun_names *names, const char *name);

#endif
