/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command's home, as entries of a plan: see host/home.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "host/build.h"
#include "host/home.h"
#include "host/identity.h"
#include "host/masks.h"

enum { MAX_MOUNTINFO = 16 << 20 };

static int
refuse(struct nsrun_build *b, const char *rule, const char *subject)
{
	return nsrun_err_rule(b->err, NSRUN_STEP_HOME, rule, subject, NULL);
}

/* What programs expect of any home. */
static int
add_usual(struct nsrun_build *b)
{
	static const char *const below_home[] = {
		".config", ".cache", ".local", ".local/share", ".local/state",
	};

	for (size_t i = 0; i < sizeof below_home / sizeof *below_home; i++) {
		const char *dir = nsrun_build_text(b, "%s/%s", b->home,
		    below_home[i]);

		if (!dir || nsrun_build_make(b, NSRUN_MOUNT_DIR, dir, 0700) < 0)
			return -1;
	}
	return 0;
}

/* The profile's, or none: then the directories are the root's. */
static int
add_default(struct nsrun_build *b)
{
	for (size_t i = 0; i < b->profile->n_privates; i++) {
		const struct nsrun_private *p = &b->profile->privates[i];

		if (*p->path != '/')
			return nsrun_build_make(b, NSRUN_MOUNT_SCRATCH,
			    b->home, p->mode);
	}
	return b->request->home == NSRUN_HOME_TMPFS ?
	    nsrun_build_make(b, NSRUN_MOUNT_SCRATCH, b->home, 0700) : 0;
}

/* Where a kept home is, or would be: explain makes none. */
static const char *
find_item(struct nsrun_build *b)
{
	const struct nsrun_request *r = b->request;
	char path[NSRUN_STORE_PATH];

	if (r->home_item)
		return nsrun_build_text(b, "%s", r->home_item);
	if (!r->only_explains) {
		refuse(b, "is held by oc-nsrun, not by the library", r->home ==
		    NSRUN_HOME_PRIVATE ? "--home private" : "--home-keep");
		return NULL;
	}
	if (nsrun_store_where(path, r->state_dir, b->err) < 0)
		return NULL;
	return nsrun_build_text(b, "%s/%s/%s", path, nsrun_home_kind(r),
	    r->home_name ? r->home_name : "NEW");
}

/* What commands may write must not hold what other commands are kept from. */
static int
check_apart(struct nsrun_build *b, const char *item)
{
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(item, b->roots[i].path) ||
		    nsrun_path_is_within(b->roots[i].path, item))
			return refuse(b, "the state directory is in a granted"
			    " root: grant less, or name another with"
			    " --state-dir", b->roots[i].path);
	return 0;
}

/* Nor is it granted where a launch keeps nothing itself. */
static int
check_state_apart(struct nsrun_build *b, const char *dir)
{
	struct nsrun_err none = NSRUN_ERR_INIT;
	char path[NSRUN_STORE_PATH], *real;
	int rc = 0;

	if (nsrun_store_where(path, dir, &none) < 0)
		return 0;
	real = realpath(path, NULL);
	if (real)
		rc = check_apart(b, real);
	free(real);
	return rc;
}

static int
add_private(struct nsrun_build *b)
{
	const char *item = find_item(b);
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_EXACT | NSRUN_MOUNT_KEPT,
		.target = b->home, .type = S_IFDIR, .pin.fd = -1,
	};
	struct nsrun_granted root = { .pin.fd = -1 };

	if (!item || check_apart(b, item) < 0)
		return -1;
	m.source = nsrun_build_text(b, "%s/%s", item,
	    nsrun_home_part(b->request));
	if (!m.source)
		return -1;
	if (b->request->home_item) {
		if (nsrun_root_pin(&root, &b->plan->arena, m.source,
		    NSRUN_STEP_HOME, b->err) < 0)
			return -1;
		m.pin = root.pin;
		m.flags |= NSRUN_MOUNT_PINNED;
	}
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0) {
		nsrun_fd_close(&root.pin.fd);
		return -1;
	}
	b->home_fd = root.pin.fd;	/* the plan's */
	return 0;
}

/* The kernel shows no mount through an overlay, or what lies beneath it. */
static int
check_no_mounts(struct nsrun_build *b, const char *layer)
{
	char *text = nsrun_file_read("/proc/self/mountinfo", MAX_MOUNTINFO);
	char found[PATH_MAX];
	const char *at = text;
	int rc;

	if (!text)
		return nsrun_err_sys(b->err, NSRUN_STEP_HOME, "read",
		    "/proc/self/mountinfo", NULL);
	rc = nsrun_mountinfo_next_below(&at, layer, found, sizeof found);
	free(text);
	return rc == 0 ? 0 : rc < 0 ?
	    refuse(b, "is malformed", "/proc/self/mountinfo") :
	    refuse(b, "is mounted below the home, and an overlay cannot show"
	    " it: --home private or tmpfs", found);
}

