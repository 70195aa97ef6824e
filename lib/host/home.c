/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/home.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/fd.h"

enum { MAX_WAITS = 6000 };	/* half a minute */

static int
set_name(struct nsrun_request *r, const char *name, struct nsrun_err *err)
{
	if (r->home_name && strcmp(r->home_name, name))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "the home has"
		    " another name already", name, NULL);
	if (nsrun_store_check_name(name, err) < 0)
		return -1;
	r->home_name = nsrun_arena_strdup(&r->arena, name);
	return r->home_name ? 0 : nsrun_err_nomem(err, name);
}

static int
set_dir(struct nsrun_request *r, const char *dir, struct nsrun_err *err)
{
	if (!*dir)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "names no directory", dir, NULL);
	r->home_dir = nsrun_arena_strdup(&r->arena, dir);
	return r->home_dir ? 0 : nsrun_err_nomem(err, dir);
}

int
nsrun_request_set_home(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	static const char *const words[] = {
		[NSRUN_HOME_TMPFS] = "tmpfs", [NSRUN_HOME_PRIVATE] = "private",
		[NSRUN_HOME_OVERLAY] = "overlay",
	};
	size_t n = strcspn(value, "=");
	const char *rest = value[n] ? value + n + 1 : NULL;
	enum nsrun_home home = NSRUN_HOME_DEFAULT;

	for (int i = NSRUN_HOME_TMPFS; i <= NSRUN_HOME_OVERLAY; i++)
		if (strlen(words[i]) == n && !strncmp(words[i], value, n))
			home = (enum nsrun_home)i;
	if (home == NSRUN_HOME_DEFAULT || (home == NSRUN_HOME_TMPFS && rest))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is neither"
		    " tmpfs, private[=NAME] nor overlay[=DIR]", value, NULL);
	if (r->home && r->home != home)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "there is one home", value, NULL);
	r->home = home;
	if (!rest)
		return 0;
	return home == NSRUN_HOME_PRIVATE ? set_name(r, rest, err) :
	    set_dir(r, rest, err);
}

int
nsrun_request_set_home_keep(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	if (r->home == NSRUN_HOME_PRIVATE)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "belongs to"
		    " --home overlay; a private one is private=NAME", value,
		    NULL);
	r->keeps_overlay = true;
	return set_name(r, value, err);
}

int
nsrun_request_set_state_dir(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	if (*value != '/')
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is no absolute path", value, NULL);
	r->state_dir = nsrun_arena_strdup(&r->arena, value);
	return r->state_dir ? 0 : nsrun_err_nomem(err, value);
}

const char *
nsrun_home_kind(const struct nsrun_request *r)
{
	return r->home == NSRUN_HOME_PRIVATE ? "home" :
	    r->home == NSRUN_HOME_OVERLAY && r->home_name ? "home-overlay" :
	    NULL;
}

const char *
nsrun_home_part(const struct nsrun_request *r)
{
	return r->home == NSRUN_HOME_PRIVATE ? "home" : "over";
}

/* The plan pins it; whose it is in the end, the plan says. */
static int
make_part(const struct nsrun_home_keep *keep, const char *part,
    struct nsrun_err *err)
{
	if (mkdirat(keep->item.fd, part, 0700) == 0 ?
	    fchmodat(keep->item.fd, part, 0700, 0) < 0 : errno != EEXIST)
		return nsrun_err_sys(err, NSRUN_STEP_STATE, "mkdir",
		    keep->item.path, part);
	return 0;
}

bool
nsrun_home_lock(const struct nsrun_home_keep *keep, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(keep->users_fd, F_OFD_SETLK, &lock) == 0;
}

/*
 * The first of those that use it at the same time keeps the others waiting
 * until it has filled it: milliseconds, unless somebody stopped it.
 */
static int
join_users(struct nsrun_home_keep *keep, struct nsrun_err *err)
{
	static const struct timespec pause = { 0, 5000000 };
	int tries = 0;

	keep->users_fd = openat(keep->item.fd, "users", O_RDWR | O_CREAT |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (keep->users_fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_STATE, "open",
		    keep->item.path, "users");
	keep->first = nsrun_home_lock(keep, F_WRLCK);
	while (!keep->first && !nsrun_home_lock(keep, F_RDLCK)) {
		if (errno != EAGAIN && errno != EACCES)
			return nsrun_err_sys(err, NSRUN_STEP_STATE, "fcntl",
			    keep->item.path, "users");
		if (++tries > MAX_WAITS) {
			errno = EWOULDBLOCK;
			return nsrun_err_sys(err, NSRUN_STEP_STATE, "lock",
			    keep->item.path, NULL);
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

int
nsrun_home_hold(struct nsrun_home_keep *keep, struct nsrun_request *r,
    struct nsrun_err *err)
{
	const char *kind = nsrun_home_kind(r);
	/* Two at a time would be one overlay's layer twice. */
	unsigned int alone = r->home == NSRUN_HOME_OVERLAY ?
	    NSRUN_STORE_ALONE : 0;

	*keep = (struct nsrun_home_keep)NSRUN_HOME_KEEP_INIT;
	if (!kind)
		return 0;
	if (nsrun_store_open(&keep->store, r->state_dir, err) < 0)
		return -1;
	if (nsrun_store_hold(&keep->item, &keep->store, kind, r->home_name,
	    NSRUN_STORE_MAKE | alone, err) < 0 || join_users(keep, err) < 0 ||
	    make_part(keep, nsrun_home_part(r), err) < 0) {
		struct nsrun_err ignored = NSRUN_ERR_INIT;

		nsrun_home_release(keep, r, &ignored);
		return -1;
	}
	r->home_item = keep->item.path;
	return 0;
}

int
nsrun_home_release(struct nsrun_home_keep *keep, struct nsrun_request *r,
    struct nsrun_err *err)
{
	int rc;

	if (r->home_name && keep->n_stubs)
		nsrun_home_remove_stubs(keep, r->home == NSRUN_HOME_PRIVATE ?
		    "home" : "over/upper");
	nsrun_fd_close(&keep->users_fd);
	rc = nsrun_store_release(&keep->item, err);
	nsrun_store_close(&keep->store);
	nsrun_arena_deinit(&keep->arena);
	keep->n_stubs = 0;
	r->home_item = NULL;
	return rc;
}
