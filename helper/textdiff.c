/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unified diff, by E. Myers' greedy algorithm (An O(ND) Difference Algorithm,
 * 1986), with a bound on the number of differences: beyond it all of the old is
 * taken away and all of the new added, which is a diff as well.
 */
#include "textdiff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/name.h"
#include "overlay/changes.h"
#include "plan/print.h"

enum {
	MAX_BYTES	= 16 << 20,
	MAX_EDITS	= 2000,
	CONTEXT		= 3,
};

struct line {
	const char	*s;
	size_t		n;		/* with its newline */
	bool		changed;
};

struct side {
	struct line	*v;
	long		n;
};

struct diff {
	struct side	old, new;
	long		first, n, m;	/* what is left between equal ends */
};

static int
split(struct side *side, const char *text, size_t size)
{
	long room = 1, n = 0;

	for (size_t i = 0; i < size; i++)
		room += text[i] == '\n';
	side->v = calloc((size_t)room, sizeof *side->v);
	if (!side->v)
		return -1;
	for (const char *s = text, *end = text + size; s < end; n++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = nl ? (size_t)(nl - s) + 1 : (size_t)(end - s);

		side->v[n] = (struct line){ .s = s, .n = len };
		s += len;
	}
	side->n = n;
	return 0;
}

static bool
same(const struct diff *d, long x, long y)
{
	const struct line *a = &d->old.v[d->first + x];
	const struct line *b = &d->new.v[d->first + y];

	return a->n == b->n && !memcmp(a->s, b->s, a->n);
}

static void
skip_ends(struct diff *d)
{
	d->n = d->old.n;
	d->m = d->new.n;
	while (d->first < d->n && d->first < d->m && same(d, 0, 0))
		d->first++;
	d->n -= d->first;
	d->m -= d->first;
	while (d->n > 0 && d->m > 0 && same(d, d->n - 1, d->m - 1)) {
		d->n--;
		d->m--;
	}
}

static void
mark(struct side *side, long from, long n)
{
	for (long i = 0; i < n; i++)
		side->v[from + i].changed = true;
}

/* Does edit e reach diagonal k from above, by a line that is added? */
static bool
is_down(const long *v, long e, long k)
{
	return k == -e || (k != e && v[k - 1] < v[k + 1]);
}

/* Back from the end, by what each round had reached: row e has 2e+1 of them. */
static void
trace(struct diff *d, const long *rows, long edits)
{
	long x = d->n, y = d->m;

	for (long e = edits; e > 0; e--) {
		/* Row e - 1 begins at (e - 1)^2, its middle is e - 1 on. */
		const long *v = rows + (e - 1) * (e - 1) + e - 1;
		long k = x - y;
		bool down = k == -e || (k != e && (k - 1 < -(e - 1) ||
		    (k + 1 <= e - 1 && v[k - 1] < v[k + 1])));
		long prev = down ? k + 1 : k - 1;

		x = v[prev];
		y = x - prev;
		if (down)
			d->new.v[d->first + y].changed = true;
		else
			d->old.v[d->first + x].changed = true;
	}
}

/* As far as each diagonal leads with e edits; returns the number of edits. */
static long
search(const struct diff *d, long *v, long *rows, long max)
{
	for (long e = 0; e <= max; e++) {
		for (long k = -e; k <= e; k += 2) {
			long x = e == 0 ? 0 : is_down(v, e, k) ? v[k + 1] :
			    v[k - 1] + 1, y = x - k;

			while (x < d->n && y < d->m && y >= 0 && same(d, x, y))
				x++, y++;
			v[k] = x;
			if (x >= d->n && y >= d->m)
				return e;
		}
		memcpy(rows + e * e, v - e, (size_t)(2 * e + 1) * sizeof *v);
	}
	return -1;
}

static int
compare(struct diff *d)
{
	long max = d->n + d->m < MAX_EDITS ? d->n + d->m : MAX_EDITS, edits;
	long *v = calloc((size_t)(2 * max + 3), sizeof *v);
	long *rows = calloc((size_t)((max + 1) * (max + 1)), sizeof *rows);

	edits = v && rows ? search(d, v + max + 1, rows, max) : -1;
	if (edits >= 0) {
		trace(d, rows, edits);
	} else {
		mark(&d->old, d->first, d->n);
		mark(&d->new, d->first, d->m);
	}
	free(v);
	free(rows);
	return 0;
}

static void
put_line(FILE *out, char sign, const struct line *line, bool escapes)
{
	const unsigned char *s = (const unsigned char *)line->s;
	const unsigned char *end = s + line->n;

	putc(sign, out);
	while (s < end) {
		unsigned char c = *s;
		int n = escapes && c >= 0x80 ? nsrun_utf8_length(s) : 1;

		if (n > 1 && nsrun_utf8_misleads(s))
			n = 0;
		if (n == 0 || (escapes && ((c < ' ' && c != '\t' &&
		    c != '\n') || c == 0x7f))) {
			fprintf(out, "\\%03o", c);
			n = 1;
		} else {
			fwrite(s, (size_t)n, 1, out);
		}
		s += n;
	}
	if (!line->n || line->s[line->n - 1] != '\n')
		fputs("\n\\ No newline at end of file\n", out);
}

