/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "host/envpolicy.h"
#include "host/grants.h"
#include "host/lines.h"
#include "host/server.h"
#include "host/trust.h"

static const char config_dir[] = NSRUN_CONFIG_DIR;

/* The directory, if there is one: 1, 0 or -1. */
static int
open_dir(int *fd, struct nsrun_err *err)
{
	struct stat st;

	*fd = -1;
	if (lstat(config_dir, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 :
		    nsrun_err_sys(err, NSRUN_STEP_POLICY, "lstat", config_dir,
		    NULL);
	if (nsrun_trust_check(config_dir, NSRUN_STEP_POLICY, err) < 0)
		return -1;
	*fd = open(config_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "open", config_dir,
		    NULL);
	return 1;
}

/* What is open must be what only root could write. */
static int
check_file(int fd, const char *path, struct nsrun_err *err)
{
	struct stat st;
	const char *rule = NULL;

	if (fstat(fd, &st) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "fstat", path,
		    NULL);
	if (!S_ISREG(st.st_mode))
		rule = "is no regular file";
	else if (st.st_uid != 0)
		rule = "is not owned by root";
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		rule = "is writable by group or others";
	return rule ? nsrun_err_rule(err, NSRUN_STEP_POLICY, rule, path, NULL) :
	    0;
}

static int
read_file(const char *name, char **text, char path[NSRUN_CONFIG_PATH],
    struct nsrun_err *err)
{
	nsrun_autoclose int dir = -1;
	nsrun_autoclose int fd = -1;
	size_t size;
	int rc = open_dir(&dir, err);

	*text = NULL;
	snprintf(path, NSRUN_CONFIG_PATH, "%s/%s", config_dir, name);
	if (rc <= 0)
		return rc;
	/* O_NONBLOCK: a FIFO there is refused, not waited for. */
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : nsrun_err_sys(err,
		    NSRUN_STEP_POLICY, "open", path, NULL);
	if (check_file(fd, path, err) < 0)
		return -1;
	*text = nsrun_file_read_fd(fd, NSRUN_LINES_TEXT_MAX, &size);
	if (!*text)
		return nsrun_err_sys(err, NSRUN_STEP_POLICY, "read", path,
		    NULL);
	if (strlen(*text) != size) {
		free(*text);
		*text = NULL;
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "holds a NUL byte", path, NULL);
	}
	return 1;
}

int
nsrun_config_text(const char *name, const char *kind, char **text,
    char path[NSRUN_CONFIG_PATH], struct nsrun_err *err)
{
	char file[64];

	*text = NULL;
	/* Also what keeps it within the directory. */
	if (!*name || strlen(name) > 31 || strspn(name,
	    "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(name))
		return 0;
	snprintf(file, sizeof file, "%s.%s", name, kind);
	return read_file(file, text, path, err);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Append `name` without its `.kind`, if that is how it ends. */
static int
add_name(const char *name, const char *kind, struct nsrun_arena *arena,
    struct nsrun_words *names, struct nsrun_err *err)
{
	const char *dot = strrchr(name, '.');
	const char **v;

	if (!dot || dot == name || strcmp(dot + 1, kind))
		return 0;
	v = nsrun_arena_grow(arena, names->v, names->n, sizeof *v);
	if (!v || !(v[names->n] = nsrun_arena_printf(arena, "%.*s",
	    (int)(dot - name), name)))
		return nsrun_err_nomem(err, config_dir);
	names->v = v;
	names->n++;
	return 0;
}

int
nsrun_config_names(const char *kind, struct nsrun_arena *arena,
    struct nsrun_words *names, struct nsrun_err *err)
{
	int fd, rc = open_dir(&fd, err);
	const struct dirent *entry;
	DIR *dir;

	*names = (struct nsrun_words){ 0 };
	if (rc <= 0)
		return rc;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return nsrun_err_nomem(err, config_dir);
	}
	rc = 0;
	while (rc == 0 && (entry = readdir(dir)))
		rc = add_name(entry->d_name, kind, arena, names, err);
	closedir(dir);
	if (names->n)
		qsort(names->v, names->n, sizeof *names->v, by_name);
	return rc;
}

/* The rules for a word of each list; NULL: it is good. */
static const char *
check_dir(const char *word, struct nsrun_err *ignored)
{
	(void)ignored;
	return nsrun_path_is_clean(word) ? NULL :
	    "is not an absolute path without . and ..";
}

static const char *
check_grant(const char *word, struct nsrun_err *ignored)
{
	return nsrun_envpolicy_check_grant(word, ignored) == 0 ? NULL :
	    "is no name that can be granted";
}

static const char *
check_secret(const char *word, struct nsrun_err *ignored)
{
	return nsrun_envpolicy_check_name(word, ignored) == 0 ? NULL :
	    "is no name that can be granted";
}

static const char *
check_server(const char *word, struct nsrun_err *ignored)
{
	return nsrun_server_check(word, ignored) == 0 ? NULL :
	    "is not PLUGIN/SERVER";
}

static const char *
check_mask(const char *word, struct nsrun_err *ignored)
{
	return nsrun_mask_check(word, ignored) == 0 ? NULL :
	    "is not a path beneath the project";
}

static const char *
check_any(const char *word, struct nsrun_err *ignored)
{
	(void)word, (void)ignored;
	return NULL;
}

static const struct {
	const char *name;
	size_t offset;
	const char *(*check)(const char *word, struct nsrun_err *ignored);
} lists[] = {
	{ "project", offsetof(struct nsrun_config, projects), check_dir },
	{ "read-only", offsetof(struct nsrun_config, read_only), check_dir },
	{ "read-write", offsetof(struct nsrun_config, read_write), check_dir },
	{ "env", offsetof(struct nsrun_config, env), check_grant },
	{ "server", offsetof(struct nsrun_config, servers), check_server },
	{ "server-env", offsetof(struct nsrun_config, server_env),
	    check_secret },
	{ "profile", offsetof(struct nsrun_config, profiles), check_any },
};

static int
add_word(struct nsrun_lines *l, struct nsrun_words *words, size_t i)
{
	const char **v = nsrun_arena_grow(l->arena, words->v, words->n,
	    sizeof *v);

	if (!v)
		return nsrun_lines_nomem(l);
	words->v = v;
	v[words->n++] = l->words[i];
	return 0;
}

static int
do_list(struct nsrun_config *config, struct nsrun_lines *l, size_t which)
{
	struct nsrun_allowed *allowed = (struct nsrun_allowed *)
	    ((char *)config + lists[which].offset);

	for (size_t i = 1; i < l->n_words; i++) {
		struct nsrun_err ignored = NSRUN_ERR_INIT;
		const char *rule;

		if (!strcmp(l->words[i], "any")) {
			if (l->n_words > 2)
				return nsrun_lines_bad(l, i, "stands alone");
			allowed->any = true;
			continue;
		}
		rule = lists[which].check(l->words[i], &ignored);
		if (rule)
			return nsrun_lines_bad(l, i, rule);
		if (add_word(l, &allowed->words, i) < 0)
			return -1;
	}
	return 0;
}

static int
do_network(struct nsrun_config *config, struct nsrun_lines *l)
{
	for (size_t i = 1; i < l->n_words; i++) {
		int n = 0;

		while (n < NSRUN_N_NETWORKS && strcmp(l->words[i],
		    nsrun_network_name((enum nsrun_network)n)))
			n++;
		if (n == NSRUN_N_NETWORKS)
			return nsrun_lines_bad(l, i,
			    "is neither denied nor isolated");
		config->networks[n] = true;
	}
	return 0;
}

static int
do_nesting(struct nsrun_config *config, struct nsrun_lines *l)
{
	if (l->n_words > 2 || strcmp(l->words[1], "allow"))
		return nsrun_lines_bad(l, 1, "can only be allow");
	config->nesting = true;
	return 0;
}

static int
do_mask(struct nsrun_config *config, struct nsrun_lines *l)
{
	for (size_t i = 1; i < l->n_words; i++) {
		struct nsrun_err ignored = NSRUN_ERR_INIT;
		const char *rule = check_mask(l->words[i], &ignored);

		if (rule)
			return nsrun_lines_bad(l, i, rule);
		if (add_word(l, &config->masks, i) < 0)
			return -1;
	}
	return 0;
}

/* The words that unsandboxed modes have everywhere: nsrun_boundary_name(). */
static int
do_permit(struct nsrun_config *config, struct nsrun_lines *l)
{
	for (size_t i = 1; i < l->n_words; i++) {
		int n = NSRUN_BOUNDARY_SANDBOX + 1;

		while (n < NSRUN_N_BOUNDARIES && strcmp(l->words[i],
		    nsrun_boundary_name((enum nsrun_boundary)n)))
			n++;
		if (n == NSRUN_N_BOUNDARIES)
			return nsrun_lines_bad(l, i, "is neither unsandboxed,"
			    " hook-env-scrub nor hook-none");
		config->permits[n] = true;
	}
	return 0;
}

static const struct {
	const char *name;
	int (*handle)(struct nsrun_config *config, struct nsrun_lines *l);
} keywords[] = {
	{ "network", do_network },
	{ "nesting", do_nesting },
	{ "mask", do_mask },
	{ "permit", do_permit },
};

static int
parse_words(struct nsrun_config *config, struct nsrun_lines *l)
{
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		if (!strcmp(lists[i].name, l->words[0]))
			return l->n_words > 1 ? do_list(config, l, i) :
			    nsrun_lines_bad(l, 0, "wants a list");
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (!strcmp(keywords[i].name, l->words[0]))
			return l->n_words > 1 ? keywords[i].handle(config, l) :
			    nsrun_lines_bad(l, 0, "wants a list");
	return nsrun_lines_bad(l, 0, "is no keyword of the configuration");
}

int
nsrun_config_parse(struct nsrun_config *config, const char *file,
    const char *text, struct nsrun_err *err)
{
	struct nsrun_lines l;
	int rc;

	*config = (struct nsrun_config){
		.arena = NSRUN_ARENA_INIT, .present = true,
	};
	nsrun_lines_init(&l, &config->arena, file, text, err);
	while ((rc = nsrun_lines_next(&l)) > 0)
		if (parse_words(config, &l) < 0) {
			rc = -1;
			break;
		}
	/* What is asked for least needs no word. */
	config->networks[NSRUN_NETWORK_DENIED] = true;
	if (rc < 0)
		nsrun_config_deinit(config);
	return rc;
}

int
nsrun_config_load(struct nsrun_config *config, struct nsrun_err *err)
{
	char path[NSRUN_CONFIG_PATH], *text;
	int rc = read_file("oc-nsrun.conf", &text, path, err);

	*config = (struct nsrun_config){ .arena = NSRUN_ARENA_INIT };
	if (rc > 0)
		rc = nsrun_config_parse(config, path, text, err);
	free(text);
	return rc;
}

void
nsrun_config_deinit(struct nsrun_config *config)
{
	nsrun_arena_deinit(&config->arena);
	*config = (struct nsrun_config){ .arena = NSRUN_ARENA_INIT };
}

bool
nsrun_allowed_word(const struct nsrun_allowed *allowed, const char *word)
{
	for (size_t i = 0; i < allowed->words.n; i++)
		if (!strcmp(allowed->words.v[i], word))
			return true;
	return allowed->any;
}

bool
nsrun_allowed_path(const struct nsrun_allowed *allowed, const char *path)
{
	for (size_t i = 0; i < allowed->words.n; i++)
		if (nsrun_path_is_within(path, allowed->words.v[i]))
			return true;
	return allowed->any;
}
