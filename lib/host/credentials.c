/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/credentials.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/path.h"
#include "base/sys.h"
#include "host/home.h"
#include "host/identity.h"

static int
refuse(struct nsrun_build *b, const char *rule, const char *subject)
{
	return nsrun_err_rule(b->err, NSRUN_STEP_CREDENTIAL, rule, subject,
	    NULL);
}

/* "PATH" or "PATH:DEST": what follows the last colon is DEST. */
static int
add(struct nsrun_request *r, const char *value, bool copies,
    struct nsrun_err *err)
{
	struct nsrun_credential *v = nsrun_arena_grow(&r->arena,
	    r->credentials, r->n_credentials, sizeof *v), *c;
	const char *colon = strrchr(value, ':');

	if (!v)
		return nsrun_err_nomem(err, value);
	if (colon && (colon == value || !colon[1]))
		return nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "is not PATH or PATH:DEST", value, NULL);
	r->credentials = v;
	c = &v[r->n_credentials];
	*c = (struct nsrun_credential){ .copies = copies };
	c->path = colon ? nsrun_arena_printf(&r->arena, "%.*s",
	    (int)(colon - value), value) : nsrun_arena_strdup(&r->arena, value);
	c->dest = colon ? nsrun_arena_strdup(&r->arena, colon + 1) : NULL;
	if (!c->path || (colon && !c->dest))
		return nsrun_err_nomem(err, value);
	r->n_credentials++;
	return 0;
}

int
nsrun_request_add_credential(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	return add(r, value, false, err);
}

int
nsrun_request_add_credential_copy(struct nsrun_request *r, const char *value,
    struct nsrun_err *err)
{
	return add(r, value, true, err);
}

int
nsrun_request_set_credential_return(struct nsrun_request *r,
    const char *value, struct nsrun_err *err)
{
	(void)value;
	(void)err;
	r->returns_credentials = true;
	return 0;
}

/* PATH without a link in its directory's name; its own may be one. */
static const char *
absolute(struct nsrun_build *b, const char *given)
{
	const char *slash = strrchr(given, '/'), *path = NULL;
	const char *dir = !slash ? "." : slash == given ? "/" :
	    nsrun_build_text(b, "%.*s", (int)(slash - given), given);
	char *real = dir ? realpath(dir, NULL) : NULL;

	if (real)
		path = nsrun_build_text(b, "%s/%s", strcmp(real, "/") ? real :
		    "", slash ? slash + 1 : given);
	else if (dir)
		nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "realpath", given,
		    NULL);
	free(real);
	return path;
}

const char *
nsrun_credential_dest(struct nsrun_build *b, size_t i)
{
	const struct nsrun_credential *c = &b->request->credentials[i];
	const char *dest = c->dest, *rel;

	if (!dest) {
		dest = absolute(b, c->path);
		if (!dest)
			return NULL;
		/* Of the caller's home, which may have another path inside. */
		if (b->host_home && nsrun_path_is_within(dest, b->host_home))
			dest = nsrun_build_text(b, "%s%s", b->home, dest +
			    strlen(b->host_home));
	} else if (*dest != '/') {
		dest = nsrun_build_text(b, "%s/%s", b->home, dest);
	}
	if (!dest)
		return NULL;
	if (!nsrun_path_is_clean(dest) ||
	    !nsrun_path_is_within(dest, b->home) || !strcmp(dest, b->home)) {
		refuse(b, "is no place in the home: say which, with :DEST",
		    dest);
		return NULL;
	}
	for (size_t k = 0; k < b->n_roots; k++)
		if (nsrun_path_is_within(dest, b->roots[k].path)) {
			refuse(b, "is in a granted root, which is the host's",
			    dest);
			return NULL;
		}
	if (!b->home_layer)
		return dest;
	/* Where links of the home lead to it, it is there. */
	rel = nsrun_build_in_layer(b, dest + strlen(b->home) + 1);
	return rel ? nsrun_build_text(b, "%s/%s", b->home, rel) :
	    b->err->step != NSRUN_STEP_NONE ? NULL : dest;
}

static int
check_granted(struct nsrun_build *b, const char *path, bool goes_back)
{
	const struct nsrun_config *c = &b->session->config;

	if (!c->present || nsrun_allowed_path(&c->read_write, path) ||
	    (!goes_back && nsrun_allowed_path(&c->read_only, path)))
		return 0;
	return refuse(b, "is not granted by " NSRUN_CONFIG_DIR "/oc-nsrun.conf",
	    path);
}

/* The file itself, canonically; pinned. */
static int
open_file(struct nsrun_build *b, const struct nsrun_credential *c,
    struct nsrun_granted *file)
{
	char *real = realpath(c->path, NULL);
	struct stat st;

	*file = (struct nsrun_granted){ .pin.fd = -1 };
	if (!real)
		return nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "realpath",
		    c->path, NULL);
	file->path = nsrun_build_text(b, "%s", real);
	free(real);
	if (!file->path)
		return -1;
	file->pin.fd = sys_openat2(AT_FDCWD, file->path, O_PATH | O_NOFOLLOW |
	    O_CLOEXEC, RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (file->pin.fd < 0 || nsrun_fd_raise(&file->pin.fd) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "open",
		    file->path, NULL);
	if (fstat(file->pin.fd, &st) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "fstat",
		    file->path, NULL);
	if (!S_ISREG(st.st_mode) || nsrun_path_is_within(file->path, "/proc") ||
	    nsrun_path_is_within(file->path, "/sys"))
		return refuse(b, "is no regular file", file->path);
	if (access(file->path, R_OK) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "access",
		    file->path, NULL);
	file->pin.dev = st.st_dev;
	file->pin.ino = st.st_ino;
	file->pin.type = S_IFREG;
	file->pin.uid = st.st_uid;
	file->pin.gid = st.st_gid;
	return 0;
}

