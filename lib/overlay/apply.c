/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/sys.h"
#include "overlay/baseline.h"
#include "overlay/dir.h"
#include "overlay/place.h"

static const char prefix[] = ".oc-nsrun-apply-";
static const char note[] = "pending", new_note[] = "pending.new";

static int
fail(struct nsrun_err *err, const char *call, const char *subject)
{
	return nsrun_err_sys(err, NSRUN_STEP_STATE, call, subject, NULL);
}

static int
make_temp_name(struct nsrun_apply *a)
{
	uint64_t number;

	if (getrandom(&number, sizeof number, 0) != sizeof number)
		return fail(a->err, "getrandom", NULL);
	snprintf(a->temp, sizeof a->temp, "%s%016llx", prefix,
	    (unsigned long long)number);
	a->noted[0] = '\0';
	return 0;
}

/*
 * Before anything is made in a directory: the name that may be left there, and
 * the directory, so that a next time can remove it.
 */
static int
take_note(struct nsrun_apply *a, const struct nsrun_change *change)
{
	size_t n = strlen(change->path) - strlen(change->name);
	nsrun_autoclose int fd = -1;
	char text[sizeof a->temp + sizeof a->noted + 2];
	int len;

	/* What stands for the project itself is ".". */
	if (n ? !strncmp(a->noted, change->path, n) && !a->noted[n] :
	    !strcmp(a->noted, "."))
		return 0;
	snprintf(a->noted, sizeof a->noted, "%.*s", n ? (int)n : 1,
	    n ? change->path : ".");
	len = snprintf(text, sizeof text, "%s %s", a->temp, a->noted);
	fd = openat(a->dir_fd, new_note, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text, (size_t)len) != len ||
	    renameat(a->dir_fd, new_note, a->dir_fd, note) < 0)
		return fail(a->err, "write", note);
	return 0;
}

/* Ours, whole, and in nobody's way any more: whatever is in it. */
static int
remove_left(int dir_fd, const char *name, int depth)
{
	nsrun_autoclose int fd = -1;
	struct nsrun_names names;
	int rc = 0;

	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR || depth > NSRUN_OVERLAY_DEPTH)
		return -1;
	fd = nsrun_dir_open(dir_fd, name);
	if (fd < 0 || nsrun_names_read(&names, fd) < 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		rc = remove_left(fd, names.v[i], depth + 1);
	nsrun_names_free(&names);
	return rc == 0 ? unlinkat(dir_fd, name, AT_REMOVEDIR) : -1;
}

int
nsrun_apply_recover(int dir_fd, int project_fd, struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(dir_fd, note, O_RDONLY | O_NOFOLLOW |
	    O_CLOEXEC);
	nsrun_autoclose int place = -1;
	char *text, *path;
	size_t size;
	int rc = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : fail(err, "open", note);
	text = nsrun_file_read_fd(fd, 2 * PATH_MAX, &size);
	path = text ? strchr(text, ' ') : NULL;
	if (path && !strncmp(text, prefix, sizeof prefix - 1)) {
		*path++ = '\0';
		place = sys_openat2(project_fd, path, O_RDONLY | O_DIRECTORY |
		    O_CLOEXEC, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
		    RESOLVE_NO_XDEV);
		/* Gone, and what was in it, too. */
		if (place >= 0 && !strchr(text, '/') &&
		    remove_left(place, text, 0) < 0)
			rc = fail(err, "remove", path);
	}
	free(text);
	if (rc == 0 && unlinkat(dir_fd, note, 0) < 0)
		rc = fail(err, "remove", note);
	return rc;
}

/* A directory that was made and could not be closed yet: killed, then. */
static bool
is_ours_still_open(const struct nsrun_change *change)
{
	return change->entry && change->entry->kind == NSRUN_LAYER_DIR &&
	    change->was && S_ISDIR(change->was->st_mode) &&
	    (change->was->st_mode & 01777) ==
	    ((change->entry->st.st_mode | 0700) & 01777);
}