/* Where a change is not further than twice the context from the last one. */
static void
find_end(const struct diff *d, long *x, long *y)
{
	long quiet = 0;

	while (quiet <= 2 * CONTEXT && (*x < d->old.n || *y < d->new.n)) {
		bool out = *x < d->old.n && d->old.v[*x].changed;
		bool in = *y < d->new.n && d->new.v[*y].changed;

		quiet = out || in ? 0 : quiet + 1;
		*x += out || !in;
		*y += in || !out;
	}
	quiet = quiet > CONTEXT ? quiet - CONTEXT : 0;
	*x -= quiet;
	*y -= quiet;
}

static void
put_range(FILE *out, char sign, long from, long to)
{
	/* An empty range is named by the line before it. */
	fprintf(out, "%c%ld,%ld", sign, to > from ? from + 1 : from, to - from);
}

static void
put_hunk(FILE *out, const struct diff *d, const long from[2], const long to[2],
    bool escapes)
{
	long x = from[0], y = from[1];

	fputs("@@ ", out);
	put_range(out, '-', from[0], to[0]);
	putc(' ', out);
	put_range(out, '+', from[1], to[1]);
	fputs(" @@\n", out);
	while (x < to[0] || y < to[1]) {
		if (x < to[0] && d->old.v[x].changed) {
			put_line(out, '-', &d->old.v[x++], escapes);
		} else if (y < to[1] && d->new.v[y].changed) {
			put_line(out, '+', &d->new.v[y++], escapes);
		} else {
			put_line(out, ' ', &d->old.v[x++], escapes);
			y++;
		}
	}
}

static void
put_hunks(FILE *out, const struct diff *d, bool escapes)
{
	long x = 0, y = 0;

	while (x < d->old.n || y < d->new.n) {
		long from[2], to[2], before;

		if (!(x < d->old.n && d->old.v[x].changed) &&
		    !(y < d->new.n && d->new.v[y].changed)) {
			x++, y++;
			continue;
		}
		before = x < y ? x : y;
		if (before > CONTEXT)
			before = CONTEXT;
		from[0] = x - before;
		from[1] = y - before;
		find_end(d, &x, &y);
		to[0] = x;
		to[1] = y;
		put_hunk(out, d, from, to, escapes);
	}
}

int
textdiff_hunks(FILE *out, const char *old, size_t n_old, const char *new,
    size_t n_new, int escapes)
{
	struct diff d = { .first = 0 };
	int rc = -1;

	if (split(&d.old, old, n_old) == 0 && split(&d.new, new, n_new) == 0) {
		skip_ends(&d);
		rc = compare(&d);
		put_hunks(out, &d, escapes);
	}
	free(d.old.v);
	free(d.new.v);
	return rc;
}

/* A regular file's text; NULL: there is none, or it is not to be compared. */
static char *
text_of(int fd, size_t *size, const char **why)
{
	char *text = fd < 0 ? NULL : nsrun_file_read_fd(fd, MAX_BYTES, size);

	if (!text)
		*why = errno == EFBIG ? "is too large to compare" :
		    "cannot be read";
	else if (memchr(text, '\0', *size))
		*why = "is not text";
	return text;
}

static void
put_name(FILE *out, const char *sign, const char *side, const char *path)
{
	fprintf(out, "%s ", sign);
	if (path) {
		fputs(side, out);
		nsrun_print_name(out, path);
	} else {
		fputs("/dev/null", out);
	}
	putc('\n', out);
}

void
textdiff_print(FILE *out, const struct nsrun_change *change)
{
	const struct nsrun_layer_entry *e = change->entry;
	bool was = change->was && S_ISREG(change->was->st_mode);
	bool is = e && e->kind == NSRUN_LAYER_FILE && !e->elsewhere;
	nsrun_autoclose int old_fd = -1, new_fd = -1;
	char *old = NULL, *new = NULL;
	size_t n_old = 0, n_new = 0;
	const char *why = NULL;

	if ((!was || !change->was->st_size) && (!is || !e->st.st_size))
		return;
	if (was) {
		old_fd = openat(change->host_fd, change->name, O_RDONLY |
		    O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		old = text_of(old_fd, &n_old, &why);
	}
	if (is) {
		new_fd = nsrun_layer_open(change->layer_fd, change->name, e,
		    change->place);
		new = text_of(new_fd, &n_new, &why);
	}
	if (old && new && n_old == n_new && !memcmp(old, new, n_old))
		goto out;	/* only its mode changed */
	put_name(out, "---", "a/", was ? change->path : NULL);
	put_name(out, "+++", "b/", is ? change->path : NULL);
	if (why)
		fprintf(out, "(%s)\n", why);
	else
		textdiff_hunks(out, old ? old : "", n_old, new ? new : "",
		    n_new, isatty(fileno(out)));
out:
	free(old);
	free(new);
}
