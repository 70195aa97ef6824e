/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The project through an overlay. It is mounted now, though nowhere yet, by a
 * process beside us: masks, controls and set-ID bits are looked for in what the
 * command will see, the host's tree with what earlier launches made of it. The
 * scan looks at the host's own: what is mounted or listens there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "host/build.h"
#include "host/identity.h"
#include "host/overlay.h"
#include "host/store.h"

static const char part[] = "layer";

/* FNV-1a: two that meet are told apart by what the overlay says it is of. */
void
nsrun_overlay_name(char name[NSRUN_STORE_NAME + 1], const char *given,
    const char *project)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (const char *s = project; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3;
	if (strcmp(given, NSRUN_REQUEST_OWN))
		snprintf(name, NSRUN_STORE_NAME + 1, "%s", given);
	else
		snprintf(name, NSRUN_STORE_NAME + 1, "project-%016llx",
		    (unsigned long long)hash);
}

static int
refuse(struct nsrun_build *b, const char *rule, const char *more)
{
	return nsrun_err_rule(b->err, NSRUN_STEP_OPTION, rule,
	    "--overlay-project", more);
}

/* What is written elsewhere would be in no layer, and what is kept is ours. */
static int
check_roots(struct nsrun_build *b, const char *item)
{
	for (size_t i = 0; i < b->n_roots; i++) {
		const struct nsrun_granted *root = &b->roots[i];

		if (item && nsrun_path_is_within(item, root->path))
			return nsrun_err_rule(b->err, NSRUN_STEP_ROOT, "holds"
			    " the state directory: --state-dir names another",
			    root->path, item);
		if (root->writable && strcmp(root->path, b->project->path) &&
		    (nsrun_path_is_within(root->path, b->project->path) ||
		    nsrun_path_is_within(b->project->path, root->path)))
			return refuse(b, "cannot hold or be in another writable"
			    " root", root->path);
	}
	return 0;
}

static int
check(struct nsrun_build *b)
{
	const struct nsrun_store_item *item = b->request->overlay_item;

	if (!b->project)
		return refuse(b, "needs --project", NULL);
	if (geteuid() != 0 && b->plan->identity.host_uid != geteuid())
		return refuse(b, "is the caller's own: only root can have it"
		    " together with", "--as");
	if (b->runs_git)
		return refuse(b, "is not for git itself, which works on the"
		    " repository", NULL);
	if (!item && !b->request->only_explains)
		return refuse(b, "is made by oc-nsrun, not by the library",
		    NULL);
	return check_roots(b, item ? item->path : NULL);
}

/* The project's mode is its top's, in the overlay, too. */
static int
make_dir(struct nsrun_build *b, int layer, const char *name, mode_t mode)
{
	const struct nsrun_identity *who = &b->plan->identity;
	nsrun_autoclose int fd = -1;

	if (mkdirat(layer, name, 0700) < 0)
		return errno == EEXIST ? 0 : nsrun_err_sys(b->err,
		    NSRUN_STEP_STATE, "mkdir", name, NULL);
	fd = openat(layer, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd < 0 || fchmod(fd, mode & 07777) < 0 ||
	    (who->host_uid != geteuid() &&
	    fchown(fd, who->host_uid, who->host_gid) < 0))
		return nsrun_err_sys(b->err, NSRUN_STEP_STATE, "mkdir", name,
		    NULL);
	return 0;
}

static int
open_layer(struct nsrun_build *b, const struct nsrun_store_item *item)
{
	const struct nsrun_identity *who = &b->plan->identity;
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (nsrun_store_make_part(item, part, who->host_uid, who->host_gid,
	    b->err) < 0)
		return -1;
	fd = openat(item->fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);
	if (fd < 0 || fstat(b->project->pin.fd, &st) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_STATE, "open",
		    item->path, NULL);
	if (make_dir(b, fd, "upper", st.st_mode) < 0 ||
	    make_dir(b, fd, "work", 0700) < 0)
		return -1;
	return nsrun_fd_take(&fd);
}

