/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "plan/plan.h"
#include "run/absent.h"
#include "run/become.h"

enum {
	MAX_PLACES	= 65536,
	/* After a look, as many times as long nothing is looked at: who makes
	 * names all the time does not have us busy all the time. */
	REST		= 4,
	MAX_ROUNDS	= 8,
};

static bool
is_mask(const struct nsrun_mount *m)
{
	return m->kind == NSRUN_MOUNT_HIDE || m->kind == NSRUN_MOUNT_ABSENT ||
	    m->kind == NSRUN_MOUNT_PIN ||
	    (m->kind == NSRUN_MOUNT_COVER && m->flags & NSRUN_MOUNT_EXACT);
}

/* By the kernel: another thread may have held malloc(3)'s lock. */
static void *
get_memory(size_t n, size_t size)
{
	void *v = mmap(NULL, (n + 1) * size, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return v == MAP_FAILED ? NULL : v;
}

void
nsrun_watch_init(struct nsrun_watch *w, const struct nsrun_plan *plan,
    struct nsrun_absents *absents)
{
	*w = (struct nsrun_watch){
		.plan = plan, .absents = absents, .init_fd = -1,
		.mounts_fd = -1, .user_fd = -1, .masks_fd = -1,
		.signal_fd = -1, .inotify_fd = -1,
	};
}

static const char *
target_of(const struct nsrun_watch *w, size_t mount)
{
	return w->plan->mounts.v[mount].target;
}

/* Where nobody may look, as where the command closed a directory: as before. */
static struct nsrun_watch_object
look(int dir, const char *name, int flags,
    const struct nsrun_watch_object *before)
{
	static const struct nsrun_watch_object nothing;
	struct stat st;

	if (dir < 0)
		return nothing;
	if (fstatat(dir, name, &st, flags) < 0)
		return errno == EACCES ? *before : nothing;
	return (struct nsrun_watch_object){
		.dev = st.st_dev, .ino = st.st_ino,
		.type = st.st_mode & S_IFMT,
	};
}

static bool
is_same(const struct nsrun_watch_object *a, const struct nsrun_watch_object *b)
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
	const char *path = target_of(w, p->mount);
	size_t from = p->length;

	while (path[from - 1] != '/')
		from--;
	if (p->length - from > NAME_MAX)
		return "";
	memcpy(name, path + from, p->length - from);
	name[p->length - from] = '\0';
	return name;
}

/* Look at a place; true: it is another one, or gone, or there again. */
static bool
look_at_place(struct nsrun_watch *w, struct nsrun_watch_place *p)
{
	const struct nsrun_watch_place *parent = &w->places[p->parent];
	char text[NAME_MAX + 1];
	const char *name = name_of_place(w, p, text);
	struct nsrun_watch_object now = look(parent->fd, name,
	    AT_SYMLINK_NOFOLLOW, &p->now);

	if (is_same(&now, &p->now) && (p->fd >= 0 || now.type != S_IFDIR))
		return false;
	nsrun_fd_close(&p->fd);
	if (now.type == S_IFDIR)
		p->fd = open_dir(w, parent->fd, name);
	/* What was opened counts: it may be another one by now. */
	p->now = p->fd >= 0 ? look(p->fd, "", AT_EMPTY_PATH, &now) : now;
	return true;
}

static ssize_t
add_place(struct nsrun_watch *w, ssize_t parent, size_t mount, size_t length)
{
	struct nsrun_watch_place *p = &w->places[w->n_places];

	if (w->n_places == MAX_PLACES)
		return NSRUN_WATCH_NONE;
	*p = (struct nsrun_watch_place){
		.parent = parent, .mount = mount, .length = length, .fd = -1,
	};
	return (ssize_t)w->n_places++;
}

