/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One directory: read it, or look whether it and those in it are as they were.
 * Its ctime tells of each change of its entries, if the clock that files are
 * stamped with has moved on since it was read.
 */
#include "host/scan_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/fd.h"
#include "base/sys.h"

enum { MAX_SEARCH = 64 };

enum { MASK = SYS_STATX_TYPE | SYS_STATX_NLINK | SYS_STATX_INO |
    SYS_STATX_CTIME | SYS_STATX_MNT_ID };

/* As getdents64(2) lays it out. */
struct entry {
	uint64_t	ino;
	int64_t		offset;
	unsigned short	length;
	unsigned char	type;
	char		name[];
};

/* error 0: `call` is a rule that is broken. */
static void
fail_with(struct scan_worker *w, const char *call, int error,
    const struct nsrun_scan_dir *dir, const char *name)
{
	pthread_mutex_lock(&w->scan->lock);
	if (!w->scan->failed)
		nsrun_scan_fail(w->scan, call, error, dir, name);
	pthread_mutex_unlock(&w->scan->lock);
}

static void
fail(struct scan_worker *w, const char *call,
    const struct nsrun_scan_dir *dir, const char *name)
{
	fail_with(w, call, errno, dir, name);
}

/* It was there a moment ago: whatever was done, its directory changed. */
static bool
is_gone(int error)
{
	return error == ENOENT || error == ENOTDIR || error == ELOOP ||
	    error == ESTALE;
}

static int64_t
ctime_of(const struct sys_statx *st)
{
	return st->ctime.s * 1000000000 + st->ctime.ns;
}

static dev_t
dev_of(const struct sys_statx *st)
{
	return makedev(st->dev_major, st->dev_minor);
}

/*
 * A change after `now` would be stamped with `now` at the earliest, less what
 * the file system cuts off: a second or two where it keeps no fractions.
 */
static bool
is_recent(int64_t ctime_ns, const struct timespec *now)
{
	int64_t margin = ctime_ns % 1000000000 ? 1000000 : 2000000000;

	return ctime_ns + margin >= (int64_t)now->tv_sec * 1000000000 +
	    now->tv_nsec;
}

/* Before the others of the list; NULL: the scan has failed. Lock held. */
static struct scan_found *
add_to(struct scan_found **list, struct nsrun_scan *scan,
    struct nsrun_scan_dir *dir, const struct scan_entry *e)
{
	size_t n = strlen(e->name) + 1;
	struct scan_found *f = nsrun_arena_alloc(&scan->arena, sizeof *f + n);

	if (!f) {
		errno = ENOMEM;
		nsrun_scan_fail(scan, "memory", ENOMEM, dir, e->name);
		return NULL;
	}
	f->dir = dir;
	f->generation = dir->generation;
	f->nlink = e->nlink;
	f->ino = e->ino;
	f->dev = e->dev;
	f->mode = e->mode;
	f->kind = e->kind;
	memcpy(f->name, e->name, n);
	f->next = *list;
	return *list = f;
}

/* The lock is held. */
static void
add_found(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    const struct scan_entry *e)
{
	if (add_to(&scan->found, scan, dir, e))
		scan->n_found++;
}

/*
 * One of those that were there before, taken out of *old; or NULL. They stand
 * in the directory's order, so it is among the first, or is looked at anew.
 */
static struct nsrun_scan_dir *
take_old(struct nsrun_scan_dir **old, const struct scan_entry *e)
{
	for (int i = 0; *old && i < MAX_SEARCH; i++, old = &(*old)->sibling) {
		struct nsrun_scan_dir *c = *old;

		if (c->ino == e->ino && !c->barred && !strcmp(c->name,
		    e->name)) {
			*old = c->sibling;
			return c;
		}
	}
	return NULL;
}

/* The lock is held. */
static void
add_child(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    const struct scan_entry *e, struct nsrun_scan_dir **old)
{
	struct nsrun_scan_dir *c = take_old(old, e);
	size_t n = strlen(e->name) + 1;

	if (!c) {
		c = nsrun_arena_alloc(&scan->arena, sizeof *c + n);
		if (!c) {
			nsrun_scan_fail(scan, "memory", ENOMEM, dir, e->name);
			return;
		}
		c->parent = dir;
		c->root = dir->root;
		c->depth = dir->depth + 1;
		c->fd = -1;
		memcpy(c->name, e->name, n);
		c->older = scan->newest;
		scan->newest = c;
		if (c->depth > scan->limits.depth) {
			nsrun_scan_fail(scan, "is deeper than a scan goes:"
			    " remove it", 0, dir, NULL);
			return;
		}
		nsrun_scan_push(scan, c, false);
	}
	c->sibling = NULL;
	if (dir->last)
		dir->last->sibling = c;
	else
		dir->child = c;
	dir->last = c;
}

/* What the batch holds becomes the tree's; false: the scan has failed. */
static bool
file_batch(struct scan_worker *w, struct nsrun_scan_dir *dir,
    struct nsrun_scan_dir **old)
{
	struct nsrun_scan *scan = w->scan;
	bool ok;