static int
start_mount(struct nsrun_build *b, int layer_fd)
{
	const struct nsrun_identity *who = &b->plan->identity;
	const struct nsrun_pin *pin = &b->project->pin;
	const struct nsrun_overlay_mount m = {
		.lower = b->project->path, .lower_fd = pin->fd,
		.layer = b->overlay, .layer_fd = layer_fd,
		.uid = who->host_uid, .gid = who->host_gid,
		.leaves_root = who->leaves_root,
		.maps = nsrun_identity_maps(who, pin),
		.lower_uid = pin->uid, .lower_gid = pin->gid,
	};
	char why[NSRUN_OVERLAY_WHY];

	if (who->leaves_root && !who->clones_trees)
		return refuse(b, "needs CAP_SYS_ADMIN where root becomes"
		    " another", NULL);
	return nsrun_overlay_start(&b->overlay_maker, &m, why) < 0 ?
	    nsrun_err_sys(b->err, NSRUN_STEP_MOUNT, why, b->overlay,
	    b->project->path) : 0;
}

int
nsrun_build_overlay_take(struct nsrun_build *b)
{
	struct nsrun_granted *root;
	char why[NSRUN_OVERLAY_WHY];
	nsrun_autoclose int fd = -1;
	struct stat st;

	if (!b->overlay_maker.pid)
		return 0;
	root = &b->roots[b->project - b->roots];
	fd = nsrun_overlay_finish(&b->overlay_maker, why);
	if (fd < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_MOUNT, why, b->overlay,
		    root->path);
	if (fstat(fd, &st) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_MOUNT, "fstat",
		    root->path, NULL);
	b->lower_fd = root->pin.fd;
	root->pin.fd = b->merged_fd = nsrun_fd_take(&fd);
	root->pin.dev = st.st_dev;
	root->pin.ino = st.st_ino;
	return 0;
}

/* Where it would be: nothing is made to explain it. */
static int
name_layer(struct nsrun_build *b)
{
	const struct nsrun_request *r = b->request;
	char where[NSRUN_STORE_PATH], name[NSRUN_STORE_NAME + 1];

	if (nsrun_store_where(where, r->state_dir, b->err) < 0)
		return -1;
	nsrun_overlay_name(name, r->overlay, b->project->path);
	b->overlay = r->drops_overlay ? "" : nsrun_build_text(b,
	    "%s/" NSRUN_OVERLAY_KIND "/%s/%s", where, name, part);
	return b->overlay ? 0 : -1;
}

int
nsrun_build_host_fd(const struct nsrun_build *b, const struct nsrun_mount *m)
{
	return m->flags & NSRUN_MOUNT_MADE ? b->lower_fd : m->pin.fd;
}

int
nsrun_build_overlay(struct nsrun_build *b)
{
	const struct nsrun_store_item *item = b->request->overlay_item;
	nsrun_autoclose int layer = -1;

	if (!b->request->overlay)
		return 0;
	if (check(b) < 0)
		return -1;
	if (!item)
		return name_layer(b);
	b->overlay = nsrun_build_text(b, "%s/%s", item->path, part);
	if (!b->overlay || (layer = open_layer(b, item)) < 0)
		return -1;
	b->plan->process.sync_fd = b->request->overlay_busy_fd;
	return start_mount(b, layer);
}

int
nsrun_build_overlay_root(struct nsrun_build *b, struct nsrun_granted *root)
{
	const char **layers = nsrun_arena_alloc(&b->plan->arena,
	    2 * sizeof *layers);
	const struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_OVERLAY,
		.flags = NSRUN_MOUNT_GRANT | NSRUN_MOUNT_EXACT |
		    (b->lower_fd >= 0 ? NSRUN_MOUNT_MADE :
		    NSRUN_MOUNT_PINNED),
		.source = *b->overlay ? b->overlay : NULL,
		.target = root->path, .layers = layers,
		.pin = root->pin, .type = S_IFDIR,
	};

	if (!layers)
		return nsrun_err_nomem(b->err, "overlay");
	layers[0] = root->path;
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0)
		return -1;
	root->pin.fd = -1;	/* the plan's now */
	return 0;
}
