/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/print.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/name.h"
#include "base/number.h"
#include "nsrun.h"
#include "plan/plan.h"
#include "policy/embedded.h"

void
nsrun_print_name(FILE *out, const char *name)
{
	char text[24];

	/* A character at a time: no name is too long. */
	for (const unsigned char *s = (const unsigned char *)name; *s; ) {
		int n = nsrun_utf8_length(s);
		char one[5] = { 0 };

		memcpy(one, s, (size_t)(n ? n : 1));
		nsrun_name_escape(text, sizeof text, one);
		fputs(text, out);
		s += n ? n : 1;
	}
}

/* A line for each word of a list that ends in NULL, or for none. */
static void
row_names(FILE *out, const char *row, const char *const *names)
{
	for (; names && *names; names++) {
		fprintf(out, "%s ", row);
		nsrun_print_name(out, *names);
		putc('\n', out);
	}
}

static void
row_list(FILE *out, const char *word, const char *const *names)
{
	for (; names && *names; names++) {
		fprintf(out, " %s=", word);
		nsrun_print_name(out, *names);
	}
}

/* What an overlay is made of, and what a face may want of a mount. */
static void
row_mount_more(FILE *out, const struct nsrun_mount *m)
{
	row_list(out, "layer", m->layers);
	row_list(out, "hidden", m->hidden);
	if (m->work) {
		fputs(" work=", out);
		nsrun_print_name(out, m->work);
	}
	if (m->fstype) {
		fputs(" type=", out);
		nsrun_print_name(out, m->fstype);
	}
	for (const char *const *o = m->options; o && *o; o += 2) {
		fputs(" option=", out);
		nsrun_print_name(out, o[0]);
		if (*o[1]) {
			putc('=', out);
			nsrun_print_name(out, o[1]);
		}
	}
	if (m->parent_mode)
		fprintf(out, " parents=%04o", (unsigned int)m->parent_mode);
}

static void
row_mount(FILE *out, const struct nsrun_mount *m)
{
	static const struct {
		unsigned int flag;
		const char *name;
	} flags[] = {
		{ NSRUN_MOUNT_RDONLY, "ro" },
		{ NSRUN_MOUNT_RECURSIVE, "recursive" },
		{ NSRUN_MOUNT_NOEXEC, "noexec" },
		{ NSRUN_MOUNT_DEVICES, "dev" },
		{ NSRUN_MOUNT_OPTIONAL, "optional" },
		{ NSRUN_MOUNT_PINNED, "pinned" },
		{ NSRUN_MOUNT_IDMAPPED, "idmapped" },
		{ NSRUN_MOUNT_GRANT, "grant" },
		{ NSRUN_MOUNT_EXACT, "exact" },
		{ NSRUN_MOUNT_NOLINK, "nolink" },
		{ NSRUN_MOUNT_REPLACE, "replace" },
		{ NSRUN_MOUNT_SUID, "suid" },
		{ NSRUN_MOUNT_LATE, "late" },
		{ NSRUN_MOUNT_LENIENT, "lenient" },
		{ NSRUN_MOUNT_KEPT, "kept" },
		{ NSRUN_MOUNT_MADE, "made" },
	};
	char size[24];

	fprintf(out, "mount %s ", nsrun_mount_kind_name(m->kind));
	if (m->source) {
		nsrun_print_name(out, m->source);
		fputs(" -> ", out);
	}
	nsrun_print_name(out, m->target);
	if (m->mode)
		fprintf(out, " mode=%04o", (unsigned int)m->mode & 07777);
	if (m->size_bytes)
		fprintf(out, " size=%s", nsrun_size_text(m->size_bytes, size));
	if (m->size_bytes && m->n_inodes)
		fprintf(out, " inodes=%" PRIu64, m->n_inodes);
	if (m->data)
		fprintf(out, " bytes=%zu", m->n_data);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (m->flags & flags[i].flag)
			fprintf(out, " %s", flags[i].name);
	row_mount_more(out, m);
	putc('\n', out);
}

static void
row_map(FILE *out, const char *row, const struct nsrun_idmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		fprintf(out, "%s %" PRIu32 ":%" PRIu32 ":%" PRIu32 "\n", row,
		    map->v[i].inside, map->v[i].outside, map->v[i].count);
}

static void
row_join(FILE *out, const char *what, int fd)
{
	if (fd >= 0)
		fprintf(out, "join %s fd=%d\n", what, fd);
}