	pthread_mutex_lock(&scan->lock);
	dir->n_regular += w->n_regular;
	dir->n_entries += w->n_seen;
	scan->n_entries += w->n_seen;
	if (!scan->failed && scan->n_entries > scan->limits.entries)
		nsrun_scan_fail(scan, "has more entries than a scan goes"
		    " through", 0, scan->trees[dir->root], NULL);
	for (size_t i = 0; i < w->n_batch && !scan->failed; i++) {
		const struct scan_entry *e = &w->batch[i];

		if (e->git)
			add_to(&scan->gits, scan, dir, e);
		if (e->harmless)
			continue;
		if (e->kind == NSRUN_HAZARD_NONE)
			add_child(scan, dir, e, old);
		else
			add_found(scan, dir, e);
	}
	if (!scan->failed && nsrun_scan_now_ms() >= scan->deadline_ms)
		nsrun_scan_fail(scan, "is not read in the time that a scan may"
		    " take", 0, dir, NULL);
	ok = !scan->failed;
	pthread_mutex_unlock(&scan->lock);
	return ok;
}

static enum nsrun_hazard
kind_of(const struct sys_statx *st)
{
	switch (st->mode & S_IFMT) {
	case S_IFSOCK:
		return NSRUN_HAZARD_SOCKET;
	case S_IFIFO:
		return NSRUN_HAZARD_FIFO;
	case S_IFBLK:
		return NSRUN_HAZARD_BLOCK;
	case S_IFCHR:
		return st->rdev_major || st->rdev_minor ?
		    NSRUN_HAZARD_CHAR : NSRUN_HAZARD_WHITEOUT;
	case S_IFREG:
		return NSRUN_HAZARD_ALIAS;
	default:
		return NSRUN_HAZARD_NONE;
	}
}

static bool
is_git(const char *name)
{
	return name[0] == '.' && name[1] == 'g' && !strcmp(name + 2, "it");
}

/* What is neither a directory nor a link by the directory's own word. */
static int
look_at(struct scan_worker *w, const struct nsrun_scan_dir *dir, int fd,
    const char *name)
{
	struct scan_entry *e = &w->batch[w->n_batch];
	const char *rule = NULL;
	struct sys_statx st;

	if (sys_statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, MASK,
	    &st) < 0) {
		if (is_gone(errno))
			return 0;
		fail(w, "statx", dir, name);
		return -1;
	}
	*e = (struct scan_entry){
		.name = name, .ino = st.ino, .dev = dev_of(&st),
		.nlink = st.nlink, .mode = st.mode,
		.kind = st.mnt_id != dir->mnt_id ? NSRUN_HAZARD_MOUNT :
		    kind_of(&st),
	};
	if (S_ISLNK(st.mode) && e->kind != NSRUN_HAZARD_MOUNT)
		e->harmless = true;
	if (e->kind == NSRUN_HAZARD_ALIAS) {
		rule = w->scan->roots[dir->root].lends ?
		    nsrun_scan_setid_rule(fd, name, st.mode) : NULL;
		w->n_regular++;
		e->harmless = !rule && st.nlink < 2;
	}
	e->git = is_git(name) && (S_ISREG(st.mode) || S_ISLNK(st.mode));
	w->n_batch += e->git || !e->harmless;
	if (rule)
		fail_with(w, rule, 0, dir, name);
	return rule ? -1 : 0;
}

/* The n bytes of entries in the buffer. */
static int
sift(struct scan_worker *w, const struct nsrun_scan_dir *dir, int fd, size_t n)
{
	w->n_batch = 0;
	w->n_regular = 0;
	w->n_seen = 0;
	for (size_t at = 0; at < n; ) {
		const struct entry *e = (const void *)(w->buffer + at);

		at += e->length;
		if (e->name[0] == '.' && (!e->name[1] ||
		    (e->name[1] == '.' && !e->name[2])))
			continue;
		w->n_seen++;
		if (e->type == DT_DIR)
			w->batch[w->n_batch++] = (struct scan_entry){
				.name = e->name, .ino = e->ino,
				.git = is_git(e->name),
			};
		else if ((e->type != DT_LNK || is_git(e->name)) &&
		    look_at(w, dir, fd, e->name) < 0)
			return -1;
	}
	return 0;
}

static void
read_entries(struct scan_worker *w, struct nsrun_scan_dir *dir, int fd)
{
	struct nsrun_scan_dir *old = dir->child;
	long n;

	dir->child = dir->last = NULL;
	while ((n = syscall(SYS_getdents64, fd, w->buffer, sizeof w->buffer))
	    != 0) {
		if (n < 0) {
			dir->ctime_ns = 0;
			if (!is_gone(errno))
				fail(w, "getdents64", dir, NULL);
			return;
		}
		if (sift(w, dir, fd, (size_t)n) < 0 ||
		    !file_batch(w, dir, &old))
			return;
	}
}

/* It is not entered: what stands there is no place of this tree's. */
static void
bar(struct nsrun_scan *scan, struct nsrun_scan_dir *dir,
    enum nsrun_hazard kind)
{
	const struct scan_entry e = { .name = dir->name, .kind = kind };