static int
add_shown(struct nsrun_build *b, struct nsrun_granted *file, const char *dest)
{
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_BIND,
		.flags = NSRUN_MOUNT_PINNED | NSRUN_MOUNT_RDONLY |
		    NSRUN_MOUNT_NOEXEC | NSRUN_MOUNT_EXACT | NSRUN_MOUNT_NOLINK,
		.source = file->path, .target = dest, .type = S_IFREG,
		.parent_mode = 0700, .pin = file->pin,
	};
	const char *why;

	if (nsrun_identity_maps(&b->plan->identity, &file->pin)) {
		why = nsrun_identity_try_maps(&b->plan->identity, file, 1);
		if (why)
			return refuse(b, why, file->path);
		m.flags |= NSRUN_MOUNT_IDMAPPED;
	}
	if (nsrun_plan_add_mount(b->plan, &m, b->err) < 0)
		return -1;
	file->pin.fd = -1;	/* the plan's now */
	return 0;
}

/* Is what is kept on the host there before the sandbox is? */
static bool
is_kept(const struct nsrun_build *b)
{
	return nsrun_home_kind(b->request) != NULL;
}

static int
add_return(struct nsrun_build *b, const struct nsrun_granted *file,
    const char *dest, const void *data, size_t n)
{
	const char *dir = nsrun_build_text(b, "%.*s",
	    (int)(strrchr(file->path, '/') - file->path), file->path);
	struct stat st;

	if (!dir)
		return -1;
	if (access(*dir ? dir : "/", W_OK) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "access",
		    file->path, "--credential-return");
	/* Another file in its place would part it from its other names. */
	if (fstat(file->pin.fd, &st) < 0 || st.st_nlink != 1)
		return refuse(b, "has other names, and cannot be handed back",
		    file->path);
	return nsrun_plan_add_return(b->plan, (struct nsrun_return){
		.path = dest, .host = file->path, .data = data, .n_data = n,
		.max_bytes = NSRUN_CREDENTIAL_MAX,
	}, b->err);
}

static int
add_copy(struct nsrun_build *b, const struct nsrun_granted *file,
    const char *dest)
{
	char path[48];
	size_t n;
	char *text;
	struct nsrun_mount m = {
		.kind = NSRUN_MOUNT_FILE,
		.flags = NSRUN_MOUNT_EXACT | NSRUN_MOUNT_NOLINK |
		    (is_kept(b) ? NSRUN_MOUNT_OPTIONAL : 0),
		.target = dest, .mode = S_IFREG | 0600, .parent_mode = 0700,
	};
	int fd, rc;

	/* The very file that was looked at; it is a regular one. */
	snprintf(path, sizeof path, "/proc/self/fd/%d", file->pin.fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	text = fd < 0 ? NULL : nsrun_file_read_fd(fd, NSRUN_CREDENTIAL_MAX, &n);
	if (!text)
		nsrun_err_sys(b->err, NSRUN_STEP_CREDENTIAL, "read", file->path,
		    NULL);
	nsrun_fd_close(&fd);
	if (!text)
		return -1;
	m.data = nsrun_arena_dup(&b->plan->arena, text, n + 1);
	m.n_data = n;
	free(text);
	if (!m.data)
		return nsrun_err_nomem(b->err, file->path);
	rc = nsrun_plan_add_mount(b->plan, &m, b->err);
	if (rc == 0 && b->request->returns_credentials)
		rc = add_return(b, file, dest, m.data, n);
	return rc;
}

static bool
is_taken(const struct nsrun_build *b, const char *dest, size_t n_before)
{
	for (size_t i = n_before; i < b->plan->mounts.n; i++)
		if (nsrun_path_is_within(b->plan->mounts.v[i].target, dest) ||
		    nsrun_path_is_within(dest, b->plan->mounts.v[i].target))
			return true;
	return false;
}

/* A copy needs a directory that is the command's. */
static bool
has_home(const struct nsrun_build *b)
{
	bool has = b->request->home != NSRUN_HOME_DEFAULT;

	for (size_t i = 0; i < b->profile->n_privates; i++)
		has |= *b->profile->privates[i].path != '/';
	return has;
}

static int
add_one(struct nsrun_build *b, size_t i, size_t n_before)
{
	const struct nsrun_credential *c = &b->request->credentials[i];
	const char *dest = nsrun_credential_dest(b, i);
	struct nsrun_granted file;
	int rc;

	if (!dest)
		return -1;
	if (is_taken(b, dest, n_before))
		return refuse(b, "is the place of another credential, or in"
		    " it", dest);
	if (c->copies && !has_home(b))
		return refuse(b, "the profile has no home to copy it to: --home"
		    " tmpfs", c->path);
	rc = open_file(b, c, &file);
	if (rc == 0)
		rc = check_granted(b, file.path, c->copies &&
		    b->request->returns_credentials);
	if (rc == 0)
		rc = c->copies ? add_copy(b, &file, dest) :
		    add_shown(b, &file, dest);
	nsrun_fd_close(&file.pin.fd);
	return rc;
}

int
nsrun_build_credentials(struct nsrun_build *b)
{
	const struct nsrun_request *r = b->request;
	size_t n_before = b->plan->mounts.n;
	bool copies = false;

	for (size_t i = 0; i < r->n_credentials; i++) {
		copies |= r->credentials[i].copies;
		if (add_one(b, i, n_before) < 0)
			return -1;
	}
	return !r->returns_credentials || copies ? 0 : refuse(b,
	    "there is no --credential-copy to hand back",
	    "--credential-return");
}