/* 0; 1, refused; -1. */
static int
place(struct nsrun_apply *a, const struct nsrun_change *change)
{
	a->why = change->why_not;
	if (!a->why && change->conflict && !is_ours_still_open(change))
		a->why = nsrun_place_changed;
	if (!a->why && change->host_fd < 0)
		a->why = "is in a directory that is not there";
	if (a->why)
		return 1;
	if (take_note(a, change) < 0)
		return -1;
	if (change->kind == NSRUN_CHANGE_DELETED)
		return nsrun_place_delete(a, change->host_fd, change->name,
		    change->path);
	switch (change->entry->kind) {
	case NSRUN_LAYER_DIR:
		return nsrun_place_dir(a, change);
	case NSRUN_LAYER_LINK:
		return nsrun_place_link(a, change);
	case NSRUN_LAYER_FILE:
	case NSRUN_LAYER_SPECIAL:
	case NSRUN_LAYER_WHITEOUT:
	case NSRUN_LAYER_STUB:
		break;
	}
	return nsrun_place_file(a, change);
}

/* Its mode is still to come, and is noted with that. */
static bool
closes_late(const struct nsrun_apply *a, const struct nsrun_change *change)
{
	return a->n_late && !strcmp(a->late[a->n_late - 1].path, change->path);
}

/* What stands there now is what the overlay goes on from. */
static int
note_done(struct nsrun_apply *a, const struct nsrun_change *change)
{
	struct stat st;
	bool there = change->host_fd >= 0 && fstatat(change->host_fd,
	    change->name, &st, AT_SYMLINK_NOFOLLOW) == 0;

	return nsrun_baseline_set(a->baseline, change->path, there ? &st :
	    NULL) < 0 ? nsrun_err_nomem(a->err, change->path) : 0;
}

static int
apply_one(void *arg, const struct nsrun_change *change)
{
	struct nsrun_apply *a = arg;
	int rc;

	if (change->kind == NSRUN_CHANGE_NONE)
		return note_done(a, change);
	rc = place(a, change);
	if (rc < 0)
		return -1;
	if (rc == 0) {
		a->n_applied++;
		return closes_late(a, change) ? 0 : note_done(a, change);
	}
	a->n_refused++;
	a->refuse(a->arg, change, a->why);
	return 0;
}

/* From the inside out, since the outer may close the way. */
static int
close_late(struct nsrun_apply *a)
{
	int rc = 0;

	for (size_t i = a->n_late; i-- > 0; ) {
		nsrun_autoclose int fd = sys_openat2(a->project_fd,
		    a->late[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
		struct stat st;

		/* Replaced by now: not ours to close. */
		if (rc == 0 && fd >= 0 && (fstat(fd, &st) < 0 ||
		    fchmod(fd, (st.st_mode & 06000) | a->late[i].mode) < 0 ||
		    fstat(fd, &st) < 0 || nsrun_baseline_set(a->baseline,
		    a->late[i].path, &st) < 0))
			rc = fail(a->err, "chmod", a->late[i].path);
		free(a->late[i].path);
	}
	free(a->late);
	a->late = NULL;
	a->n_late = 0;
	return rc;
}

/* What stays in the layer has a new baseline; what is done leaves it. */
static int
keep_rest(struct nsrun_apply *a, struct nsrun_changes *c)
{
	if (nsrun_baseline_save(a->baseline, a->dir_fd, a->err) < 0)
		return -1;
	return nsrun_changes_prune(c);
}

int
nsrun_apply_changes(struct nsrun_apply *a, struct nsrun_err *err)
{
	struct nsrun_changes c = {
		.layer_fd = a->layer_fd, .project_fd = a->project_fd,
		.notes_fd = a->dir_fd,
		.baseline = a->baseline, .reserved = a->reserved,
		.tells_none = true, .tell = apply_one, .arg = a, .err = err,
	};
	int rc;

	a->err = err;
	if (nsrun_apply_recover(a->dir_fd, a->project_fd, err) < 0 ||
	    make_temp_name(a) < 0)
		return -1;
	rc = nsrun_changes_walk(&c);
	if (close_late(a) < 0 || rc < 0)
		return -1;
	/* The layer goes only when what was made of it is safe. */
	if (syncfs(a->project_fd) < 0)
		return fail(err, "syncfs", "the project");
	if (a->n_refused && keep_rest(a, &c) < 0)
		return -1;
	if (unlinkat(a->dir_fd, note, 0) < 0 && errno != ENOENT)
		return fail(err, "remove", note);
	return 0;
}
