/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/watch_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "plan/plan.h"

static int64_t
in_ns(int64_t s, uint32_t ns)
{
	return s * 1000000000 + ns;
}

const char *
nsrun_watch_target(const struct nsrun_watch *w, size_t mount)
{
	return w->plan->mounts.v[mount].target;
}

static struct nsrun_watch_object
object_of(const struct sys_statx *st)
{
	return (struct nsrun_watch_object){
		.dev = makedev(st->dev_major, st->dev_minor),
		.ino = st->ino, .type = st->mode & S_IFMT,
		.born_ns = st->mask & SYS_STATX_BTIME ?
		    in_ns(st->btime.s, st->btime.ns) :
		    in_ns(st->ctime.s, st->ctime.ns),
	};
}

struct nsrun_watch_object
nsrun_watch_look(int dir, const char *name, int flags,
    const struct nsrun_watch_object *before)
{
	static const struct nsrun_watch_object nothing;
	struct sys_statx st;

	if (dir < 0)
		return nothing;
	if (sys_statx(dir, name, flags | AT_NO_AUTOMOUNT, SYS_STATX_TYPE |
	    SYS_STATX_INO | SYS_STATX_BTIME | SYS_STATX_CTIME, &st) < 0)
		return errno == EACCES ? *before : nothing;
	return object_of(&st);
}

bool
nsrun_watch_is_same(const struct nsrun_watch_object *a,
    const struct nsrun_watch_object *b)
{
	return a->ino == b->ino && (a->ino == 0 ||
	    (a->dev == b->dev && a->type == b->type));
}

/* Have the kernel tell when a name in fd comes, goes or changes. */
static void
listen_to(struct nsrun_watch *w, int fd)
{
	char path[sizeof "/proc/" + NSRUN_FD_PATH] = "/proc/";

	if (fcntl(fd, F_NOTIFY, DN_CREATE | DN_DELETE | DN_RENAME |
	    DN_MULTISHOT) == 0)
		return;
	if (w->inotify_fd < 0)
		w->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	nsrun_fd_path(path + sizeof "/proc/" - 1, fd);
	inotify_add_watch(w->inotify_fd, path, IN_CREATE | IN_DELETE |
	    IN_MOVE | IN_ONLYDIR);
}

/* One that cannot be read cannot be listened to, but looked at. */
static int
open_dir(struct nsrun_watch *w, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		return openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
	if (fd >= 0)
		listen_to(w, fd);
	return fd;
}

/* The last component of a place's path. */
static const char *
name_of_place(const struct nsrun_watch *w, const struct nsrun_watch_place *p,
    char name[NAME_MAX + 1])
{
	const char *path = nsrun_watch_target(w, p->mount);
	size_t from = p->length;

	while (path[from - 1] != '/')
		from--;
	if (p->length - from > NAME_MAX)
		return "";
	memcpy(name, path + from, p->length - from);
	name[p->length - from] = '\0';
	return name;
}

bool
nsrun_watch_look_at_place(struct nsrun_watch *w, struct nsrun_watch_place *p)
{
	const struct nsrun_watch_place *parent = &w->places[p->parent];
	char text[NAME_MAX + 1];
	const char *name = name_of_place(w, p, text);
	struct nsrun_watch_object now = nsrun_watch_look(parent->fd, name,
	    AT_SYMLINK_NOFOLLOW, &p->now);

	if (nsrun_watch_is_same(&now, &p->now) && (p->fd >= 0 || p->is_beyond ||
	    now.type != S_IFDIR))
		return false;
	nsrun_fd_close(&p->fd);
	if (now.type == S_IFDIR)
		p->fd = open_dir(w, parent->fd, name);
	p->is_beyond = now.type == S_IFDIR && p->fd < 0;
	/* What was opened counts: it may be another one by now. */
	p->now = p->fd >= 0 ? nsrun_watch_look(p->fd, "", AT_EMPTY_PATH,
	    &now) : now;
	return true;
}

static ssize_t
add_place(struct nsrun_watch *w, ssize_t parent, size_t mount, size_t length)
{
	struct nsrun_watch_place *p = &w->places[w->n_places];

	if (w->n_places == NSRUN_WATCH_PLACES)
		return NSRUN_WATCH_NONE;
	*p = (struct nsrun_watch_place){
		.parent = parent, .mount = mount, .length = length, .fd = -1,
	};
	return (ssize_t)w->n_places++;
}

const struct nsrun_mount *
nsrun_watch_find_grant(const struct nsrun_watch *w, const char *target)
{
	const struct nsrun_mount *found = NULL;

	for (size_t i = 0; i < w->plan->mounts.n; i++) {
		const struct nsrun_mount *m = &w->plan->mounts.v[i];

		if (m->kind == NSRUN_MOUNT_BIND && m->flags &
		    NSRUN_MOUNT_GRANT && nsrun_path_is_within(target,
		    m->target) && strcmp(target, m->target) &&
		    (!found || strlen(m->target) >= strlen(found->target)))
			found = m;
	}
	return found;
}

static ssize_t
add_root(struct nsrun_watch *w, size_t mount)
{
	const struct nsrun_mount *m = nsrun_watch_find_grant(w,
	    nsrun_watch_target(w, mount));
	ssize_t k = m ? add_place(w, NSRUN_WATCH_NONE, mount,
	    strlen(m->target)) : NSRUN_WATCH_NONE;
	struct nsrun_watch_place *p;

	if (k < 0)
		return k;
	p = &w->places[k];
	p->fd = open_dir(w, AT_FDCWD, m->source);
	p->now = nsrun_watch_look(p->fd, "", AT_EMPTY_PATH, &p->now);
	if (p->fd < 0 || p->now.ino != m->pin.ino || p->now.dev != m->pin.dev)
		nsrun_fd_close(&p->fd);
	return k;
}

static bool
is_above(const struct nsrun_watch *w, const struct nsrun_watch_place *p,
    const char *path, size_t n)
{
	return p->length <= n && (p->length == n || path[p->length] == '/') &&
	    !memcmp(nsrun_watch_target(w, p->mount), path, p->length);
}

ssize_t
nsrun_watch_find_place(struct nsrun_watch *w, size_t mount, ssize_t k)
{
	const char *path = nsrun_watch_target(w, mount);
	size_t n = (size_t)(strrchr(path, '/') - path);

	while (k >= 0 && !is_above(w, &w->places[k], path, n))
		k = w->places[k].parent;
	if (k < 0)
		k = add_root(w, mount);
	while (k >= 0 && w->places[k].length < n) {
		size_t from = w->places[k].length;
		size_t to = from + 1 + strcspn(path + from + 1, "/");

		k = add_place(w, k, mount, to);
		if (k >= 0)
			nsrun_watch_look_at_place(w, &w->places[k]);
	}
	return k;
}
