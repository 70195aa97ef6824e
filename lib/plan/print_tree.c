/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan for a person, in one look: who and under what, the tree with what
 * may be written in it, the environment's names. /etc, /dev and /proc, whose
 * insides nobody grants, take a line each.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/path.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "policy/embedded.h"

struct tree {
	FILE				*out;
	const struct nsrun_plan		*plan;
	bool				color;
	const struct nsrun_mount	**v;	/* shown, by target */
	struct place			*places;	/* of each of v */
	size_t				n, n_masks;
};

enum { NONE = SIZE_MAX };

/* Where an entry stands among the others; all are indexes of v. */
struct place {
	size_t	parent;		/* nearest entry that it is strictly below */
	size_t	below;		/* while places are found: a child of it */
	size_t	above;		/* while lines are drawn: the next one down */
	bool	more;		/* another one of its parent's follows */
};

enum { MAX_MASKS = 50 };	/* more are counted, not shown */

static const char *const folded[] = { "/etc", "/dev", "/proc" };

static const char *
fold_of(const char *target)
{
	for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
		if (nsrun_path_is_within(target, folded[i]) &&
		    strcmp(target, "/dev/shm"))
			return folded[i];
	return NULL;
}

static void
paint(const struct tree *t, const char *code)
{
	if (t->color)
		fprintf(t->out, "\033[%sm", code);
}

static void
header(const struct tree *t)
{
	const struct nsrun_plan *plan = t->plan;
	char text[24];

	paint(t, "1");
	fprintf(t->out, "%s", plan->profile);
	paint(t, "0");
	if (plan->server)
		fprintf(t->out, "  server %s", plan->server);
	if (plan->boundary != NSRUN_BOUNDARY_SANDBOX) {
		fprintf(t->out, "  NO SANDBOX: %s, uid %u\n",
		    nsrun_boundary_name(plan->boundary),
		    (unsigned int)plan->identity.uid);
		return;
	}
	for (size_t i = 0; i < plan->n_filters; i++)
		fprintf(t->out, "  filter %s%s%s %.8s", plan->filters[i]->name,
		    *plan->filters[i]->variant ? " " : "",
		    plan->filters[i]->variant, plan->filters[i]->sha256);
	fprintf(t->out, "  network %s (%s)",
	    nsrun_network_name(plan->network),
	    plan->network == NSRUN_NETWORK_ISOLATED ? "loopback of its own" :
	    plan->n_fallbacks ? "HOST namespace, sockets refused" :
	    "own namespace, sockets refused");
	if (plan->nesting)
		fputs("  nesting allowed", t->out);
	fprintf(t->out, "\n%*s  uid %u", (int)strlen(plan->profile), "",
	    (unsigned int)plan->identity.uid);
	if (plan->identity.key)
		fprintf(t->out, " of key %s", plan->identity.key);
	if (plan->identity.leaves_root)
		fputs(" (root left behind)", t->out);
	if (plan->identity.keeps_root)
		fprintf(t->out, " KEPT%s: %s", plan->identity.unlimited ?
		    ", no limit on processes" : "", plan->identity.why_kept);
	if (plan->supervision.timeout_ms)
		fprintf(t->out, "  wall %s", nsrun_duration_text(
		    plan->supervision.timeout_ms, text));
	for (int i = 0; i < NSRUN_N_LIMITS; i++) {
		enum nsrun_limit_kind kind = (enum nsrun_limit_kind)i;

		if (plan->limits[i].set && (kind <= NSRUN_LIMIT_PROCESSES ||
		    nsrun_limit_resource(kind) < 0))
			fprintf(t->out, "  %s %s", nsrun_limit_name(kind),
			    nsrun_limit_text(kind, plan->limits[i].value,
			    text));
	}
	fputs("\n", t->out);
}

/* Filled first and made read-only then, as the view of a repository is. */
static bool
is_closed(const struct tree *t, const struct nsrun_mount *m)
{
	const struct nsrun_mount *end = t->plan->mounts.v + t->plan->mounts.n;

	for (const struct nsrun_mount *later = m + 1; later < end; later++)
		if (later->kind == NSRUN_MOUNT_REMOUNT &&
		    strcmp(later->target, m->target) == 0)
			return true;
	return false;
}

/* "rw", "ro" or nothing, in their colours. */
static void
put_access(const struct tree *t, const struct nsrun_mount *m)
{
	bool rw = m->kind == NSRUN_MOUNT_SCRATCH ||
	    (m->kind == NSRUN_MOUNT_FILE && m->mode & 0200) ||
	    ((m->kind <= NSRUN_MOUNT_BIND || m->kind == NSRUN_MOUNT_OVERLAY) &&
	    !(m->flags & NSRUN_MOUNT_RDONLY) && !is_closed(t, m));

	paint(t, rw ? "33" : "32");
	fprintf(t->out, "%-4s", rw ? "rw" : "ro");
	paint(t, "0");
}