static int
check_layer(struct nsrun_build *b, const struct nsrun_granted *root)
{
	const struct nsrun_config *c = &b->session->config;
	bool own = b->host_home && !strcmp(root->path, b->host_home);

	/* It would show what the root's masks hide. */
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(root->path, b->roots[i].path))
			return refuse(b, "is in a granted root, whose masks it"
			    " would not have", root->path);
	if (nsrun_root_is_broad(root->path) && !own)
		return refuse(b, "is too broad to be a home", root->path);
	if (c->present && !nsrun_allowed_path(&c->read_only, root->path) &&
	    !nsrun_allowed_path(&c->read_write, root->path))
		return refuse(b, "is not granted by " NSRUN_CONFIG_DIR
		    "/oc-nsrun.conf", root->path);
	return check_no_mounts(b, root->path);
}

/* Fill in the layer, and what is not shown of it. Its pin is m's. */
static int
open_layer(struct nsrun_build *b, struct nsrun_mount *m)
{
	const char *given = b->request->home_dir ? b->request->home_dir :
	    b->host_home;
	const char **layers = nsrun_arena_alloc(&b->plan->arena,
	    2 * sizeof *layers);
	struct nsrun_granted root;

	if (!layers)
		return nsrun_err_nomem(b->err, "home");
	if (!given)
		return refuse(b, "the caller has no home: name a directory with"
		    " --home overlay=DIR", NULL);
	if (nsrun_root_pin(&root, &b->plan->arena, given, NSRUN_STEP_HOME,
	    b->err) < 0)
		return -1;
	m->pin = root.pin;
	if (check_layer(b, &root) < 0)
		return -1;
	layers[0] = b->home_layer = root.path;
	b->layer_fd = root.pin.fd;	/* the plan's */
	m->layers = layers;
	/* Where it cannot be, what others may read is still readable. */
	if (nsrun_identity_maps(&b->plan->identity, &root.pin) &&
	    !nsrun_identity_try_maps(&b->plan->identity, &root, 1))
		m->flags |= NSRUN_MOUNT_IDMAPPED;
	m->hidden = nsrun_build_hidden(b);
	return m->hidden ? 0 : -1;
}

static int
add_overlay(struct nsrun_build *b)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_OVERLAY,
		.flags = NSRUN_MOUNT_PINNED | NSRUN_MOUNT_EXACT,
		.target = b->home, .pin.fd = -1,
	};
	const char *item;

	if (nsrun_home_kind(b->request)) {
		item = find_item(b);
		m.source = item ? nsrun_build_text(b, "%s/%s", item,
		    nsrun_home_part(b->request)) : NULL;
		if (!m.source || check_apart(b, item) < 0)
			return -1;
		m.flags |= NSRUN_MOUNT_KEPT;
	}
	if (open_layer(b, &m) < 0 ||
	    nsrun_plan_add_mount(b->plan, &m, b->err) < 0) {
		nsrun_fd_close(&m.pin.fd);
		return -1;
	}
	return 0;
}

int
nsrun_build_home(struct nsrun_build *b)
{
	const struct nsrun_request *r = b->request;
	int rc;

	if (check_state_apart(b, NULL) < 0 ||
	    (r->state_dir && check_state_apart(b, r->state_dir) < 0))
		return -1;
	if (r->keeps_overlay && r->home != NSRUN_HOME_OVERLAY)
		return refuse(b, "belongs to --home overlay", "--home-keep");
	/* It would find a configuration there, and what that runs. */
	if (b->runs_git && (r->home > NSRUN_HOME_TMPFS || r->n_credentials))
		return refuse(b, "has an empty home: neither --home nor"
		    " --credential", "git");
	/* A root above it would be mounted over it. */
	for (size_t i = 0; r->home && i < b->n_roots; i++)
		if (nsrun_path_is_within(b->home, b->roots[i].path))
			return refuse(b, "holds the home", b->roots[i].path);
	rc = r->home == NSRUN_HOME_PRIVATE ? add_private(b) :
	    r->home == NSRUN_HOME_OVERLAY ? add_overlay(b) : add_default(b);
	return rc < 0 ? -1 : add_usual(b);
}

bool
nsrun_build_home_hides(const struct nsrun_build *b, const char *mask)
{
	if (!b->home_layer || !nsrun_path_is_clean(mask) ||
	    !nsrun_path_is_within(mask, b->home) || !strcmp(mask, b->home))
		return false;
	for (size_t i = 0; i < b->n_roots; i++)
		if (nsrun_path_is_within(mask, b->roots[i].path))
			return false;
	return true;
}

/* What a command left there may be no directory, and is then its own. */
bool
nsrun_build_home_has_room(const struct nsrun_build *b, const char *path)
{
	const char *rel = path + strlen(b->home) + 1;
	char prefix[PATH_MAX];
	struct stat st;

	for (size_t n = strcspn(rel, "/"); ; n += strcspn(rel + n + 1, "/") +
	    1) {
		snprintf(prefix, sizeof prefix, "%.*s", (int)n, rel);
		if (fstatat(b->home_fd, prefix, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT;
		if (!S_ISDIR(st.st_mode))
			return false;
		if (!rel[n])
			return true;
	}
}
