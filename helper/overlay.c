/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "host/overlay.h"
#include "host/request.h"
#include "overlay/baseline.h"
#include "overlay/dir.h"
#include "overlay/layer.h"
#include "overlay_list.h"

static int
fail(struct nsrun_err *err, const char *call, const char *subject)
{
	return nsrun_err_sys(err, NSRUN_STEP_STATE, call, subject, NULL);
}

static int
refuse(struct nsrun_err *err, const char *rule, const char *a, const char *b)
{
	return nsrun_err_rule(err, NSRUN_STEP_STATE, rule, a, b);
}

static int
open_project(struct overlay *o, const char *project, struct nsrun_err *err)
{
	o->project = realpath(project, NULL);
	o->project_fd = o->project ? open(o->project, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC) : -1;
	return o->project_fd < 0 ? nsrun_err_sys(err, NSRUN_STEP_PROJECT,
	    o->project ? "open" : "realpath", project, NULL) : 0;
}

static int
hold(struct overlay *o, const char *name, enum overlay_use use,
    struct nsrun_err *err)
{
	unsigned int how = NSRUN_STORE_ALONE |
	    (use == OVERLAY_BEGIN ? NSRUN_STORE_MAKE : 0);

	if (nsrun_store_hold(&o->item, &o->store, NSRUN_OVERLAY_KIND,
	    use == OVERLAY_THROW_AWAY ? NULL : o->name, how, err) == 0)
		return 0;
	if (err->errnum == EWOULDBLOCK || err->errnum == ENOENT) {
		bool busy = err->errnum == EWOULDBLOCK;

		*err = (struct nsrun_err)NSRUN_ERR_INIT;
		return refuse(err, busy ? "is in use: another name makes"
		    " another overlay" : "has no such overlay: nothing was"
		    " written to it, or all was applied", o->project,
		    strcmp(name, NSRUN_REQUEST_OWN) ? name : NULL);
	}
	return -1;
}