/* What it shows, where what is written stays, what it does not show. */
static void
put_overlay(const struct tree *t, const struct nsrun_mount *m)
{
	size_t n = 0;

	fputs("over ", t->out);
	nsrun_print_name(t->out, m->layers[0]);
	fputs(m->source ? ", written to " : ", thrown away", t->out);
	if (m->source)
		nsrun_print_name(t->out, m->source);
	while (m->hidden && m->hidden[n])
		n++;
	if (n)
		fprintf(t->out, ", %zu names hidden", n);
}

static void
put_detail(const struct tree *t, const struct nsrun_mount *m)
{
	char size[24];

	switch (m->kind) {
	case NSRUN_MOUNT_ROOT:
	case NSRUN_MOUNT_TMPFS:
		fprintf(t->out, "made here, %s in all",
		    nsrun_size_text(m->size_bytes, size));
		break;
	case NSRUN_MOUNT_SCRATCH:
		fputs("made here", t->out);
		break;
	case NSRUN_MOUNT_BIND:
		if (strcmp(m->source, m->target))
			nsrun_print_name(t->out, m->source);
		if (m->flags & NSRUN_MOUNT_PINNED)
			fprintf(t->out, "pinned %" PRIx64 " ino %" PRIu64,
			    (uint64_t)m->pin.dev, (uint64_t)m->pin.ino);
		if (m->flags & NSRUN_MOUNT_IDMAPPED)
			fprintf(t->out, ", uid %u of the host idmapped",
			    (unsigned int)m->pin.uid);
		break;
	case NSRUN_MOUNT_COVER:
		fputs(m->shields ? "shielded" : "control", t->out);
		break;
	case NSRUN_MOUNT_HIDE:
		fputs("hidden", t->out);
		break;
	case NSRUN_MOUNT_ABSENT:
		fputs("absent, cannot be made", t->out);
		break;
	case NSRUN_MOUNT_MASK:
		fputs(m->shields ? "shielded" : "masked", t->out);
		break;
	case NSRUN_MOUNT_OVERLAY:
		put_overlay(t, m);
		break;
	case NSRUN_MOUNT_PROC:
	case NSRUN_MOUNT_DEVPTS:
	case NSRUN_MOUNT_DIR:
	case NSRUN_MOUNT_FILE:
	case NSRUN_MOUNT_SYMLINK:
	case NSRUN_MOUNT_MQUEUE:
	case NSRUN_MOUNT_DATA:
	case NSRUN_MOUNT_REMOUNT:
	case NSRUN_MOUNT_CHMOD:
	case NSRUN_MOUNT_PIN:
	case NSRUN_MOUNT_FS:
	case NSRUN_N_MOUNT_KINDS:
		break;
	}
	if (m->shields)
		fprintf(t->out, ": %s", nsrun_hazard_name(m->shields));
}

/* All of what is folded below `fold`, by name. */
static void
put_folded(const struct tree *t, const char *fold)
{
	static const struct {
		const char *label;
		enum nsrun_mount_kind kind;
	} groups[] = {
		{ "made", NSRUN_MOUNT_FILE },
		{ "from the host", NSRUN_MOUNT_BIND },
		{ "links", NSRUN_MOUNT_SYMLINK },
		{ "own", NSRUN_MOUNT_DEVPTS },
		{ "read-only", NSRUN_MOUNT_COVER },
		{ "masked", NSRUN_MOUNT_MASK },
	};
	const char *sep = "";

	for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
		bool any = false;

		for (size_t i = 0; i < t->plan->mounts.n; i++) {
			const struct nsrun_mount *m = &t->plan->mounts.v[i];

			if (m->kind != groups[g].kind ||
			    fold_of(m->target) != fold)
				continue;
			if (!any)
				fprintf(t->out, "%s%s:", sep, groups[g].label);
			any = true;
			sep = "; ";
			putc(' ', t->out);
			nsrun_print_name(t->out, m->target + strlen(fold) + 1);
		}
	}
}

static bool
is_below(const struct tree *t, size_t i, size_t k)
{
	return strcmp(t->v[k]->target, t->v[i]->target) &&
	    nsrun_path_is_within(t->v[i]->target, t->v[k]->target);
}

/* In the order of v what is below an entry comes right after it. */
static void
find_places(const struct tree *t)
{
	struct place *p = t->places;

	for (size_t i = 0; i < t->n; i++) {
		p[i] = (struct place){ .parent = i ? i - 1 : NONE,
		    .below = NONE };
		while (p[i].parent != NONE && !is_below(t, i, p[i].parent))
			p[i].parent = p[p[i].parent].parent;
	}
	for (size_t i = t->n; i-- > 0; ) {
		size_t parent = p[i].parent, next;

		if (parent == NONE)
			continue;
		next = p[parent].below;
		/* The same place twice counts once. */
		p[i].more = next != NONE && (p[next].more ||
		    strcmp(t->v[next]->target, t->v[i]->target));
		p[parent].below = i;
	}
}

