/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "run/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
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
#include "run/watch_place.h"

enum {
	/* After a look, as many times as long nothing is looked at: who makes
	 * names all the time does not have us busy all the time. */
	REST		= 4,
	MAX_ROUNDS	= 8,
	RETRY_MS	= 100,
};

static bool
is_mask(const struct nsrun_mount *m)
{
	return m->kind == NSRUN_MOUNT_HIDE || m->kind == NSRUN_MOUNT_ABSENT ||
	    m->kind == NSRUN_MOUNT_PIN ||
	    (m->kind == NSRUN_MOUNT_COVER && m->flags & NSRUN_MOUNT_EXACT);
}

/* Something of a plan's that stands for what the host has there. */
static bool
is_cover(const struct nsrun_mount *m)
{
	return m->kind == NSRUN_MOUNT_BIND || m->kind == NSRUN_MOUNT_TMPFS ||
	    m->kind == NSRUN_MOUNT_SCRATCH || m->kind == NSRUN_MOUNT_DATA ||
	    m->kind == NSRUN_MOUNT_OVERLAY || m->kind == NSRUN_MOUNT_FS;
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
	struct timespec now;

	*w = (struct nsrun_watch){
		.plan = plan, .absents = absents, .init_fd = -1,
		.mounts_fd = -1, .user_fd = -1, .masks_fd = -1,
		.signal_fd = -1, .inotify_fd = -1,
	};
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	w->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Is mount i on something of the host's, and not on something of the plan's? */
static bool
is_view(const struct nsrun_watch *w, size_t i)
{
	const struct nsrun_mount *v = w->plan->mounts.v, *m = &v[i];

	if (!is_cover(m) || !nsrun_watch_find_grant(w, m->target))
		return false;
	while (i-- > 0)
		if (is_cover(&v[i]) && nsrun_path_is_within(m->target,
		    v[i].target) && (!strcmp(v[i].target, m->target) ||
		    !(v[i].flags & NSRUN_MOUNT_GRANT)) &&
		    nsrun_watch_find_grant(w, v[i].target))
			return false;
	return true;
}

static bool
is_very_same(const struct nsrun_watch_object *a,
    const struct nsrun_watch_object *b)
{
	return nsrun_watch_is_same(a, b) && a->born_ns == b->born_ns;
}

/* A stub is expected to be one; all else to be what the plan saw. */
static struct nsrun_watch_object
expected(const struct nsrun_watch *w, const struct nsrun_watch_name *one)
{
	const struct nsrun_mount *m = &w->plan->mounts.v[one->mount];
	struct nsrun_watch_object now = nsrun_watch_look(one->place < 0 ? -1 :
	    w->places[one->place].fd, strrchr(m->target, '/') + 1,
	    AT_SYMLINK_NOFOLLOW, &one->now);
	const struct nsrun_watch_object pinned = {
		.dev = m->pin.dev, .ino = m->pin.ino, .type = m->pin.type,
	};

	if (one->is_view)
		return now.born_ns < w->began_ns ? now : pinned;
	if (m->kind == NSRUN_MOUNT_ABSENT ? now.type == S_IFSOCK ||
	    now.type == S_IFDIR : nsrun_watch_is_same(&now, &pinned) &&
	    now.born_ns < w->began_ns)
		return now;
	return pinned;
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
	w->places = get_memory(NSRUN_WATCH_PLACES, sizeof *w->places);
	w->names = get_memory(mounts->n, sizeof *w->names);
	if (!w->places || !w->names)
		return;
	nsrun_become_caller(w->plan);
	for (size_t i = 0; i < mounts->n; i++) {
		struct nsrun_watch_name *one = &w->names[w->n_names];

		bool view = is_view(w, i);

		if (!view && !is_mask(&mounts->v[i]))
			continue;
		k = nsrun_watch_find_place(w, i, k);
		*one = (struct nsrun_watch_name){
			.mount = i, .place = k, .is_view = view,
		};
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

		p->changed = p->parent >= 0 && nsrun_watch_look_at_place(w, p);
		any |= p->changed;
	}
	for (size_t i = 0; i < w->n_names; i++) {
		struct nsrun_watch_name *one = &w->names[i];
		const struct nsrun_watch_place *p = one->place < 0 ? NULL :
		    &w->places[one->place];
		struct nsrun_watch_object now = nsrun_watch_look(p ? p->fd : -1,
		    strrchr(nsrun_watch_target(w, one->mount), '/') + 1,
		    AT_SYMLINK_NOFOLLOW, &one->now);

		one->changed = p && (p->changed ||
		    !is_very_same(&now, &one->now));
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
		const char *root = nsrun_watch_target(w, t->mount);

		if (nsrun_path_is_within(target, root) &&
		    strcmp(target, root) && (!found || strlen(root) >
		    strlen(nsrun_watch_target(w, found->mount))))
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
		/* Of a repository: the command must not make one instead. */
		bool lost = one->is_view && !one->now.ino &&
		    !(m->flags & NSRUN_MOUNT_GRANT);
		const struct nsrun_watch_tree *t = one->changed &&
		    (m->kind == NSRUN_MOUNT_ABSENT || lost) ?
		    find_tree(w, m->target) : NULL;

		if (t)
			nsrun_absents_follow(w->absents, one->mount, t->fd,
			    strlen(nsrun_watch_target(w, t->mount)),
			    one->is_view);
	}
}

/*
 * See to it that all masks are where they should be. What was just made has
 * changed, too. False: it goes on changing, or could not be mended.
 */
static bool
see_to(struct nsrun_watch *w, bool again)
{
	for (int i = 0; i < MAX_ROUNDS; i++) {
		if (!look_at_all(w) && !again)
			return true;
		remake_absents(w);
		again = !nsrun_watch_mend(w);
		if (again)
			break;
	}
	return false;
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
	bool settled;
	int start;

	/* Those that end at once need none of it. */
	if (w->signal_fd < 0 || poll(fds, 1, 0) > 0)
		settled = true;
	else
		settled = see_to(w, false);
	while (!fds[0].revents) {
		fds[2] = (struct pollfd){ w->inotify_fd, POLLIN, 0 };
		/* To leave too early would be worse than never. */
		if (poll(fds, 3, settled ? -1 : RETRY_MS) < 0) {
			fds[0].revents = 0;
			usleep(1000);
			continue;
		}
		if (fds[0].revents)
			break;
		start = now_ms();
		drain(w);
		settled = see_to(w, !settled);
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
