/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/gitconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "host/gitview.h"

enum { MAX_CONFIG = 1 << 20 };

/*
 * What says how a repository is to be read. None of it names a program or a
 * place; the value of each is one plain word.
 */
static const char *const passed_on[] = {
	"core.repositoryformatversion", "core.filemode", "core.bare",
	"core.ignorecase", "core.symlinks", "core.precomposeunicode",
	"core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath",
	"core.abbrev", "core.trustctime", "core.checkstat",
	"core.sparsecheckout", "core.sparsecheckoutcone",
	"core.sharedrepository", "core.logallrefupdates", "index.sparse",
	"extensions.objectformat", "extensions.refstorage",
	"extensions.compatobjectformat", "extensions.noop",
	"extensions.preciousobjects", "extensions.relativeworktrees", NULL,
};

struct reading {
	FILE		*out;
	enum nsrun_gitconfig_use use;
	struct nsrun_arena *arena;
	const struct nsrun_gitview *view;
	const char	*worktree, *name, *email;
	bool		by_worktree;	/* extensions.worktreeConfig */
	bool		no_memory;
};

static bool
is_word(const char *value)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789._-";

	return *value && !value[strspn(value, letters)];
}

static bool
is_text(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

static void
put_quoted(FILE *out, const char *value)
{
	fputc('"', out);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
	fputc('"', out);
}

static void
put(FILE *out, const char *section, const char *sub, const char *key,
    const char *value)
{
	fprintf(out, "[%s", section);
	if (sub) {
		fputc(' ', out);
		put_quoted(out, sub);
	}
	fprintf(out, "]\n\t%s = ", key);
	put_quoted(out, value);
	fputc('\n', out);
}

static void
keep(struct reading *r, const char **slot, const char *value)
{
	*slot = nsrun_arena_strdup(r->arena, value);
	r->no_memory |= !*slot;
}

/* A path, or a URL that is one: no transport that is a program. */
static bool
is_local(const char *url)
{
	return !strstr(url, "::") && (*url == '/' || *url == '.' ||
	    !strncmp(url, "file:///", 8));
}

/* A remote's path, as git names it in the end; of no matter if it is not. */
static void
put_url(struct reading *r, const char *sub, const char *url)
{
	const char *top = r->view->worktree ? r->view->worktree : r->view->dir;
	const char *path = *url == 'f' ? url + 7 : url;
	char *joined = *path == '/' ? nsrun_arena_strdup(r->arena, path) :
	    nsrun_arena_printf(r->arena, "%s/%s", top, path);
	char *real = joined ? realpath(joined, NULL) : NULL;

	r->no_memory |= !joined;
	put(r->out, "remote", sub, "url", real && is_text(real) ? real : url);
	free(real);
}

static void
take_sub(struct reading *r, const char *section, const char *sub,
    const char *key, const char *value)
{
	bool branch = !strcmp(section, "branch") &&
	    (!strcmp(key, "remote") || !strcmp(key, "merge"));
	bool remote = !strcmp(section, "remote");

	/* That it is one of ours, and not where it came from. */
	if (!strcmp(section, "submodule") && is_text(sub) &&
	    (!strcmp(key, "url") || (!strcmp(key, "active") &&
	    is_word(value))))
		put(r->out, section, sub, "active", *key == 'u' ? "true" :
		    value);
	if (r->use != NSRUN_GITCONFIG_COMMAND || !is_text(sub) ||
	    !is_text(value))
		return;
	if (branch || (remote && !strcmp(key, "fetch")))
		put(r->out, section, sub, key, value);
	if (remote && !strcmp(key, "url") && is_local(value))
		put_url(r, sub, value);
}

static void
take_user(struct reading *r, const char *key, const char *value)
{
	if (!strcmp(key, "name"))
		keep(r, &r->name, value);
	if (!strcmp(key, "email"))
		keep(r, &r->email, value);
}

/* One setting of the repository's. */
static void
take(void *to, const char *section, const char *sub, const char *key,
    const char *value)
{
	struct reading *r = to;
	char name[600];

	if (!value)
		value = "true";
	if (sub) {
		take_sub(r, section, sub, key, value);
		return;
	}
	snprintf(name, sizeof name, "%s.%s", section, key);
	if (!strcmp(name, "core.worktree"))
		keep(r, &r->worktree, value);
	if (!strcmp(name, "extensions.worktreeconfig"))
		r->by_worktree = strcmp(value, "false");
	if (!strcmp(section, "user") && is_text(value))
		take_user(r, key, value);
	for (size_t i = 0; passed_on[i]; i++)
		if (!strcmp(passed_on[i], name) && is_word(value))
			put(r->out, section, NULL, key, value);
}

/* One of the caller's own configuration: who he is, and no more. */
static void
take_own(void *to, const char *section, const char *sub, const char *key,
    const char *value)
{
	if (!sub && value && !strcmp(section, "user") && is_text(value))
		take_user(to, key, value);
}

/* A regular file, or nothing: *text is NULL and errno 0 when it is absent. */
static int
read_file(int dir_fd, const char *name, char **text, struct stat *st)
{
	nsrun_autoclose int fd = openat(dir_fd, name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t size;

	*text = NULL;
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(fd, st) < 0)
		return -1;
	if (!S_ISREG(st->st_mode)) {
		errno = EINVAL;
		return -1;
	}
	*text = nsrun_file_read_fd(fd, MAX_CONFIG, &size);
	return *text ? 0 : -1;
}

static int
read_one(struct reading *r, int dir_fd, const char *where, const char *name,
    struct nsrun_err *err)
{
	char subject[4096], *text;
	struct stat st;
	int rc;

	if (read_file(dir_fd, name, &text, &st) < 0) {
		snprintf(subject, sizeof subject, "%s/%s", where, name);
		return nsrun_err_sys(err, NSRUN_STEP_PROJECT, "read", subject,
		    NULL);
	}
	if (!text)
		return 0;
	rc = nsrun_gitconfig_parse(text, take, r);
	free(text);
	if (rc < 0 || r->no_memory)
		return nsrun_err_nomem(err, where);
	snprintf(subject, sizeof subject, "%s/%s:%d", where, name, rc);
	return rc ? nsrun_err_rule(err, NSRUN_STEP_PROJECT,
	    "is no configuration of git's", subject, NULL) : 0;
}

/* What cannot be read says nothing; git says that there is no name. */
static void
read_own(struct reading *r, const char *home)
{
	static const char *const names[] = {
		".config/git/config", ".gitconfig",
	};
	nsrun_autoclose int home_fd = open(home,
	    O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; home_fd >= 0 &&
	    i < sizeof names / sizeof *names; i++) {
		nsrun_autoclose int fd = openat(home_fd, names[i],
		    O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		struct stat st;
		size_t size;
		char *text = fd >= 0 && fstat(fd, &st) == 0 &&
		    S_ISREG(st.st_mode) ?
		    nsrun_file_read_fd(fd, MAX_CONFIG, &size) : NULL;

		if (text)
			(void)nsrun_gitconfig_parse(text, take_own, r);
		free(text);
	}
}

/* What we add: nothing is run, and nobody else's work is begun. */
static void
put_ours(struct reading *r)
{
	fputs("[core]\n\thooksPath = /dev/null\n\tfsmonitor = false\n"
	    "\tpager = cat\n", r->out);
	if (r->use == NSRUN_GITCONFIG_VIEW)
		return;
	fputs("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
	    "[fetch]\n\trecurseSubmodules = false\n"
	    "[submodule]\n\trecurse = false\n"
	    "[branch]\n\tautoSetupMerge = false\n", r->out);
	if (r->name)
		put(r->out, "user", NULL, "name", r->name);
	if (r->email)
		put(r->out, "user", NULL, "email", r->email);
}

int
nsrun_gitconfig_read(struct nsrun_gitconfig *config,
    struct nsrun_arena *arena, const struct nsrun_gitview *view,
    enum nsrun_gitconfig_use use, const char *home, struct nsrun_err *err)
{
	char *text = NULL;
	size_t size;
	struct reading r = {
		.use = use, .arena = arena, .view = view,
		.out = open_memstream(&text, &size),
	};
	int rc = 0;

	if (!r.out)
		return nsrun_err_nomem(err, view->common);
	if (use == NSRUN_GITCONFIG_COMMAND && home)
		read_own(&r, home);
	rc = read_one(&r, view->common_fd, view->common, "config", err);
	if (rc == 0 && r.by_worktree)
		rc = read_one(&r, view->dir_fd, view->dir, "config.worktree",
		    err);
	if (rc == 0)
		put_ours(&r);
	if (fclose(r.out) != 0 && rc == 0)
		rc = nsrun_err_nomem(err, view->common);
	*config = (struct nsrun_gitconfig){ .worktree = r.worktree };
	if (rc == 0 && !(config->text = nsrun_arena_strdup(arena, text)))
		rc = nsrun_err_nomem(err, view->common);
	free(text);
	return rc;
}
