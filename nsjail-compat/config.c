/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A configuration file: text format, or JSON if it begins with a brace. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "nsjail.h"
#include "values.h"

static int
read_whole(struct nsjail *n, const char *path, struct nsjail_reader *r)
{
	nsrun_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	char *text = fd < 0 ? NULL : nsrun_file_read_fd(fd, NSJAIL_CONFIG_MAX,
	    &size);

	if (!text)
		return nsrun_err_sys(&n->err, NSRUN_STEP_OPTION, fd < 0 ?
		    "open" : "read", "--config", path);
	r->text = r->at = nsrun_arena_dup(&n->arena, text, size + 1);
	r->end = r->at + size;
	free(text);
	if (!r->text)
		return nsjail_nomem(n);
	return size ? 0 : nsrun_err_rule(&n->err, NSRUN_STEP_OPTION,
	    "is empty", "--config", path);
}

static int
append_all(struct nsjail *n, struct nsjail_list *to,
    const struct nsjail_list *from, size_t size)
{
	for (size_t i = 0; i < from->n; i++) {
		void *v = nsjail_append(n, to, size);

		if (!v)
			return -1;
		memcpy(v, (const char *)from->v + i * size, size);
	}
	return 0;
}

/* What is kept outside the configuration takes its part of it. */
static int
spread(struct nsjail *n)
{
	const struct nsjail_message *all = &nsjail_config_message;
	const struct nsjail_config *c = &n->config;

	n->proc = c->mount_proc;
	if (nsjail_field_given(all, c, "log_fd"))
		nsjail_log_set_fd(n, c->log_fd);
	if (c->log_file && nsjail_log_open(n, c->log_file) < 0)
		return -1;
	if (nsjail_field_given(all, c, "log_level"))
		n->log.level = (enum nsjail_level)c->log_level;
	if (append_all(n, &n->uids, &c->uidmap,
	    sizeof(struct nsjail_idmap)) < 0 ||
	    append_all(n, &n->gids, &c->gidmap,
	    sizeof(struct nsjail_idmap)) < 0)
		return -1;
	return append_all(n, &n->pass_fds, &c->pass_fd, sizeof(int32_t));
}

int
nsjail_config_read(struct nsjail *n, const char *path)
{
	struct nsjail_reader r = {
		.arena = &n->arena, .name = path, .err = &n->err,
	};
	const char *s;

	nsjail_message_init(&nsjail_config_message, &n->config);
	if (read_whole(n, path, &r) < 0)
		return -1;
	s = r.text + strspn(r.text, " \t\r\n");
	if ((*s == '{' ? nsjail_read_json : nsjail_read_text)(&r,
	    &nsjail_config_message, &n->config) < 0)
		return -1;
	return spread(n);
}