static void
row_identity(FILE *out, const struct nsrun_plan *plan)
{
	const struct nsrun_identity *who = &plan->identity;

	fputs("namespaces", out);
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (plan->namespaces & nsrun_namespaces[i].flag)
			fprintf(out, " %s", nsrun_namespaces[i].name);
	if (plan->namespaces & CLONE_NEWTIME)
		fputs(" time", out);
	fprintf(out, "\nidentity uid=%u gid=%u host=%u:%u%s%s%s",
	    (unsigned int)who->uid, (unsigned int)who->gid,
	    (unsigned int)who->host_uid, (unsigned int)who->host_gid,
	    who->leaves_root ? " leaves-root" : "",
	    who->keeps_root ? " keeps-root" : "",
	    who->lock_namespaces ? " locked" : "");
	fprintf(out, "%s%s%s%s%s%s\n",
	    who->sets_ids ? " sets-ids" : "",
	    who->sets_ids_first ? " sets-ids-first" : "",
	    who->no_more_userns ? " no-more-userns" : "",
	    who->check_no_userns ? " checks-userns" : "",
	    who->asks_for_maps ? " asks-for-maps" : "",
	    who->finds_maps ? " finds-maps" : "");
	if (who->sets_groups) {
		fputs("groups", out);
		for (size_t i = 0; i < who->n_groups; i++)
			fprintf(out, " %u", (unsigned int)who->groups[i]);
		putc('\n', out);
	}
	/* A profile's maps are its identity. */
	if (!plan->profile) {
		row_map(out, "uid-map", &plan->uid_map);
		row_map(out, "gid-map", &plan->gid_map);
	}
	if (plan->nesting)
		fputs("nesting allowed\n", out);
	row_join(out, "user", plan->join.user);
	row_join(out, "second-user", plan->join.second_user);
	row_join(out, "pid", plan->join.pid);
	row_join(out, "net", plan->join.net);
}

/* Nothing, where nothing is the caller's: with a profile. */
static void
row_process(FILE *out, const struct nsrun_process *p)
{
	const struct {
		bool so;
		const char *name;
	} all[] = {
		{ p->in_place, "in-place" }, { p->waits, "waits" },
		{ p->lingers, "lingers" }, { p->outlives, "outlives" },
		{ p->keeps_signals, "keeps-signals" },
		{ p->keeps_fds, "keeps-fds" }, { p->open_init, "open-init" },
		{ p->free_caps, "free-caps" },
		{ p->names_command, "names-command" },
		{ p->spares_init, "spares-init" },
		{ p->literal, "literal" }, { p->new_privs, "new-privs" },
		{ p->log_filters, "log-filters" }, { p->no_tsc, "no-tsc" },
		{ p->core_group, "core-group" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].so)
			fprintf(out, "process %s\n", all[i].name);
	if (p->session != NSRUN_SESSION_OWN)
		fprintf(out, "session %s\n", nsrun_sid_name(p->session));
	if (p->caps)
		fprintf(out, "caps %" PRIx64 "\n", p->caps);
	if (p->sets_nice)
		fprintf(out, "nice %d\n", p->nice);
	if (p->sets_oom_score)
		fprintf(out, "oom-score-adj %d\n", p->oom_score_adj);
	if (p->max_cpus)
		fprintf(out, "max-cpus %u\n", p->max_cpus);
	if (p->personality)
		fprintf(out, "personality %#lx\n", p->personality);
	if (p->exec_fd >= 0)
		fprintf(out, "exec fd=%d\n", p->exec_fd);
	if (p->block_fd >= 0)
		fprintf(out, "block fd=%d\n", p->block_fd);
	if (p->sync_fd >= 0)
		fprintf(out, "sync fd=%d\n", p->sync_fd);
	for (size_t i = 0; i < p->n_locks; i++) {
		fputs("lock ", out);
		nsrun_print_name(out, p->locks[i]);
		putc('\n', out);
	}
	if (p->n_consumed)
		fprintf(out, "consumed %zu\n", p->n_consumed);
}

/* One of ours by its name; a face's by its length. */
static void
row_filter(FILE *out, const struct nsrun_filter *filter)
{
	if (*filter->sha256)
		fprintf(out, "filter %s %s\n", filter->name, filter->variant);
	else
		fprintf(out, "filter %s instructions=%u\n", filter->name,
		    (unsigned int)filter->n_insns);
}

