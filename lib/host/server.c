/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/path.h"
#include "host/build.h"
#include "host/session.h"
#include "host/trust.h"

int
nsrun_server_check(const char *name, struct nsrun_err *err)
{
	const char *slash = strchr(name, '/');
	const char *rule = !slash || slash == name || !slash[1] ||
	    strchr(slash + 1, '/') ? "is not PLUGIN/SERVER" : NULL;

	for (const char *s = name; *s && !rule; s++)
		if ((unsigned char)*s <= ' ' || *s == 0x7f || *s == ',')
			rule = "has a blank, a comma or a control character";
		else if (*s == '*')
			rule = "has a * in it: servers are trusted one by one";
	return rule ? nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, name, NULL) :
	    0;
}

static bool
is_trusted(const struct nsrun_session *s, const char *name)
{
	for (size_t i = 0; i < s->servers.n; i++)
		if (!strcmp(s->servers.v[i], name))
			return true;
	return false;
}

/* As which(1) finds it in the PATH of the plan; realpath(3)'s, or NULL. */
static char *
find_file(const struct nsrun_plan *plan, const char *name)
{
	const char *path = nsrun_plan_env(plan, "PATH");
	char file[4096];
	struct stat st;

	if (*name == '/')
		return realpath(name, NULL);
	for (const char *s = strchr(name, '/') ? NULL : path; s && *s;
	    s += *s == ':') {
		size_t n = strcspn(s, ":");

		if (n + strlen(name) + 2 <= sizeof file) {
			memcpy(file, s, n);
			file[n] = '/';
			strcpy(file + n + 1, name);
			if (stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
			    access(file, X_OK) == 0)
				return realpath(file, NULL);
		}
		s += n;
	}
	return NULL;
}

static int
check_file(struct nsrun_build *b, const char *file)
{
	struct stat st;

	for (size_t i = 0; i < b->n_roots; i++)
		if (b->roots[i].writable &&
		    nsrun_path_is_within(file, b->roots[i].path))
			return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
			    "is in a directory that the sandbox can write",
			    file, NULL);
	if (lstat(file, &st) < 0)
		return nsrun_err_sys(b->err, NSRUN_STEP_OPTION, "lstat", file,
		    NULL);
	if (!S_ISREG(st.st_mode))
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "is no regular file", file, NULL);
	return nsrun_trust_check(file, NSRUN_STEP_OPTION, b->err);
}

int
nsrun_build_server(struct nsrun_build *b)
{
	const char *name = b->request->server;
	char *file;
	int rc;

	if (!b->profile->needs_server)
		return name ? nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "belongs to a profile of servers", "--server", NULL) : 0;
	if (!name)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION,
		    "wants --server PLUGIN/SERVER", b->profile->name, NULL);
	if (!is_trusted(b->session, name))
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION, "is not in"
		    " OPENCLAUDIA_TRUST_MCP_SERVERS, so it does not start",
		    "--server", name);
	file = find_file(b->plan, b->request->argv[0]);
	if (!file)
		return nsrun_err_rule(b->err, NSRUN_STEP_OPTION, "is neither an"
		    " absolute path nor a command of the PATH",
		    b->request->argv[0], NULL);
	rc = check_file(b, file);
	if (rc == 0)
		b->plan->process.file = nsrun_build_text(b, "%s", file);
	free(file);
	b->plan->server = nsrun_build_text(b, "%s", name);
	return rc < 0 || !b->plan->process.file || !b->plan->server ? -1 : 0;
}
