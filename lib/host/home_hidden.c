/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an overlay home does not show of the directory beneath it: where
 * programs keep credentials, the state directory with the homes of others, and
 * what the caller masks. What is needed of it is granted by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/build.h"
#include "host/credentials.h"
#include "host/grants.h"
#include "host/masks.h"
#include "host/store.h"

static const char *const usual[] = {
	/* identities and keys */
	".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings",
	".local/share/kwalletd", ".config/sops", ".config/age", ".vault-token",
	/* what version control, registries and forges are told */
	".git-credentials", ".config/git/credentials", ".netrc", "_netrc",
	".config/gh", ".config/glab-cli", ".config/hub", ".npmrc", ".yarnrc",
	".yarnrc.yml", ".pypirc", ".config/pip", ".gem/credentials",
	".cargo/credentials", ".cargo/credentials.toml", ".m2/settings.xml",
	".m2/settings-security.xml", ".gradle/gradle.properties",
	".docker/config.json", ".config/containers/auth.json",
	/* clouds and clusters */
	".aws", ".azure", ".config/gcloud", ".oci", ".kube", ".config/doctl",
	".terraform.d/credentials.tfrc.json", ".terraformrc", ".boto", ".s3cfg",
	".config/rclone", ".config/heroku", ".fly", ".config/op",
	/* data bases */
	".pgpass", ".my.cnf", ".mylogin.cnf",
	/* browsers, which keep cookies */
	".mozilla", ".config/google-chrome", ".config/chromium",
	".config/BraveSoftware", ".config/microsoft-edge", ".thunderbird",
	/* agents' own, which are granted with --credential */
	".claude/.credentials.json", ".codex/auth.json",
	".gemini/oauth_creds.json", ".ocp/keys", ".olp/keys",
	".config/anthropic", ".config/openai",
	".local/share/opencode/auth.json",
};

/* The directory of rel, by way of the links in it. */
static const char *
follow(struct nsrun_build *b, const char *rel, const char *slash)
{
	const char *layer = b->home_layer, *found = NULL;
	const char *dir = nsrun_build_text(b, "%s/%.*s", layer,
	    (int)(slash - rel), rel);
	char *real = dir ? realpath(dir, NULL) : NULL;

	if (real && !strcmp(real, layer))
		found = nsrun_build_text(b, "%s", slash + 1);
	else if (real && nsrun_path_is_within(real, layer))
		found = nsrun_build_text(b, "%s/%s", real + strlen(layer) + 1,
		    slash + 1);
	free(real);
	return found;
}