/* The lines down from each ancestor that has more to come; their width. */
static int
put_lines(const struct tree *t, size_t i)
{
	struct place *p = t->places;
	size_t top = NONE;
	int width = 0;

	for (size_t k = p[i].parent; k != NONE && k; k = p[k].parent) {
		p[k].above = top;
		top = k;
	}
	for (; top != NONE; top = p[top].above, width += 3)
		fputs(p[top].more ? "│  " : "   ", t->out);
	return width;
}

static void
put_entry(const struct tree *t, size_t i)
{
	const struct nsrun_mount *m = t->v[i];
	const char *fold = fold_of(m->target), *name = m->target;
	int width = put_lines(t, i);

	if (t->places[i].parent != NONE) {
		const char *above = t->v[t->places[i].parent]->target;

		fputs(t->places[i].more ? "├─ " : "└─ ", t->out);
		width += 3;
		name += strlen(above) + (above[1] != '\0');
	}
	if (fold)
		name = fold + 1;
	nsrun_print_name(t->out, name);
	width += (int)strlen(name);
	if (m->kind == NSRUN_MOUNT_SYMLINK && !fold) {
		fputs(" -> ", t->out);
		nsrun_print_name(t->out, m->source);
		putc('\n', t->out);
		return;
	}
	fprintf(t->out, "%*s", width < 30 ? 32 - width : 2, "");
	if (fold) {
		paint(t, "32");
		fputs("ro  ", t->out);
		paint(t, "0");
		put_folded(t, fold);
	} else {
		put_access(t, m);
		put_detail(t, m);
	}
	putc('\n', t->out);
}

static int
by_target(const void *a, const void *b)
{
	const struct nsrun_mount *const *x = a, *const *y = b;
	int order = nsrun_path_compare((*x)->target, (*y)->target);

	/* The same place again: in the plan's order, which the array has. */
	return order ? order : (*x > *y) - (*x < *y);
}

/* A fold has one line, at the first of its entries. */
static bool
is_shown(const struct tree *t, const struct nsrun_mount *m)
{
	const char *fold = fold_of(m->target);

	if (m->kind == NSRUN_MOUNT_PIN || m->kind == NSRUN_MOUNT_REMOUNT)
		return false;
	if (m->kind == NSRUN_MOUNT_HIDE || m->kind == NSRUN_MOUNT_ABSENT)
		return t->n_masks < MAX_MASKS;
	for (size_t k = 0; fold && k < t->n; k++)
		if (fold_of(t->v[k]->target) == fold)
			return false;
	return fold || m->kind != NSRUN_MOUNT_DIR;
}

static void
footer(const struct tree *t)
{
	const struct nsrun_plan *plan = t->plan;

	if (t->n_masks > MAX_MASKS)
		fprintf(t->out, "masks        %zu more\n",
		    t->n_masks - MAX_MASKS);
	fputs("environment ", t->out);
	for (size_t i = 0; i < plan->n_env; i++)
		fprintf(t->out, " %.*s", (int)strcspn(plan->env[i], "="),
		    plan->env[i]);
	fprintf(t->out, " (%zu granted", plan->n_granted);
	for (size_t i = 0; i < plan->n_granted; i++)
		fprintf(t->out, "%s %s", i ? "" : ":", plan->granted[i]);
	putc(')', t->out);
	for (size_t i = 0; i < plan->n_returns; i++) {
		fputs("\nhands back   ", t->out);
		nsrun_print_name(t->out, plan->returns[i].host);
	}
	fputs("\nstarts in    ", t->out);
	nsrun_print_name(t->out, plan->cwd);
	fputs("\nstdio       ", t->out);
	for (int i = 0; i < 3; i++)
		fprintf(t->out, " %s", nsrun_stdio_name(plan->stdio[i]));
	putc('\n', t->out);
}

void
nsrun_print_tree(FILE *out, const struct nsrun_plan *plan, bool color)
{
	struct tree t = { .out = out, .plan = plan, .color = color };
	const struct nsrun_mount **all = malloc((plan->mounts.n + 1) *
	    sizeof *all);

	t.v = malloc((plan->mounts.n + 1) * sizeof *t.v);
	t.places = malloc((plan->mounts.n + 1) * sizeof *t.places);
	if (all && t.v && t.places) {
		for (size_t i = 0; i < plan->mounts.n; i++)
			all[i] = &plan->mounts.v[i];
		qsort(all, plan->mounts.n, sizeof *all, by_target);
		for (size_t i = 0; i < plan->mounts.n; i++) {
			if (is_shown(&t, all[i]))
				t.v[t.n++] = all[i];
			t.n_masks += all[i]->kind == NSRUN_MOUNT_HIDE ||
			    all[i]->kind == NSRUN_MOUNT_ABSENT;
		}
		find_places(&t);
	}
	header(&t);
	for (size_t i = 0; i < t.n; i++)
		put_entry(&t, i);
	footer(&t);
	free(t.places);
	free(t.v);
	free(all);
}
