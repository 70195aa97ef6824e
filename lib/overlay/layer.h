/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One name of an upper layer, as overlayfs leaves it when it is mounted with
 * userxattr (Documentation/filesystems/overlayfs.rst of the kernel).
 *
 * A command that nobody trusts chose what is there. So nothing is followed,
 * every name is looked at in a directory that is open already, and what a mount
 * of ours never makes (redirect, metacopy) is told apart, not obeyed.
 */
#ifndef NSRUN_OVERLAY_LAYER_H
#define NSRUN_OVERLAY_LAYER_H

#include <stdbool.h>
#include <sys/stat.h>

enum nsrun_layer_kind {
	NSRUN_LAYER_FILE,
	NSRUN_LAYER_DIR,
	NSRUN_LAYER_LINK,
	NSRUN_LAYER_SPECIAL,	/* a socket, a FIFO, a device */
	NSRUN_LAYER_WHITEOUT,	/* the name is deleted: a character device 0:0,
				   or an empty file that says so */
	NSRUN_LAYER_STUB,	/* a mask's (base/stub.h): nothing */
};

struct nsrun_layer_entry {
	enum nsrun_layer_kind kind;
	struct stat	st;
	bool		opaque;		/* DIR: the lower one does not show */
	bool		elsewhere;	/* a redirect, or metacopy: it is not
					   all that there is to it */
};

/* Look at `name` in dir. 0, or -1 with errno set. */
int nsrun_layer_look(int dir_fd, const char *name,
    struct nsrun_layer_entry *entry);

/*
 * Where an entry is, for its notes: `path` in the layer, and the directory that
 * has a file "closed" of what was opened although its owner closed it.
 */
struct nsrun_layer_place {
	const char	*path;
	int		notes_fd;
};

/*
 * Open it for reading, although its owner, who we are or can act for, may have
 * closed it: then its mode is changed, a file's for a moment, a directory's
 * until nsrun_layer_leave(), since what is in it cannot be looked at otherwise.
 * -1 with errno set, also when it is not what was looked at any more.
 */
int nsrun_layer_open(int dir_fd, const char *name,
    const struct nsrun_layer_entry *entry, struct nsrun_layer_place place);
/* Done with a directory: 0, or -1 with errno set. */
int nsrun_layer_leave(int fd, const struct nsrun_layer_entry *entry);

/* Give back the modes that one who was killed had changed, by his notes. */
int nsrun_layer_restore(int notes_fd, int layer_fd);

#endif
