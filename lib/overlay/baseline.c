/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "overlay/baseline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "overlay/dir.h"

static const char file[] = "baseline", new_file[] = "baseline.new";
static const char first_line[] = "oc-nsrun baseline 1";

static int
fail(struct nsrun_err *err, const char *call, const char *subject)
{
	return nsrun_err_sys(err, NSRUN_STEP_STATE, call, subject, NULL);
}

static FILE *
create(int dir_fd)
{
	int fd = openat(dir_fd, new_file, O_WRONLY | O_CREAT | O_TRUNC |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		nsrun_fd_close(&fd);
	else
		fwrite(first_line, sizeof first_line, 1, out);
	return out;
}

/* Closes out; the file is there whole, or as it was. */
static int
finish(FILE *out, int dir_fd, struct nsrun_err *err)
{
	int bad = ferror(out), rc = fclose(out);

	if (bad || rc != 0 || renameat(dir_fd, new_file, dir_fd, file) < 0)
		return fail(err, "write", file);
	return 0;
}

static void
put(FILE *out, const struct nsrun_base *e)
{
	fprintf(out, "%" PRIo32 " %" PRIu64 " %" PRId64 ".%" PRIu32 " ",
	    e->mode, e->ino, e->ctime_s, e->ctime_ns);
	fwrite(e->path, strlen(e->path) + 1, 1, out);
}

static struct nsrun_base
base_of(const char *path, const struct stat *st)
{
	return (struct nsrun_base){
		.path = path, .ino = st->st_ino, .mode = st->st_mode,
		.ctime_s = st->st_ctim.tv_sec,
		.ctime_ns = (uint32_t)st->st_ctim.tv_nsec,
	};
}

struct walk {
	FILE	*out;
	char	path[PATH_MAX];
	int	depth;
	struct nsrun_err *err;
};

static int record_dir(struct walk *w, int fd, size_t len);

static int
record_one(struct walk *w, int dir_fd, const char *name, size_t len)
{
	size_t n = strlen(name);
	struct nsrun_base e;
	struct stat st;
	int rc = 0;

	if (len + n + 2 > sizeof w->path)
		return nsrun_err_rule(w->err, NSRUN_STEP_PROJECT,
		    "is too long a path for an overlay", w->path, NULL);
	memcpy(w->path + len, name, n + 1);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : fail(w->err, "stat", w->path);
	e = base_of(w->path, &st);
	put(w->out, &e);
	if (S_ISDIR(st.st_mode)) {
		nsrun_autoclose int fd = nsrun_dir_open(dir_fd, name);

		w->path[len + n] = '/';
		/* Closed to us, mounted over, gone: nothing of it is known. */
		if (fd >= 0)
			rc = record_dir(w, fd, len + n + 1);
		else if (errno != EACCES && errno != EXDEV && errno != ENOENT)
			rc = fail(w->err, "open", w->path);
	}
	w->path[len] = '\0';
	return rc;
}

static int
record_dir(struct walk *w, int fd, size_t len)
{
	struct nsrun_names names;
	int rc = 0;

	if (++w->depth > NSRUN_OVERLAY_DEPTH)
		return nsrun_err_rule(w->err, NSRUN_STEP_PROJECT, "is deeper"
		    " than 256 directories: too deep for an overlay", w->path,
		    NULL);
	w->path[len] = '\0';
	if (nsrun_names_read(&names, fd) < 0)
		return fail(w->err, "read", len ? w->path : "the project");
	for (size_t i = 0; rc == 0 && i < names.n; i++)
		if (len || strcmp(names.v[i], ".git"))
			rc = record_one(w, fd, names.v[i], len);
	nsrun_names_free(&names);
	w->depth--;
	return rc;
}

int
nsrun_baseline_record(int dir_fd, int project_fd, struct nsrun_err *err)
{
	struct walk w = { .out = create(dir_fd), .err = err };
	nsrun_autoclose int fd = openat(project_fd, ".", O_RDONLY |
	    O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (!w.out)
		return fail(err, "open", new_file);
	rc = fd < 0 ? fail(err, "open", "the project") : record_dir(&w, fd, 0);
	if (rc == 0)
		return finish(w.out, dir_fd, err);
	fclose(w.out);
	return -1;
}

static int
by_path(const void *a, const void *b)
{
	const struct nsrun_base *x = a, *y = b;

	return nsrun_path_compare(x->path, y->path);
}

/* Room for one more. */
static int
grow(struct nsrun_baseline *b)
{
	size_t room = b->room ? 2 * b->room : 1024;
	struct nsrun_base *v;

	if (b->n < b->room)
		return 0;
	v = realloc(b->v, room * sizeof *v);
	if (!v)
		return -1;
	b->v = v;
	b->room = room;
	return 0;
}

/* A line, whose path ends in NUL; what follows it, or NULL. */
static char *
parse(char *s, struct nsrun_base *e)
{
	char *end;

	e->mode = (uint32_t)strtoul(s, &end, 8);
	if (*end++ != ' ')
		return NULL;
	e->ino = strtoull(end, &end, 10);
	if (*end++ != ' ')
		return NULL;
	e->ctime_s = strtoll(end, &end, 10);
	if (*end++ != '.')
		return NULL;
	e->ctime_ns = (uint32_t)strtoul(end, &end, 10);
	if (*end++ != ' ')
		return NULL;
	e->path = end;
	return end + strlen(end) + 1;
}

static int
parse_all(struct nsrun_baseline *b, size_t size)
{
	char *s = b->text + sizeof first_line, *end = b->text + size;

	if (size < sizeof first_line || memcmp(b->text, first_line,
	    sizeof first_line) || end[-1]) {
		errno = EINVAL;
		return -1;
	}
	while (s < end) {
		if (grow(b) < 0)
			return -1;
		s = parse(s, &b->v[b->n++]);
		if (!s) {
			errno = EINVAL;
			return -1;
		}
	}
	if (b->n)
		qsort(b->v, b->n, sizeof *b->v, by_path);
	b->n_sorted = b->n;
	return 0;
}

int
nsrun_baseline_load(struct nsrun_baseline *b, int dir_fd, struct nsrun_err *err)
{
	nsrun_autoclose int fd = openat(dir_fd, file, O_RDONLY | O_NOFOLLOW |
	    O_CLOEXEC);
	size_t size = 0;

	*b = (struct nsrun_baseline){ 0 };
	if (fd >= 0)
		b->text = nsrun_file_read_fd(fd, (size_t)4 << 30, &size);
	if (b->text && parse_all(b, size) == 0)
		return 0;
	fail(err, "read", file);
	nsrun_baseline_deinit(b);
	return -1;
}

void
nsrun_baseline_deinit(struct nsrun_baseline *b)
{
	for (size_t i = 0; i < b->n_added; i++)
		free(b->added[i]);
	free(b->added);
	free(b->v);
	free(b->text);
	*b = (struct nsrun_baseline){ 0 };
}

static struct nsrun_base *
find(const struct nsrun_baseline *b, const char *path)
{
	const struct nsrun_base key = { .path = path };

	return b->n_sorted ? bsearch(&key, b->v, b->n_sorted, sizeof *b->v,
	    by_path) : NULL;
}

bool
nsrun_baseline_holds(const struct nsrun_baseline *b, const char *path,
    const struct stat *st)
{
	const struct nsrun_base *e = find(b, path);
	struct nsrun_base now;

	if (!st || !e || !e->mode)
		return !st && (!e || !e->mode);
	now = base_of(path, st);
	if (now.ino != e->ino || now.mode != e->mode)
		return false;
	return S_ISDIR(now.mode) || (now.ctime_s == e->ctime_s &&
	    now.ctime_ns == e->ctime_ns);
}

int
nsrun_baseline_set(struct nsrun_baseline *b, const char *path,
    const struct stat *st)
{
	struct nsrun_base *e = find(b, path);
	char **added;

	if (!st) {
		if (e)
			e->mode = 0;
		return 0;
	}
	if (e) {
		*e = base_of(e->path, st);
		return 0;
	}
	added = realloc(b->added, (b->n_added + 1) * sizeof *added);
	if (!added)
		return -1;
	b->added = added;
	if (grow(b) < 0 || !(added[b->n_added] = strdup(path)))
		return -1;
	b->v[b->n++] = base_of(added[b->n_added++], st);
	return 0;
}

int
nsrun_baseline_save(struct nsrun_baseline *b, int dir_fd, struct nsrun_err *err)
{
	FILE *out = create(dir_fd);

	if (!out)
		return fail(err, "open", new_file);
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].mode)
			put(out, &b->v[i]);
	return finish(out, dir_fd, err);
}