static void
row_cgroup(FILE *out, const struct nsrun_cgroup_plan *cgroup)
{
	if (cgroup->use == NSRUN_CGROUP_OFF)
		return;
	fprintf(out, "cgroup %s", nsrun_cgroup_use_name(cgroup->use));
	if (cgroup->parent) {
		putc(' ', out);
		nsrun_print_name(out, cgroup->parent);
	}
	putc('\n', out);
	for (size_t i = 0; i < cgroup->n_settings; i++)
		fprintf(out, "cgroup-set %s %s%s\n", cgroup->settings[i].file,
		    cgroup->settings[i].value, cgroup->settings[i].optional ?
		    " optional" : "");
}

static void
row_rest(FILE *out, const struct nsrun_plan *plan)
{
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (plan->limits[i].set)
			fprintf(out, "limit %s=%" PRIu64 "\n",
			    nsrun_limit_name((enum nsrun_limit_kind)i),
			    plan->limits[i].value);
	row_cgroup(out, &plan->cgroup);
	for (size_t i = 0; i < plan->n_filters; i++)
		row_filter(out, plan->filters[i]);
	for (int i = 0; i < 3; i++)
		fprintf(out, "stdio %d %s\n", i,
		    nsrun_stdio_name(plan->stdio[i]));
	for (size_t i = 0; i < plan->n_env; i++) {
		fputs("env ", out);
		nsrun_print_name(out, plan->env[i]);
		putc('\n', out);
	}
	fputs("cwd ", out);
	nsrun_print_name(out, plan->cwd);
	putc('\n', out);
	row_names(out, "cwd-else", plan->cwd_else);
	for (size_t i = 0; i < plan->n_returns; i++) {
		fputs("return ", out);
		nsrun_print_name(out, plan->returns[i].path);
		fputs(" -> ", out);
		nsrun_print_name(out, plan->returns[i].host);
		putc('\n', out);
	}
	if (plan->process.file) {
		fputs("file ", out);
		nsrun_print_name(out, plan->process.file);
		putc('\n', out);
	}
	for (size_t i = 0; i < plan->n_argv; i++) {
		fputs("arg ", out);
		nsrun_print_name(out, plan->argv[i]);
		putc('\n', out);
	}
	fprintf(out, "supervise timeout=%" PRIu64 "ms output=%" PRIu64 "%s\n",
	    plan->supervision.timeout_ms, plan->supervision.max_output_bytes,
	    plan->supervision.ends_with_input ? " ends-with-input" : "");
}

void
nsrun_print_rows(FILE *out, const struct nsrun_plan *plan)
{
	fprintf(out, "profile %s\n", plan->profile ? plan->profile : "-");
	row_identity(out, plan);
	row_process(out, &plan->process);
	fprintf(out, "network %s%s\n", nsrun_plan_network(plan),
	    plan->loopback ? " loopback" : "");
	if (plan->hostname && !plan->profile) {
		fputs("hostname ", out);
		nsrun_print_name(out, plan->hostname);
		putc('\n', out);
	}
	if (plan->mounts.writes_host)
		fputs("writes-host\n", out);
	if (plan->mounts.leaves_nothing)
		fputs("leaves-nothing\n", out);
	if (plan->chroot_dir) {
		fputs("chroot ", out);
		nsrun_print_name(out, plan->chroot_dir);
		putc('\n', out);
	}
	for (size_t i = 0; i < plan->mounts.n; i++)
		row_mount(out, &plan->mounts.v[i]);
	for (size_t i = 0; i < plan->n_sysctls; i++)
		fprintf(out, "sysctl %s=%s\n", plan->sysctls[i].path,
		    plan->sysctls[i].value);
	row_rest(out, plan);
}

int
nsrun_plan_print(const struct nsrun_plan *plan, enum nsrun_format format,
    int fd, struct nsrun_err *err)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

	if (!out) {
		nsrun_err_sys(err, NSRUN_STEP_PLAN, "fdopen", NULL, NULL);
		if (copy >= 0)
			close(copy);
		return -1;
	}
	switch (format) {
	case NSRUN_FORMAT_ROWS:
		nsrun_print_rows(out, plan);
		break;
	case NSRUN_FORMAT_JSON:
		nsrun_print_json(out, plan);
		break;
	case NSRUN_FORMAT_TREE:
	case NSRUN_FORMAT_COLOR:
		nsrun_print_tree(out, plan, format == NSRUN_FORMAT_COLOR);
		break;
	}
	if (fclose(out) != 0)
		return nsrun_err_sys(err, NSRUN_STEP_PLAN, "write", NULL, NULL);
	return 0;
}