const char *
nsrun_build_in_layer(struct nsrun_build *b, const char *rel)
{
	const char *slash = strrchr(rel, '/');
	nsrun_autoclose int fd = -1;
	char dir[PATH_MAX];

	if (!slash)
		return rel;
	snprintf(dir, sizeof dir, "%.*s", (int)(slash - rel), rel);
	/* Links are rare, and one call finds that out. */
	fd = sys_openat2(b->layer_fd, dir, O_PATH | O_DIRECTORY | O_CLOEXEC,
	    RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	return fd >= 0 ? rel : errno == ELOOP ? follow(b, rel, slash) : NULL;
}

/* Where name leads, which is a link, if it stays in the layer. */
static int
add_target(struct nsrun_build *b, struct nsrun_words *words, const char *name)
{
	const char *layer = b->home_layer;
	const char *path = nsrun_build_text(b, "%s/%s", layer, name);
	char *real = path ? realpath(path, NULL) : NULL;
	int rc = path ? 0 : -1;

	if (real && strcmp(real, layer) && nsrun_path_is_within(real, layer)) {
		name = nsrun_build_text(b, "%s", real + strlen(layer) + 1);
		rc = !name ? -1 : nsrun_words_add(words, &b->plan->arena,
		    name) < 0 ? nsrun_err_nomem(b->err, name) : 0;
	}
	free(real);
	return rc;
}

/* A name, whether or not it is there yet, if it could be made. */
static int
add(struct nsrun_build *b, struct nsrun_words *words, const char *rel)
{
	const char *name = nsrun_build_in_layer(b, rel);
	struct stat st;

	if (!name)
		return b->err->step != NSRUN_STEP_NONE ? -1 : 0;
	if (nsrun_words_add(words, &b->plan->arena, name) < 0)
		return nsrun_err_nomem(b->err, name);
	return fstatat(b->layer_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode) ? add_target(b, words, name) : 0;
}

/* The state directory, the usual one or another, if it is in the layer. */
static int
add_state(struct nsrun_build *b, struct nsrun_words *words, const char *dir)
{
	const char *layer = b->home_layer;
	struct nsrun_err none = NSRUN_ERR_INIT;
	char path[NSRUN_STORE_PATH], *real;
	int rc = 0;

	/* Who has no home has none in it. */
	if (nsrun_store_where(path, dir, &none) < 0)
		return 0;
	real = realpath(path, NULL);
	if (real && strcmp(real, layer) && nsrun_path_is_within(real, layer)) {
		const char *rel = nsrun_build_text(b, "%s",
		    real + strlen(layer) + 1);

		rc = rel ? add(b, words, rel) : -1;
	}
	free(real);
	return rc;
}

static int
add_masks(struct nsrun_build *b, struct nsrun_words *words)
{
	const struct nsrun_request *r = b->request;

	for (size_t i = 0; i < r->n_masks; i++) {
		if (!nsrun_build_home_hides(b, r->masks[i]))
			continue;
		if (nsrun_glob_is_one(r->masks[i]))
			return nsrun_err_rule(b->err, NSRUN_STEP_MASK,
			    "is a pattern: in an overlay home each name is"
			    " masked by itself", r->masks[i], NULL);
		if (add(b, words, r->masks[i] + strlen(b->home) + 1) < 0)
			return -1;
	}
	return 0;
}

/*
 * A granted root that the layer would show at another place: without its masks,
 * and without the view of its repository.
 */
static int
add_roots(struct nsrun_build *b, struct nsrun_words *words)
{
	for (size_t i = 0; i < b->n_roots; i++) {
		const char *path = b->roots[i].path, *rel, *place;

		if (!nsrun_path_is_within(path, b->home_layer))
			continue;
		rel = path + strlen(b->home_layer) + 1;
		place = nsrun_build_text(b, "%s/%s", b->home, rel);
		if (!place || (strcmp(place, path) && add(b, words, rel) < 0))
			return -1;
	}
	return 0;
}

/* What stands at a copy's place is not what the copy is of. */
static int
add_copies(struct nsrun_build *b, struct nsrun_words *words)
{
	const struct nsrun_request *r = b->request;

	for (size_t i = 0; i < r->n_credentials; i++) {
		const char *dest = nsrun_credential_dest(b, i);

		if (!dest || add(b, words, dest + strlen(b->home) + 1) < 0)
			return -1;
	}
	return 0;
}

static int
by_path(const void *a, const void *b)
{
	return nsrun_path_compare(*(const char *const *)a,
	    *(const char *const *)b);
}

const char *const *
nsrun_build_hidden(struct nsrun_build *b)
{
	struct nsrun_words words = { 0 };
	const char **v;

	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (add(b, &words, usual[i]) < 0)
			return NULL;
	if (add_state(b, &words, NULL) < 0 || (b->request->state_dir &&
	    add_state(b, &words, b->request->state_dir) < 0) ||
	    add_masks(b, &words) < 0 || add_copies(b, &words) < 0 ||
	    add_roots(b, &words) < 0)
		return NULL;
	/* A directory before what is in it. */
	qsort(words.v, words.n, sizeof *words.v, by_path);
	v = nsrun_arena_alloc(&b->plan->arena, (words.n + 1) * sizeof *v);
	if (!v) {
		nsrun_err_nomem(b->err, "home");
		return NULL;
	}
	for (size_t i = 0; i < words.n; i++)
		v[i] = words.v[i];
	return v;
}
