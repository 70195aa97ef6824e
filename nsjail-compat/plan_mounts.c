/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the command will see: a tmpfs, on it the chroot, on it the mounts in
 * their order, /proc last. All that is read-only is so with everything below
 * it, but for what is mounted there later and is not.
 */
#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "nsjail.h"

enum { ROOT_BYTES = 16 << 20 };

static int
add(struct nsjail *n, struct nsrun_plan *plan, const struct nsrun_mount *m)
{
	return nsrun_plan_add_mount(plan, m, &n->err);
}

static int
bad(struct nsjail *n, const struct nsjail_mount *m, const char *rule,
    const char *what)
{
	return nsrun_err_rule(&n->err, NSRUN_STEP_MOUNT, rule, m->dst, what);
}

/* A path of prefix and name; "" and 1: the prefix is not there. */
static int
prefixed(struct nsjail *n, const char *variable, const char *name,
    const char **path)
{
	const char *prefix = *variable ? getenv(variable) : "";

	*path = "";
	if (!prefix)
		return 1;
	*path = *prefix ? nsrun_arena_printf(&n->arena, "%s%s", prefix,
	    name) : name;
	return *path ? 0 : nsjail_nomem(n);
}

/* Words of options that are the mount's own, for any file system. */
static bool
take_flag(const char *word, unsigned int *flags)
{
	static const struct {
		const char *word;
		unsigned int set, clear;
	} all[] = {
		{ "ro", NSRUN_MOUNT_RDONLY, 0 },
		{ "rw", 0, NSRUN_MOUNT_RDONLY },
		{ "nosuid", 0, NSRUN_MOUNT_SUID },
		{ "suid", NSRUN_MOUNT_SUID, 0 },
		{ "nodev", 0, NSRUN_MOUNT_DEVICES },
		{ "dev", NSRUN_MOUNT_DEVICES, 0 },
		{ "noexec", NSRUN_MOUNT_NOEXEC, 0 },
		{ "exec", 0, NSRUN_MOUNT_NOEXEC },
		{ "bind", 0, 0 }, { "rbind", 0, 0 }, { "private", 0, 0 },
		{ "rprivate", 0, 0 }, { "defaults", 0, 0 },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].word, word)) {
			*flags = (*flags | all[i].set) & ~all[i].clear;
			return true;
		}
	return false;
}

/* What is left over is the file system's; a bind has none. */
static int
set_options(struct nsjail *n, const struct nsjail_mount *from,
    struct nsrun_mount *m)
{
	char *copy = nsrun_arena_strdup(&n->arena, from->options), *word;
	const char **v;
	size_t k = 0, room = 3;

	for (const char *s = from->options; *s; s++)
		room += 2 * (*s == ',');
	v = nsrun_arena_alloc(&n->arena, room * sizeof *v);
	if (!copy || !v)
		return nsjail_nomem(n);
	while ((word = strsep(&copy, ","))) {
		char *value = strchr(word, '=');

		if (!*word || take_flag(word, &m->flags))
			continue;
		if (m->kind != NSRUN_MOUNT_FS)
			return bad(n, from, "there is no such option here",
			    word);
		if (value)
			*value++ = '\0';
		v[k++] = word;
		v[k++] = value ? value : "";
	}
	m->options = k ? v : NULL;
	return 0;
}

/* Absolute in the new root, whatever it looks like; no slashes at the end. */
static int
set_target(struct nsjail *n, const struct nsjail_mount *from, const char *dst,
    struct nsrun_mount *m)
{
	size_t len;
	char *target;

	if (!*dst)
		return bad(n, from, "there is no destination", NULL);
	target = nsrun_arena_printf(&n->arena, "%s%s", *dst == '/' ? "" : "/",
	    dst);
	if (!target)
		return nsjail_nomem(n);
	len = strlen(target);
	while (len > 1 && target[len - 1] == '/')
		target[--len] = '\0';
	m->target = target;
	return 0;
}

static int
set_kind(struct nsjail *n, const struct nsjail_mount *from, const char *src,
    struct nsrun_mount *m)
{
	if (nsjail_field_given(&nsjail_mount_message, from, "src_content")) {
		m->kind = NSRUN_MOUNT_DATA;
		m->data = from->content.v;
		m->n_data = from->content.n;
		m->mode = S_IFREG | 0644;
	} else if (from->is_symlink) {
		m->kind = NSRUN_MOUNT_SYMLINK;
		m->source = src;
	} else if (from->is_bind) {
		m->kind = NSRUN_MOUNT_BIND;
		m->flags |= NSRUN_MOUNT_RECURSIVE;
		m->source = src;
		if (!*src)
			return bad(n, from, "a bind without a source", NULL);
	} else if (!strcmp(from->fstype, "proc")) {
		m->kind = NSRUN_MOUNT_PROC;
	} else {
		m->kind = NSRUN_MOUNT_FS;
		m->fstype = from->fstype;
		m->source = *src ? src : NULL;
		if (!*from->fstype)
			return bad(n, from, "neither a bind nor a file system"
			    " type", NULL);
	}
	return 0;
}

/* Why m cannot be mounted, as far as it shows already; or NULL. */
static const char *
see_why_not(const struct nsjail_mount *from, struct nsrun_mount *m)
{
	bool is_dir = m->kind != NSRUN_MOUNT_DATA;
	struct stat st;

	if (m->kind == NSRUN_MOUNT_SYMLINK)
		return NULL;
	if (m->kind == NSRUN_MOUNT_BIND) {
		/* Of one that must be there, the child says more. */
		if (stat(m->source, &st) < 0)
			return from->mandatory ? NULL : strerror(errno);
		is_dir = S_ISDIR(st.st_mode);
		m->type = is_dir ? S_IFDIR : S_IFREG;
	}
	return from->has_is_dir && from->is_dir != is_dir ? is_dir ?
	    "it is a directory, and is_dir says that it is not" :
	    "it is no directory, and is_dir says that it is" : NULL;
}

