/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "host/gitargs.h"
#include "host/gitconfig.h"
#include "host/gitindex.h"
#include "host/profile.h"

/* Each setting as "section|sub|key|value;", "-" for none. */
static void
join(void *to, const char *section, const char *sub, const char *key,
    const char *value)
{
	char *text = to;
	size_t n = strlen(text);

	snprintf(text + n, 1024 - n, "%s|%s|%s|%s;", section, sub ? sub : "-",
	    key, value ? value : "-");
}

static void
test_config(void **state)
{
	static const struct {
		const char *text, *want;	/* NULL: malformed in `line` */
		int line;
	} rows[] = {
		{ "", "", 0 },
		{ "# a\n; b\n\n", "", 0 },
		{ "[core]\n\tbare = false\n", "core|-|bare|false;", 0 },
		{ "\xef\xbb\xbf[Core]BARE=1", "core|-|bare|1;", 0 },
		{ "[a \"B c\\\"d\\\\\"]\nk=v", "a|B c\"d\\|k|v;", 0 },
		{ "[a.B]\nk=v", "a|b|k|v;", 0 },
		{ "[a]\nk\n", "a|-|k|-;", 0 },
		{ "[a]\nk # x\nl;y\n", "a|-|k|-;a|-|l|-;", 0 },
		{ "[a]\nk =\n", "a|-|k|;", 0 },
		{ "[a]\r\nk = v\r\n", "a|-|k|v;", 0 },
		{ "[a]\nk =  v w  # x\n", "a|-|k|v w;", 0 },
		{ "[a]\nk = \" v # w \" x\n", "a|-|k| v # w  x;", 0 },
		{ "[a]\nk = a\\\n  b\nl=c", "a|-|k|a  b;a|-|l|c;", 0 },
		{ "[a]\nk = \\\"\\\\\\t.\n", "a|-|k|\"\\\t.;", 0 },
		{ "[a] k = v [b] x\n", "a|-|k|v [b] x;", 0 },
		{ "k = v\n", NULL, 1 },
		{ "[a\nk = v\n", NULL, 1 },
		{ "[]\n", NULL, 1 },
		{ "[a \"b\n\"]\n", NULL, 1 },
		{ "[a]\nk = \"v\n", NULL, 2 },
		{ "[a]\nk = \\x\n", NULL, 2 },
		{ "[a]\nk = v\\", NULL, 2 },
		{ "[a]\n1k = v\n", NULL, 2 },
		{ "[a]\nk_l = v\n", NULL, 2 },
		{ "[a \"b\"", NULL, 1 },
		{ "[a \"b\\", NULL, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		char got[1024] = "";

		assert_row(nsrun_gitconfig_parse(rows[i].text, join, got) ==
		    rows[i].line, rows[i].text);
		if (rows[i].want)
			assert_string_equal(got, rows[i].want);
	}
}

/* An index of n entries of that version, made by hand; returns its size. */
static size_t
make_index(unsigned char *p, unsigned int version, size_t hash_size,
    const char *const names[], const bool links[], size_t n)
{
	size_t at = 12;

	memset(p, 0, 4096);
	memcpy(p, "DIRC", 4);
	p[7] = (unsigned char)version;
	p[11] = (unsigned char)n;
	for (size_t i = 0; i < n; i++) {
		size_t start = at, len = strlen(names[i]);

		p[at + 26] = links[i] ? 0xe0 : 0x81;
		at += 40 + hash_size;
		p[at + 1] = (unsigned char)len;
		at += 2;
		/* Version 4 with nothing in common. */
		if (version == 4)
			p[at++] = i ? (unsigned char)strlen(names[i - 1]) : 0;
		memcpy(p + at, names[i], len);
		at += len + 1;
		if (version < 4)
			at = start + ((at - 1 - start + 8) & ~(size_t)7);
	}
	return at + hash_size;
}

static int
collect(void *to, const char *path)
{
	strcat(to, path);
	strcat(to, ";");
	return strcmp(path, "stop") ? 0 : -1;
}

/* What replaces an entry of the shared index has no name: no link may. */
static void
test_split_index(unsigned char *index)
{
	static const char *const names[] = { "", "", "z" };

	for (unsigned int version = 2; version <= 4; version++)
		for (int link = 0; link < 2; link++) {
			const bool links[] = { false, link, true };
			size_t n = make_index(index, version, 20, names,
			    links, 3);
			char got[256] = "";

			assert_int_equal(nsrun_gitindex_links(index, n, 20,
			    collect, got), link);
			assert_string_equal(got, link ? "" : "z;");
		}
}

static void
test_index(void **state)
{
	static const char *const names[] = { "a", "b/emb", "long-name", "z" };
	static const bool links[] = { false, true, false, true };
	unsigned char index[4096];

	(void)state;
	for (unsigned int version = 2; version <= 4; version++)
		for (size_t hash = 20; hash <= 32; hash += 12) {
			size_t n = make_index(index, version, hash, names,
			    links, 4);
			char got[256] = "";

			assert_int_equal(nsrun_gitindex_links(index, n, hash,
			    collect, got), 0);
			assert_string_equal(got, "b/emb;z;");
			/* Cut anywhere, it is none, and nothing is called. */
			for (size_t cut = 0; cut + hash < n; cut++) {
				got[0] = '\0';
				assert_int_equal(nsrun_gitindex_links(index,
				    cut, hash, collect, got), 1);
				assert_string_equal(got, "");
			}
		}
	index[7] = 5;
	assert_int_equal(nsrun_gitindex_links(index, sizeof index, 20, collect,
	    NULL), 1);
	test_split_index(index);
}

static void
test_args(void **state)
{
	static const struct {
		const char *argv[5];
		int rc;
		bool writes, shell;
	} rows[] = {
		{ { "git", "status" }, 0, false, false },
		{ { "git", "stash" }, 0, true, false },
		{ { "git", "stash", "list" }, 0, false, false },
		{ { "git", "fetch", "x" }, 0, true, true },
		{ { "git", "worktree", "list" }, 0, false, false },
		{ { "git", "worktree", "add", "x" }, 0, true, false },
		{ { "git", "commit", "-m", "--output=x" }, -1, true, false },
		{ { "git", "add", "--", "--output=x" }, 0, true, false },
		{ { "git", "worktree", "add", "a/.Git/x" }, -1, true, false },
		{ { "git", "worktree", "prune" }, -1, true, false },
		{ { "git", "worktree" }, -1, true, false },
		{ { "git", "fetch", "--upload-pack", "x" }, -1, true, true },
		{ { "git" }, -1, false, false },
		{ { "sh", "status" }, -1, false, false },
		{ { "/usr/bin/git", "status" }, 0, false, false },
		{ { "/tmp/git", "status" }, -1, false, false },
		{ { "git", "-c", "a=b", "status" }, -1, false, false },
		{ { "git", "-c", "diff.external=", "status" }, 0, false,
		    false },
		{ { "git", "-c", "diff.external=x", "status" }, -1, false,
		    false },
		{ { "git", "-c", "core.pager=cat" }, -1, false, false },
		{ { "git", "-c", "core.pager=cat", "fetch" }, 0, true, true },
		{ { "git", "config", "-l" }, -1, false, false },
		{ { "git", "statusx" }, -1, false, false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_gitargs args;
		char *argv[5];

		memcpy(argv, rows[i].argv, sizeof argv);
		assert_row(nsrun_gitargs_check(&args, argv, &err) ==
		    rows[i].rc, argv[1] ? argv[1] : argv[0]);
		assert_row(args.writes == rows[i].writes, argv[0]);
		assert_row(args.needs_shell == rows[i].shell, argv[0]);
	}
}

static void
test_word(void **state)
{
	static const char *const words[] = { "none", "minimal", "worktree" };

	(void)state;
	for (size_t i = 0; i < N_ROWS(words); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_profile profile;
		char text[128];

		snprintf(text, sizeof text, "profile x\nfilter f\n"
		    "network denied\ntmpfs 1M 10\ngit %s\n", words[i]);
		assert_int_equal(nsrun_profile_parse(&profile, "t", text,
		    &err), 0);
		assert_int_equal(profile.git, NSRUN_GIT_NONE + (int)i);
		nsrun_profile_deinit(&profile);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_word),
	};

	return cmocka_run_group_tests_name("git", tests, NULL, NULL);
}