/* Whose it is; written when it is new. */
static int
check_project(struct overlay *o, const char *name, struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(o->item.fd, "project", O_RDWR |
	    O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t size = 0;
	char *text = fd < 0 ? NULL : nsrun_file_read_fd(fd, 65536, &size);
	size_t n = strlen(o->project);
	int rc = 0;

	if (!text)
		return fail(err, "read", o->item.path);
	if (size == 0 && write(fd, o->project, n + 1) != (ssize_t)n + 1)
		rc = fail(err, "write", o->item.path);
	else if (size != 0 && strcmp(text, o->project))
		rc = refuse(err, "is the overlay of another project", name,
		    text);
	free(text);
	return rc;
}

/* A sandbox whose oc-nsrun was killed may live a moment longer. */
static int
lock_busy(struct overlay *o, struct nsrun_err *err)
{
	o->busy_fd = openat(o->item.fd, "busy", O_RDONLY | O_CREAT |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->busy_fd < 0 || nsrun_fd_raise(&o->busy_fd) < 0)
		return fail(err, "open", o->item.path);
	if (flock(o->busy_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? refuse(err, "is in use by a sandbox that"
	    " has not ended yet", o->project, NULL) :
	    fail(err, "flock", o->item.path);
}

/* The layer, if there is one: -1 and no error, nothing was begun. */
static int
open_upper(struct overlay *o, struct nsrun_err *err)
{
	nsrun_autoclose int layer = openat(o->item.fd, "layer", O_RDONLY |
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	o->layer_fd = layer < 0 ? -1 : openat(layer, "upper", O_RDONLY |
	    O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (o->layer_fd < 0)
		return errno == ENOENT ? 0 : fail(err, "open", o->item.path);
	return nsrun_layer_restore(o->item.fd, o->layer_fd) < 0 ?
	    fail(err, "chmod", o->item.path) : 0;
}

static int
is_empty(const struct overlay *o)
{
	struct nsrun_names names;
	int n;

	if (o->layer_fd < 0)
		return 1;
	if (nsrun_names_read(&names, o->layer_fd) < 0)
		return -1;
	n = names.n == 0;
	nsrun_names_free(&names);
	return n;
}

int
overlay_open(struct overlay *o, const char *project, const char *name,
    const char *state_dir, enum overlay_use use, struct nsrun_err *err)
{
	*o = (struct overlay)OVERLAY_INIT;
	o->thrown_away = use == OVERLAY_THROW_AWAY;
	if (strcmp(name, NSRUN_REQUEST_OWN) &&
	    nsrun_store_check_name(name, err) < 0)
		return -1;
	if (open_project(o, project, err) == 0) {
		nsrun_overlay_name(o->name, name, o->project);
		if (nsrun_store_open(&o->store, state_dir, err) == 0 &&
		    hold(o, name, use, err) == 0 &&
		    check_project(o, name, err) == 0 &&
		    lock_busy(o, err) == 0 && open_upper(o, err) == 0) {
			o->is_open = true;
			return 0;
		}
	}
	overlay_close(o, err);
	return -1;
}

int
overlay_close(struct overlay *o, struct nsrun_err *err)
{
	struct nsrun_err ignored = NSRUN_ERR_INIT;
	int rc;

	/* What cannot be looked into, or is another's still, is not empty. */
	if (o->is_open && o->layer_fd < 0)
		o->is_open = open_upper(o, &ignored) == 0;
	rc = o->item.fd >= 0 && o->is_open && is_empty(o) == 1 ?
	    overlay_remove(o, err) :
	    nsrun_store_release(&o->item, err);
	nsrun_fd_close(&o->layer_fd);
	nsrun_fd_close(&o->busy_fd);
	nsrun_fd_close(&o->project_fd);
	nsrun_store_close(&o->store);
	free(o->project);
	o->project = NULL;
	return rc;
}

int
overlay_remove(struct overlay *o, struct nsrun_err *err)
{
	if (renameat(o->item.fd, "layer", o->item.fd, "gone") < 0 &&
	    errno != ENOENT)
		return fail(err, "rename", o->item.path);
	return nsrun_store_remove(&o->item, err);
}

int
overlay_choose(struct nsrun_request *request, bool dry_run,
    struct nsrun_err *err)
{
	if (dry_run && request->overlay)
		return nsrun_err_rule(err, NSRUN_STEP_OPTION, "is an overlay"
		    " of its own: without --overlay-project", "--dry-run",
		    NULL);
	if (dry_run)
		request->overlay = NSRUN_REQUEST_OWN;
	request->drops_overlay = dry_run;
	return !request->overlay || request->project ? 0 : nsrun_err_rule(err,
	    NSRUN_STEP_OPTION, "needs --project", dry_run ? "--dry-run" :
	    "--overlay-project", NULL);
}

int
overlay_hold(struct overlay *o, struct nsrun_request *request, bool dry_run,
    struct nsrun_err *err)
{
	*o = (struct overlay)OVERLAY_INIT;
	if (overlay_choose(request, dry_run, err) < 0)
		return -1;
	if (!request->overlay)
		return 0;
	if (overlay_open(o, request->project, request->overlay,
	    request->state_dir, dry_run ? OVERLAY_THROW_AWAY : OVERLAY_BEGIN,
	    err) < 0)
		return -1;
	request->overlay_item = &o->item;
	request->overlay_busy_fd = o->busy_fd;
	return 0;
}

/* While nothing is written yet, it begins with each launch. */
int
overlay_record(struct overlay *o, struct nsrun_err *err)
{
	int empty;

	if (o->item.fd < 0 || o->thrown_away)
		return 0;
	empty = is_empty(o);
	if (empty < 0)
		return fail(err, "read", o->item.path);
	return empty ? nsrun_baseline_record(o->item.fd, o->project_fd, err) :
	    0;
}

int
overlay_end(struct overlay *o, struct nsrun_err *err)
{
	int rc = 0;

	if (o->item.fd < 0)
		return 0;
	if (o->thrown_away && open_upper(o, err) == 0 && o->layer_fd >= 0)
		rc = overlay_list_tell(o, stderr, err);
	return overlay_close(o, err) < 0 ? -1 : rc;
}
