/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "host/envpolicy.h"
#include "host/profile.h"
#include "host/session.h"
#include "host/request.h"
#include "host/roots.h"
#include "policy/embedded.h"

static void
test_broad_roots(void **state)
{
	static const struct {
		const char *path;
		bool broad;
	} rows[] = {
		{ "/", true }, { "/home", true }, { "/usr", true },
		{ "/etc", true }, { "/tmp", true }, { "/root", true },
		{ "/var", true }, { "/proc", true }, { "/proc/1", true },
		{ "/sys/kernel", true }, { "/dev/pts", true },
		{ "/dev/shm", true }, { "/dev/shm/x", false },
		{ "/home/u", false }, { "/tmp/x", false },
		{ "/usr/src/x", false }, { "/procs", false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++)
		assert_row(nsrun_root_is_broad(rows[i].path) == rows[i].broad,
		    rows[i].path);
}

static void
test_mountinfo(void **state)
{
	static const struct {
		const char *name, *text, *root;
		int rc;
		const char *found;
	} rows[] = {
		{ "none", "22 1 8:1 / / rw - ext4 /dev/a rw\n", "/p", 0, "" },
		{ "the root itself", "22 1 8:1 / /p rw - ext4 a rw\n", "/p", 0,
		    "" },
		{ "below", "22 1 8:1 / / rw - x a rw\n"
		    "23 22 8:1 / /p/m rw - x a rw\n", "/p", 1, "/p/m" },
		{ "only alike", "22 1 8:1 / /pm rw - x a rw\n", "/p", 0, "" },
		{ "escapes", "22 1 8:1 / /p/a\\040b\\134\\012 rw - x a rw\n",
		    "/p", 1, "/p/a b\\\n" },
		{ "any byte", "22 1 8:1 / /p/\377 rw - x a rw\n", "/p", 1,
		    "/p/\377" },
		{ "too few fields", "22 1 8:1 /\n", "/p", -1, "" },
		{ "cut escape", "22 1 8:1 / /p\\04 rw - x a rw\n", "/p", -1,
		    "" },
		{ "escaped NUL", "22 1 8:1 / /p\\000x rw - x a rw\n", "/p", -1,
		    "" },
		{ "no newline", "22 1 8:1 / /p/m rw", "/p", -1, "" },
		{ "relative", "22 1 8:1 / p/m rw - x a rw\n", "/p", -1, "" },
		{ "empty", "", "/p", 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		const char *text = rows[i].text;
		char found[4096] = "";

		assert_row(nsrun_mountinfo_next_below(&text,
		    rows[i].root, found, sizeof found) == rows[i].rc,
		    rows[i].name);
		assert_row(rows[i].rc != 1 || !strcmp(found, rows[i].found),
		    rows[i].name);
	}
}

static void
test_grants(void **state)
{
	static const struct {
		const char *name;
		bool granted;
	} rows[] = {
		{ "FOO", true }, { "_x1", true }, { "MAKEFLAGS", true },
		{ "", false }, { "1X", false }, { "A-B", false },
		{ "A B", false }, { "A\377", false }, { "HOME", false },
		{ "home", false }, { "PATH", false }, { "LD_PRELOAD", false },
		{ "ld_x", false }, { "GLIBC_TUNABLES", false },
		{ "BASH_ENV", false }, { "GH_TOKEN", false },
		{ "x_api_key", false }, { "AWS_REGION", false },
		{ "DB_PASSWORD", false }, { "SSH_AUTH_SOCK", false },
		{ "XDG_RUNTIME_DIR", false }, { "OPENCLAUDIA_X", false },
		{ "TOKENS", true }, { "MONKEY", true },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		assert_row((nsrun_envpolicy_check_grant(rows[i].name, &err) ==
		    0) == rows[i].granted, rows[i].name);
	}
}

static void
test_name_classes(void **state)
{
	static const struct {
		const char *name;
		bool name_ok, ambient;
	} rows[] = {
		{ "FOO", true, true },
		{ "GITHUB_TOKEN", true, false },
		{ "NODE_OPTIONS", true, false },
		{ "PYTHONPATH", true, false },
		{ "git_dir", true, false },
		{ "MAKEFLAGS", true, false },
		{ "LD_PRELOAD", false, false },
		{ "bash_env", false, false },
		{ "PATH", false, false },
		{ "", false, false },
		{ "A=B", false, false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		assert_row((nsrun_envpolicy_check_name(rows[i].name, &err) ==
		    0) == rows[i].name_ok, rows[i].name);
		assert_row((nsrun_envpolicy_check_ambient(rows[i].name, &err) ==
		    0) == rows[i].ambient, rows[i].name);
	}
}

static struct nsrun_session *
registered(const char *id, const char *project, struct nsrun_err *err)
{
	struct nsrun_request *request = nsrun_request_new();
	struct nsrun_session *session = NULL;
	int rc;

	*err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_non_null(request);
	assert_int_equal(nsrun_request_set(request, "project", project, err),
	    0);
	rc = nsrun_session_register(&session, id, request, err);
	assert_int_equal(rc, session ? 0 : -1);
	nsrun_request_free(request);
	return session;
}

/* An id is pinned to its project; another directory at its path is another. */
static void
test_sessions(void **state)
{
	struct nsrun_session *first, *other;
	struct nsrun_err err = NSRUN_ERR_INIT;
	char base[] = "/tmp/nsrun-unit.XXXXXX", one[64], two[64];

	(void)state;
	assert_non_null(mkdtemp(base));
	snprintf(one, sizeof one, "%s/one", base);
	snprintf(two, sizeof two, "%s/two", base);
	assert_int_equal(mkdir(one, 0700), 0);
	assert_int_equal(mkdir(two, 0700), 0);
	first = registered("id", one, &err);
	assert_non_null(first);
	assert_ptr_equal(registered("id", one, &err), first);
	assert_null(registered("id", two, &err));
	assert_string_equal(err.subject, "session -> id");
	/* Moved away, and another in its place. */
	assert_int_equal(rename(one, two), 0);
	assert_int_equal(mkdir(one, 0700), 0);
	assert_null(registered("id", one, &err));
	assert_null(registered("", one, &err));
	other = registered("other", one, &err);
	assert_non_null(other);
	assert_int_equal(nsrun_session_release(other, &err), 0);
	assert_int_equal(nsrun_session_release(first, &err), 0);
	/* Still registered, for its other user; then no more. */
	assert_null(registered("id", one, &err));
	assert_int_equal(nsrun_session_release(first, &err), 0);
	other = registered("id", one, &err);
	assert_non_null(other);
	assert_int_equal(nsrun_session_release(other, &err), 0);
	assert_int_equal(nsrun_session_release(NULL, &err), 0);
	assert_int_equal(rmdir(one) | rmdir(two) | rmdir(base), 0);
}

static void
test_profile_errors(void **state)
{
	static const char good[] = "profile x\nfilter f\nnetwork denied\n"
	    "tmpfs 1M 10\n";
	static const struct {
		const char *line, *where, *rule;
	} rows[] = {
		{ "bogus 1", "t:5:1", "is no keyword of a profile" },
		{ "limit", "t:5:1", "has the wrong number of words" },
		{ "limit cups 1", "t:5:7", "is no limit" },
		{ "limit cpu x", "t:5:11",
		    "is neither a number nor none" },
		{ "like shell", "t:5:1",
		    "must stand before all but `profile`" },
		{ "server x", "t:5:1", "has the wrong number of words" },
		{ "toolchain-env X bin", "t:5:1",
		    "has the wrong number of words" },
		{ "toolchain-env X ../y z", "t:5:17",
		    "is not a relative path" },
		{ "profile y", "t:5:1", "is said twice" },
		{ "nesting x\nfilter y", "t:6:1", "stands before nesting" },
		{ "nesting x\nnesting y", "t:6:1", "is said twice" },
		{ "nesting", "t:5:1", "has the wrong number of words" },
		{ "network loop", "t:5:9", "is neither denied nor isolated" },
		{ "wall 5x", "t:5:6", "is not a duration like 300s" },
		{ "wall 0", "t:5:6", "is not a duration like 300s" },
		{ "  tmpfs 0 5", "t:5:9", "is not a size like 1G" },
		{ "tmpfs 1M 0", "t:5:10", "is not a number of inodes" },
		{ "stdin maybe", "t:5:7", "is neither inherit nor null" },
		{ "git maybe", "t:5:5",
		    "is neither none, minimal nor worktree" },
		{ "git none none", "t:5:1", "has the wrong number of words" },
		{ "private tmp 700", "t:5:9",
		    "is neither an absolute path nor home" },
		{ "private /tmp 9", "t:5:14", "is not an octal mode" },
		{ "private /tmp 7777", "t:5:14", "is not an octal mode" },
		{ "system usr", "t:5:8", "is not an absolute path" },
		{ "system", "t:5:1", "wants a list" },
		{ "etc ../shadow", "t:5:5", "is not a relative path" },
		{ "etc /shadow", "t:5:5", "is not a relative path" },
		{ "cover a\tb # c\nmask /x", "t:6:6",
		    "is not a relative path" },
		{ "root-mask ../kcore", "t:5:11", "is not a relative path" },
		{ "lower ../x 1", "t:5:7", "is not a name below /proc/sys" },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_profile profile;
		char text[512];

		snprintf(text, sizeof text, "%s%s\n", good, rows[i].line);
		assert_row(nsrun_profile_parse(&profile, "t", text, &err) < 0,
		    rows[i].line);
		assert_string_equal(err.subject, rows[i].where);
		assert_string_equal(err.call, rows[i].rule);
	}
}

static void
test_profile_incomplete(void **state)
{
	static const char *const rows[] = {
		"", "filter f\nnetwork denied\ntmpfs 1M 10\n",
		"profile x\nnetwork denied\ntmpfs 1M 10\n",
		"profile x\nfilter f\ntmpfs 1M 10\n",
		"profile x\nfilter f\nnetwork denied\n",
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_profile profile;

		assert_row(nsrun_profile_parse(&profile, "t", rows[i], &err) <
		    0, rows[i]);
	}
}

/* The release's own profiles parse, and say what they must. */
static void
test_embedded_profiles(void **state)
{
	const struct nsrun_policy_text *texts;
	size_t n = nsrun_policy_texts(&texts), profiles = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_profile profile;

		if (strcmp(texts[i].kind, "profile"))
			continue;
		profiles++;
		assert_row(nsrun_profile_parse(&profile, texts[i].name,
		    texts[i].text, &err) == 0, texts[i].name);
		assert_string_equal(profile.name, texts[i].name);
		/* core_pattern pipes run at 0 too, but not at 1. */
		assert_row(profile.limits[NSRUN_LIMIT_CORE].set &&
		    profile.limits[NSRUN_LIMIT_CORE].value == 1,
		    texts[i].name);
		assert_row(profile.limits[NSRUN_LIMIT_PROCESSES].set,
		    texts[i].name);
		/* Of the project: no profile of ours leaves it all open. */
		assert_row(profile.git == (strncmp(texts[i].name, "git", 3) ?
		    NSRUN_GIT_MINIMAL : NSRUN_GIT_WORKTREE) &&
		    profile.control.n == 2 && profile.scan.entries > 0,
		    texts[i].name);
		nsrun_profile_deinit(&profile);
	}
	assert_int_equal(profiles, 9);
}

static void
test_requests(void **state)
{
	static const struct {
		const char *name, *value;
		int rc;
	} rows[] = {
		{ "project", "/x", 0 }, { "project", "", -1 },
		{ "project", NULL, -1 }, { "bogus", "x", -1 },
		{ "as", "keep", 0 }, { "as", "owner", 0 },
		{ "as", "1000:1000", 0 }, { "as", "0:0", -1 },
		{ "as", "1000:0", -1 }, { "as", "1000", -1 },
		{ "as", ":", -1 }, { "as", "4294967295:1", -1 },
		{ "as", "1:-1", -1 }, { "network", "isolated", 0 },
		{ "network", "host", -1 }, { "stdin", "null", 0 },
		{ "stdin", "tty", -1 }, { "limit", "cpu=10", 0 },
		{ "limit", "cpu=1m", 0 }, { "limit", "cpu", -1 },
		{ "limit", "=1", -1 }, { "limit", "cpu=", -1 },
		{ "limit", "files=1s", -1 }, { "limit", "data=1G", 0 },
		{ "limit", "data=99999999999G", -1 },
		{ "timeout", "none", 0 }, { "timeout", "0", -1 },
		{ "max-output", "0", -1 }, { "max-output", "64K", 0 },
		{ "env", "FOO=", 0 }, { "env", "FOO", 0 },
		{ "env", "=x", -1 }, { "env", "PATH=/x", -1 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_request *r = nsrun_request_new();

		assert_row(nsrun_request_set(r, rows[i].name, rows[i].value,
		    &err) == rows[i].rc, rows[i].value ? rows[i].value : "-");
		nsrun_request_free(r);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broad_roots),
		cmocka_unit_test(test_mountinfo),
		cmocka_unit_test(test_grants),
		cmocka_unit_test(test_name_classes),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_profile_errors),
		cmocka_unit_test(test_profile_incomplete),
		cmocka_unit_test(test_embedded_profiles),
		cmocka_unit_test(test_requests),
	};

	return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
