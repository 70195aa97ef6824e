/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the scan share.
 *
 *	scan.c		the rounds, the threads, the stack of jobs
 *	scan_open.c	opening a directory for its job
 *	scan_dir.c	the two jobs: read a directory, check its directories
 *	scan_setid.c	which files lend rights
 *	scan_judge.c	from what was found to what is a hazard
 *	scan_cover.c	which directories cover aliases
 *
 * A node belongs to the job that it has, and a node has one at most; what is
 * linked to others, the arena and the counters belong to the lock. Nodes are
 * never freed while the scan lives: one that left the tree is just not reached
 * any more, and its `round` tells.
 */
#ifndef NSRUN_HOST_SCAN_TREE_H
#define NSRUN_HOST_SCAN_TREE_H

#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#include "host/scan.h"

enum {
	SCAN_BUFFER	= 65536,
	SCAN_MAX_BATCH	= SCAN_BUFFER / 24,	/* the smallest entry is 24 */
	SCAN_MAX_OPEN	= 64,			/* directories kept open */
	SCAN_THREADS	= 2,
};

struct nsrun_scan_dir {
	struct nsrun_scan_dir *parent;		/* NULL: a root */
	struct nsrun_scan_dir *child, *last, *sibling;
	struct nsrun_scan_dir *older;		/* made before it */
	struct nsrun_scan_dir *next;		/* below it on the stack */
	uint64_t	ino, mnt_id;
	int64_t		ctime_ns;	/* when it was read; 0: never */
	uint64_t	n_entries;
	uint32_t	n_regular;	/* in it; later: and below */
	uint32_t	n_alias;	/* likewise, of the result */
	uint32_t	depth;
	uint32_t	generation;	/* how often it was read */
	uint32_t	round;		/* when it was last seen in place */
	uint32_t	users;		/* of fd */
	uint32_t	root;
	int		fd;		/* -1: not kept open */
	dev_t		dev;
	bool		recent;		/* ctime_ns cannot tell a change */
	bool		barred;		/* not entered: a hazard itself */
	bool		checks;		/* its job is not to be read */
	bool		asked;		/* exposure is known */
	enum nsrun_exposure exposure;
	bool		keeps, covers, told;	/* see scan_cover.c */
	char		name[];
};

/* Something in a directory that may turn out to be a hazard. */
struct scan_found {
	struct scan_found *next;
	struct nsrun_scan_dir *dir;
	uint32_t	generation;	/* of dir, when it was seen */
	uint32_t	nlink;
	uint64_t	ino;
	dev_t		dev;
	mode_t		mode;
	enum nsrun_hazard kind;
	char		name[];
};

struct nsrun_scan {
	struct nsrun_arena arena;
	struct nsrun_scan_limits limits;
	const struct nsrun_scan_root *roots;
	size_t		n_roots;
	struct nsrun_scan_dir **trees;	/* one for each root */
	struct nsrun_scan_dir *newest;	/* of all nodes */
	struct scan_found *found;
	size_t		n_found;
	struct scan_found *gits;	/* what is called .git */
	uint64_t	n_entries;
	int64_t		start_ms, deadline_ms;
	uint32_t	round;
	bool		unsettled, recent;	/* of this round */

	pthread_mutex_t	lock;
	pthread_cond_t	wake;
	struct nsrun_scan_dir *jobs;
	unsigned int	n_busy, n_waiting, n_open;
	bool		failed, quit, has_helper;
	bool		alone;		/* no second processor, or thread */
	pthread_t	helper;
	struct nsrun_err *err;

	const struct nsrun_scan_dir *sorted_of;	/* see scan_cover.c; or NULL */
	struct nsrun_scan_dir **sorted;		/* its directories */
	size_t		n_sorted;

	char		*text;		/* of nsrun_scan_path() */
	size_t		text_size;
	struct nsrun_scan_result result;
};

/* An entry of a directory, between getdents64(2) and the lock. */
struct scan_entry {
	const char	*name;
	uint64_t	ino;
	dev_t		dev;
	uint32_t	nlink;
	mode_t		mode;
	enum nsrun_hazard kind;		/* NONE: a directory */
	bool		git;		/* is called .git */
	bool		harmless;	/* and is nothing but that */
};

struct scan_worker {
	struct nsrun_scan *scan;
	size_t		n_batch;
	uint32_t	n_regular;	/* of this batch */
	uint64_t	n_seen;
	struct scan_entry batch[SCAN_MAX_BATCH];
	char		path[PATH_MAX];
	_Alignas(8) char buffer[SCAN_BUFFER];
};

/* scan.c; the lock is held. */
void nsrun_scan_push(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    bool checks);
int nsrun_scan_fail(struct nsrun_scan *scan, const char *call, int errnum,
    const struct nsrun_scan_dir *dir, const char *name);
int64_t nsrun_scan_now_ms(void);

/* Why this regular file is refused in a tree that lends; NULL: it is not. */
const char *nsrun_scan_setid_rule(int dir_fd, const char *name, mode_t mode);

/* scan_open.c; the lock is not held. */
int nsrun_scan_open_root(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    int fd);
/*
 * Open dir for its job; *held: it is kept open for those below it. -1 with
 * errno set. To be closed in any case but that.
 */
int nsrun_scan_open_job(struct scan_worker *w, struct nsrun_scan_dir *dir,
    bool *held);
void nsrun_scan_close_job(struct scan_worker *w, struct nsrun_scan_dir *dir,
    int fd, bool held);

/* scan_dir.c; the lock is not held. */
void nsrun_scan_do_read(struct scan_worker *w, struct nsrun_scan_dir *dir);
void nsrun_scan_do_check(struct scan_worker *w, struct nsrun_scan_dir *dir);
/* The root's own check: it has no parent to be looked up in. */
void nsrun_scan_check_root(struct nsrun_scan *scan, struct nsrun_scan_dir *dir);

#endif