/* The deepest grant that holds target; what is elsewhere is not watched. */
static const struct nsrun_mount *
find_grant(const struct nsrun_watch *w, const char *target)
{
	const struct nsrun_mount *found = NULL;

	for (size_t i = 0; i < w->plan->mounts.n; i++) {
		const struct nsrun_mount *m = &w->plan->mounts.v[i];

		if (m->kind == NSRUN_MOUNT_BIND && m->flags &
		    NSRUN_MOUNT_GRANT && nsrun_path_is_within(target,
		    m->target) && (!found || strlen(m->target) >=
		    strlen(found->target)))
			found = m;
	}
	return found;
}

static ssize_t
add_root(struct nsrun_watch *w, size_t mount)
{
	const struct nsrun_mount *m = find_grant(w, target_of(w, mount));
	ssize_t k = m ? add_place(w, NSRUN_WATCH_NONE, mount,
	    strlen(m->target)) : NSRUN_WATCH_NONE;
	struct nsrun_watch_place *p;

	if (k < 0)
		return k;
	p = &w->places[k];
	p->fd = open_dir(w, AT_FDCWD, m->source);
	p->now = look(p->fd, "", AT_EMPTY_PATH, &p->now);
	if (p->fd < 0 || p->now.ino != m->pin.ino || p->now.dev != m->pin.dev)
		nsrun_fd_close(&p->fd);
	return k;
}

static bool
is_above(const struct nsrun_watch *w, const struct nsrun_watch_place *p,
    const char *path, size_t n)
{
	return p->length <= n && (p->length == n || path[p->length] == '/') &&
	    !memcmp(target_of(w, p->mount), path, p->length);
}

/*
 * The directory that holds a mount's target. Masks come in a tree's order, so
 * what it shares with the last one is above that.
 */
static ssize_t
find_place(struct nsrun_watch *w, size_t mount, ssize_t k)
{
	const char *path = target_of(w, mount);
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
			look_at_place(w, &w->places[k]);
	}
	return k;
}

/* A stub is expected to be one; all else to be what the plan saw. */
static struct nsrun_watch_object
expected(const struct nsrun_watch *w, const struct nsrun_watch_name *one)
{
	const struct nsrun_mount *m = &w->plan->mounts.v[one->mount];

	if (m->kind == NSRUN_MOUNT_ABSENT)
		return look(one->place < 0 ? -1 : w->places[one->place].fd,
		    strrchr(m->target, '/') + 1, AT_SYMLINK_NOFOLLOW,
		    &one->now);
	return (struct nsrun_watch_object){
		.dev = m->pin.dev, .ino = m->pin.ino, .type = m->pin.type,
	};
}