/* As in nsjail, there is a place for what could not be mounted: a directory,
 * or, where a bind was to be, a file. The caller is told now: later there is
 * nobody who could. */
static void
leave_place(const struct nsjail *n, const struct nsjail_mount *from,
    struct nsrun_mount *m, const char *why)
{
	bool is_dir = from->has_is_dir ? from->is_dir :
	    m->kind != NSRUN_MOUNT_BIND && m->kind != NSRUN_MOUNT_DATA;

	nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("mountPt"),
	    "'%s' is not mounted on '%s': %s", m->source ? m->source : "none",
	    m->target, why);
	*m = (struct nsrun_mount){
		.kind = NSRUN_MOUNT_DIR, .target = m->target,
		.flags = NSRUN_MOUNT_LENIENT,
		.type = is_dir ? S_IFDIR : S_IFREG,
		.mode = is_dir ? S_IFDIR | 0711 : S_IFREG | 0644,
	};
}

static int
add_mount(struct nsjail *n, struct nsrun_plan *plan,
    const struct nsjail_mount *from)
{
	struct nsrun_mount m = {
		.flags = (from->rw ? 0U : NSRUN_MOUNT_RDONLY) |
		    (from->nosuid ? 0U : NSRUN_MOUNT_SUID) |
		    (from->nodev ? 0U : NSRUN_MOUNT_DEVICES) |
		    (from->noexec ? NSRUN_MOUNT_NOEXEC : 0U) |
		    (from->mandatory ? 0U : NSRUN_MOUNT_LENIENT),
	};
	const char *src, *dst, *why_not;
	int no_src = prefixed(n, from->prefix_src_env, from->src, &src);
	int no_dst = prefixed(n, from->prefix_dst_env, from->dst, &dst);

	if (no_src < 0 || no_dst < 0)
		return -1;
	if (no_src || no_dst) {
		if (from->mandatory)
			return bad(n, from, "its prefix is no variable of the"
			    " environment", no_src ? from->prefix_src_env :
			    from->prefix_dst_env);
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("mountPt"),
		    "'%s' is not mounted: there is no '%s'", from->dst, no_src ?
		    from->prefix_src_env : from->prefix_dst_env);
		return 0;
	}
	if (set_target(n, from, dst, &m) < 0 ||
	    set_kind(n, from, src, &m) < 0 || set_options(n, from, &m) < 0)
		return -1;
	why_not = see_why_not(from, &m);
	if (why_not && from->mandatory)
		return bad(n, from, why_not, m.source);
	if (why_not)
		leave_place(n, from, &m, why_not);
	return add(n, plan, &m);
}

static int
add_root(struct nsjail *n, struct nsrun_plan *plan)
{
	unsigned int flags = NSRUN_MOUNT_SUID | NSRUN_MOUNT_DEVICES |
	    (n->rw ? 0U : NSRUN_MOUNT_RDONLY);
	const struct nsrun_mount root = {
		.kind = NSRUN_MOUNT_ROOT, .flags = flags, .target = "/",
		.size_bytes = ROOT_BYTES,
	};
	const struct nsrun_mount chroot = {
		.kind = NSRUN_MOUNT_BIND, .source = n->chroot, .target = "/",
		.flags = flags | NSRUN_MOUNT_RECURSIVE,
	};

	if (add(n, plan, &root) < 0)
		return -1;
	return n->chroot ? add(n, plan, &chroot) : 0;
}

static int
add_proc(struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_mount from = { .dst = n->proc_path };
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_PROC,
		.flags = NSRUN_MOUNT_SUID | NSRUN_MOUNT_DEVICES |
		    (n->proc_rw ? 0U : NSRUN_MOUNT_RDONLY),
	};

	return set_target(n, &from, n->proc_path, &m) < 0 ? -1 :
	    add(n, plan, &m);
}

static bool
is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && (len == 1 || path[len] == '/');
}

/* Where something more will be mounted, a mount point may have to be made. */
static void
postpone(struct nsrun_mounts *mounts)
{
	for (size_t i = 0; i < mounts->n; i++) {
		struct nsrun_mount *m = &mounts->v[i];

		for (size_t k = i + 1; m->kind == NSRUN_MOUNT_BIND &&
		    m->flags & NSRUN_MOUNT_RDONLY && k < mounts->n; k++)
			if (is_below(mounts->v[k].target, m->target))
				m->flags |= NSRUN_MOUNT_LATE;
	}
}

int
nsjail_plan_mounts(struct nsjail *n, struct nsrun_plan *plan)
{
	const struct nsjail_mount *v = n->config.mounts.v;

	if (!n->config.newns) {
		plan->chroot_dir = n->chroot;
		if (n->config.mounts.n)
			nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("initNs"),
			    "mounts are ignored without a mount namespace");
		return 0;
	}
	plan->mounts.writes_host = plan->mounts.leaves_nothing = true;
	if (add_root(n, plan) < 0)
		return -1;
	for (size_t i = 0; i < n->config.mounts.n; i++)
		if (add_mount(n, plan, &v[i]) < 0)
			return -1;
	if (n->proc && add_proc(n, plan) < 0)
		return -1;
	if (nsjail_plan_proc(n, plan) < 0)
		return -1;
	postpone(&plan->mounts);
	return 0;
}