	pthread_mutex_lock(&scan->lock);
	dir->barred = true;
	add_found(scan, dir->parent, &e);
	pthread_mutex_unlock(&scan->lock);
}

/* What dir is, before it is read; false: it is not to be. */
static bool
begin(struct scan_worker *w, struct nsrun_scan_dir *dir, int fd)
{
	const struct nsrun_scan_dir *root = w->scan->trees[dir->root];
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (fstat(fd, &st) < 0) {
		fail(w, "fstat", dir, NULL);
		return false;
	}
	dir->ino = st.st_ino;
	dir->dev = st.st_dev;
	/* It was not opened through another mount, so it is in the same. */
	dir->mnt_id = root->mnt_id;
	dir->ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 +
	    st.st_ctim.tv_nsec;
	dir->recent = is_recent(dir->ctime_ns, &now);
	if (dir->dev != root->dev) {
		bar(w->scan, dir, NSRUN_HAZARD_FILESYSTEM);
		return false;
	}
	pthread_mutex_lock(&w->scan->lock);
	dir->generation++;
	w->scan->n_entries -= dir->n_entries;
	pthread_mutex_unlock(&w->scan->lock);
	dir->n_entries = 0;
	dir->n_regular = 0;
	return true;
}

void
nsrun_scan_do_read(struct scan_worker *w, struct nsrun_scan_dir *dir)
{
	bool held;
	int fd = nsrun_scan_open_job(w, dir, &held);

	if (fd >= 0) {
		if (begin(w, dir, fd))
			read_entries(w, dir, fd);
		nsrun_scan_close_job(w, dir, fd, held);
	} else if (errno == EXDEV) {
		bar(w->scan, dir, NSRUN_HAZARD_MOUNT);
	} else if (is_gone(errno) && dir->parent) {
		dir->ctime_ns = 0;
	} else {
		fail(w, "open", dir, NULL);
	}
}

/* It is not what was read: this round is not the last. */
static void
read_again(struct nsrun_scan *scan, struct nsrun_scan_dir *dir)
{
	pthread_mutex_lock(&scan->lock);
	scan->unsettled = true;
	scan->recent |= dir->recent;
	nsrun_scan_push(scan, dir, false);
	pthread_mutex_unlock(&scan->lock);
}

static bool
is_same(const struct nsrun_scan_dir *dir, const struct sys_statx *st)
{
	return dir->ctime_ns && !dir->recent && dir->ino == st->ino &&
	    dir->ctime_ns == ctime_of(st) && dir->mnt_id == st->mnt_id &&
	    dir->dev == dev_of(st);
}

/* All that dir holds; false: one of them cannot be found. */
static bool
check_children(struct scan_worker *w, struct nsrun_scan_dir *dir, int fd)
{
	struct nsrun_scan *scan = w->scan;
	struct sys_statx st;

	for (struct nsrun_scan_dir *c = dir->child; c; c = c->sibling) {
		c->round = scan->round;
		if (c->barred)
			continue;
		if (sys_statx(fd, c->name, AT_SYMLINK_NOFOLLOW |
		    AT_NO_AUTOMOUNT, MASK, &st) < 0) {
			if (is_gone(errno))
				return false;
			fail(w, "statx", c, NULL);
			return true;
		}
		if (!is_same(c, &st)) {
			read_again(scan, c);
		} else if (c->child) {
			pthread_mutex_lock(&scan->lock);
			nsrun_scan_push(scan, c, true);
			pthread_mutex_unlock(&scan->lock);
		}
	}
	return true;
}

void
nsrun_scan_do_check(struct scan_worker *w, struct nsrun_scan_dir *dir)
{
	struct sys_statx st;
	bool held;
	int fd = nsrun_scan_open_job(w, dir, &held);

	if (fd < 0) {
		if (!is_gone(errno) && errno != EXDEV)
			fail(w, "open", dir, NULL);
		/* Its own directory changed: the next round will tell. */
		pthread_mutex_lock(&w->scan->lock);
		w->scan->unsettled = true;
		pthread_mutex_unlock(&w->scan->lock);
		return;
	}
	if (sys_statx(fd, "", AT_EMPTY_PATH, MASK, &st) < 0)
		fail(w, "statx", dir, NULL);
	else if (!is_same(dir, &st) || !check_children(w, dir, fd))
		read_again(w->scan, dir);
	nsrun_scan_close_job(w, dir, fd, held);
}

void
nsrun_scan_check_root(struct nsrun_scan *scan, struct nsrun_scan_dir *dir)
{
	struct sys_statx st;

	dir->round = scan->round;
	if (sys_statx(dir->fd, "", AT_EMPTY_PATH, MASK, &st) < 0) {
		nsrun_scan_fail(scan, "statx", errno, dir, NULL);
	} else if (!is_same(dir, &st)) {
		read_again(scan, dir);
	} else if (dir->child) {
		pthread_mutex_lock(&scan->lock);
		nsrun_scan_push(scan, dir, true);
		pthread_mutex_unlock(&scan->lock);
	}
}