static bool
listen_for_signals(struct nsrun_watch *w)
{
	sigset_t io;

	sigemptyset(&io);
	sigaddset(&io, SIGIO);
	w->signal_fd = signalfd(-1, &io, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signal_fd >= 0;
}

void
nsrun_watch_start(struct nsrun_watch *w)
{
	const struct nsrun_mounts *mounts = &w->plan->mounts;
	ssize_t k = NSRUN_WATCH_NONE;

	if (w->mounts_fd < 0 || w->user_fd < 0 || w->masks_fd < 0 ||
	    !listen_for_signals(w))
		return;
	w->places = get_memory(MAX_PLACES, sizeof *w->places);
	w->names = get_memory(mounts->n, sizeof *w->names);
	if (!w->places || !w->names)
		return;
	nsrun_become_caller(w->plan);
	for (size_t i = 0; i < mounts->n; i++) {
		struct nsrun_watch_name *one = &w->names[w->n_names];

		if (!is_mask(&mounts->v[i]))
			continue;
		k = find_place(w, i, k);
		*one = (struct nsrun_watch_name){ .mount = i, .place = k };
		one->now = expected(w, one);
		w->n_names++;
	}
	nsrun_become_command(w->plan);
}

/* What has changed since the last look? */
static bool
look_at_all(struct nsrun_watch *w)
{
	bool any = false;

	nsrun_become_caller(w->plan);
	for (size_t k = 0; k < w->n_places; k++) {
		struct nsrun_watch_place *p = &w->places[k];

		p->changed = p->parent >= 0 && look_at_place(w, p);
		any |= p->changed;
	}
	for (size_t i = 0; i < w->n_names; i++) {
		struct nsrun_watch_name *one = &w->names[i];
		const struct nsrun_watch_place *p = one->place < 0 ? NULL :
		    &w->places[one->place];
		struct nsrun_watch_object now = look(p ? p->fd : -1,
		    strrchr(target_of(w, one->mount), '/') + 1,
		    AT_SYMLINK_NOFOLLOW, &one->now);

		one->changed = p && (p->changed || !is_same(&now, &one->now));
		any |= one->changed;
		one->now = now;
	}
	nsrun_become_command(w->plan);
	return any;
}

/* The deepest tree that holds a mount's target. */
static const struct nsrun_watch_tree *
find_tree(const struct nsrun_watch *w, const char *target)
{
	const struct nsrun_watch_tree *found = NULL;

	for (int i = 0; i < w->n_trees; i++) {
		const struct nsrun_watch_tree *t = &w->trees[i];

		if (nsrun_path_is_within(target, target_of(w, t->mount)) &&
		    (!found || strlen(target_of(w, t->mount)) >
		    strlen(target_of(w, found->mount))))
			found = t;
	}
	return found;
}

/* Stubs where names are missing, by what leads there now. */
static void
remake_absents(struct nsrun_watch *w)
{
	for (size_t i = 0; i < w->n_names; i++) {
		const struct nsrun_watch_name *one = &w->names[i];
		const struct nsrun_mount *m = &w->plan->mounts.v[one->mount];
		const struct nsrun_watch_tree *t = one->changed &&
		    m->kind == NSRUN_MOUNT_ABSENT ? find_tree(w, m->target) :
		    NULL;

		if (t)
			nsrun_absents_follow(w->absents, one->mount, t->fd,
			    strlen(target_of(w, t->mount)));
	}
}

/*
 * See to it that all masks are where they should be. What was just made has
 * changed, too; what goes on changing is looked at again soon.
 */
static void
see_to(struct nsrun_watch *w)
{
	for (int i = 0; i < MAX_ROUNDS && look_at_all(w); i++) {
		remake_absents(w);
		nsrun_watch_mend(w);
	}
}

static void
drain(const struct nsrun_watch *w)
{
	char events[4096];

	while (read(w->signal_fd, events, sizeof events) > 0)
		continue;
	while (w->inotify_fd >= 0 &&
	    read(w->inotify_fd, events, sizeof events) > 0)
		continue;
}

static int
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int)(t.tv_sec % 1000000) * 1000 + (int)(t.tv_nsec / 1000000);
}

void
nsrun_watch_until_end(struct nsrun_watch *w)
{
	struct pollfd fds[3] = {
		{ w->init_fd, POLLIN, 0 }, { w->signal_fd, POLLIN, 0 },
	};
	int start;

	while (!fds[0].revents) {
		fds[2] = (struct pollfd){ w->inotify_fd, POLLIN, 0 };
		/* To leave too early would be worse than never. */
		if (poll(fds, 3, -1) < 0) {
			fds[0].revents = 0;
			usleep(1000);
			continue;
		}
		if (fds[0].revents || !(fds[1].revents | fds[2].revents))
			continue;
		start = now_ms();
		drain(w);
		see_to(w);
		poll(fds, 1, 1 + REST * (now_ms() - start));
	}
	/* What leads to names now is where they are looked for. */
	if (look_at_all(w))
		remake_absents(w);
}

void
nsrun_watch_report(const struct nsrun_watch *w, int report_fd)
{
	for (size_t i = 0; i < w->n_names; i++) {
		const struct nsrun_watch_name *one = &w->names[i];
		enum nsrun_mount_kind kind =
		    w->plan->mounts.v[one->mount].kind;
		struct nsrun_violation v = {
			.mount = one->mount, .what = NSRUN_VIOLATION_REPLACED,
		};

		if (one->lapsed && kind != NSRUN_MOUNT_ABSENT &&
		    kind != NSRUN_MOUNT_PIN)
			while (write(report_fd, &v, sizeof v) < 0 &&
			    errno == EINTR)
				continue;
	}
}
