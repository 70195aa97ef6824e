/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/print.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
		fprintf(out, " size=%s inodes=%" PRIu64,
		    nsrun_size_text(m->size_bytes, size), m->n_inodes);
	if (m->data)
		fprintf(out, " bytes=%zu", m->n_data);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (m->flags & flags[i].flag)
			fprintf(out, " %s", flags[i].name);
	putc('\n', out);
}

static void
row_identity(FILE *out, const struct nsrun_plan *plan)
{
	const struct nsrun_identity *who = &plan->identity;

	fputs("namespaces", out);
	for (int i = 0; i < NSRUN_N_NAMESPACES; i++)
		if (plan->namespaces & nsrun_namespaces[i].flag)
			fprintf(out, " %s", nsrun_namespaces[i].name);
	fprintf(out, "\nidentity uid=%u gid=%u host=%u:%u%s%s%s\n",
	    (unsigned int)who->uid, (unsigned int)who->gid,
	    (unsigned int)who->host_uid, (unsigned int)who->host_gid,
	    who->leaves_root ? " leaves-root" : "",
	    who->keeps_root ? " keeps-root" : "",
	    who->lock_namespaces ? " locked" : "");
}

static void
row_rest(FILE *out, const struct nsrun_plan *plan)
{
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (plan->limits[i].set)
			fprintf(out, "limit %s=%" PRIu64 "\n",
			    nsrun_limit_name((enum nsrun_limit_kind)i),
			    plan->limits[i].value);
	for (size_t i = 0; i < plan->n_filters; i++)
		fprintf(out, "filter %s %s\n", plan->filters[i]->name,
		    plan->filters[i]->variant);
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
	for (size_t i = 0; i < plan->n_argv; i++) {
		fputs("arg ", out);
		nsrun_print_name(out, plan->argv[i]);
		putc('\n', out);
	}
	fprintf(out, "supervise timeout=%" PRIu64 "ms output=%" PRIu64 "\n",
	    plan->supervision.timeout_ms, plan->supervision.max_output_bytes);
}

void
nsrun_print_rows(FILE *out, const struct nsrun_plan *plan)
{
	fprintf(out, "profile %s\n", plan->profile ? plan->profile : "-");
	row_identity(out, plan);
	fprintf(out, "network %s%s\n", nsrun_network_name(plan->network),
	    plan->loopback ? " loopback" : "");
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
