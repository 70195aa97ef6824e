/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/fd.h"
#include "base/tree.h"
#include "host/store.h"

static char work[PATH_MAX];

static const char *
at(const char *name)
{
	static char paths[4][PATH_MAX + 160];
	static unsigned int n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof *paths, "%s/%s", work, name);
	return path;
}

static void
touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool
is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int
set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char name[PATH_MAX];

	(void)state;
	snprintf(name, sizeof name, "%s/nsrun-store.XXXXXX", tmp ? tmp :
	    "/tmp");
	return mkdtemp(name) && realpath(name, work) ? 0 : -1;
}

static int
tear_down(void **state)
{
	int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	if (fd < 0 || nsrun_tree_empty(fd) < 0)
		return -1;
	close(fd);
	return rmdir(work);
}

static void
open_store(struct nsrun_store *store, const char *name)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_store_open(store, at(name), &err) < 0)
		fail_msg("%s: %s", err.subject, err.call);
}

static void
hold(struct nsrun_store_item *item, const struct nsrun_store *store,
    const char *name, unsigned int use)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_store_hold(item, store, "home", name, use, &err) < 0)
		fail_msg("%s: %s", err.subject, err.call);
}

static void
test_names(void **state)
{
	static const struct {
		const char *name;
		bool good;
	} rows[] = {
		{ "a", true }, { "key-1", true }, { "A.b_c", true },
		{ "_x", true }, { "0", true },
		{ "0123456789012345678901234567890123456789012345678901234567"
		    "890123", true },
		{ "0123456789012345678901234567890123456789012345678901234567"
		    "8901234", false },
		{ "", false }, { ".", false }, { "..", false }, { ".a", false },
		{ "-a", false }, { "a/b", false }, { "/", false },
		{ "../x", false }, { "a b", false }, { "a\n", false },
		{ "\303\244", false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		assert_row((nsrun_store_check_name(rows[i].name, &err) == 0) ==
		    rows[i].good, rows[i].name);
		assert_row(rows[i].good || err.step == NSRUN_STEP_OPTION,
		    rows[i].name);
	}
}

/* What may not become the state directory, and why. */
static void
test_open(void **state)
{
	struct nsrun_store store;
	struct stat st;
	mode_t mask = umask(0);

	(void)state;
	open_store(&store, "a/b/state");
	assert_int_equal(stat(at("a/b/state"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(at("a/b"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_string_equal(store.path, at("a/b/state"));
	nsrun_store_close(&store);
	open_store(&store, "a/b/state//");
	assert_string_equal(store.path, at("a/b/state"));
	nsrun_store_close(&store);
	umask(mask);

	assert_int_equal(symlink("a/b/state", at("link")), 0);
	touch(at("file"));
	assert_int_equal(mkdir(at("open"), 0755), 0);
	static const struct {
		const char *name, *rule;
		int errnum;
	} rows[] = {
		{ "link", "open", ENOTDIR },
		{ "file", "open", ENOTDIR },
		{ "file/x", "mkdir", ENOTDIR },
		{ "open", "is open to others: chmod 700 it", 0 },
	};
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;

		assert_row(nsrun_store_open(&store, at(rows[i].name), &err) < 0,
		    rows[i].name);
		assert_row(!strcmp(err.call, rows[i].rule), rows[i].name);
		assert_row(err.errnum == rows[i].errnum, rows[i].name);
		assert_row(store.fd == -1, rows[i].name);
	}
	struct nsrun_err err = NSRUN_ERR_INIT;

	assert_int_equal(nsrun_store_open(&store, "relative", &err), -1);
	assert_string_equal(err.call, "is no absolute path");
}

static void
test_default(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store store;

	(void)state;
	if (geteuid() == 0)
		skip();		/* would make /var/lib/oc-nsrun */
	setenv("HOME", at("h"), 1);
	unsetenv("XDG_STATE_HOME");
	assert_int_equal(nsrun_store_open(&store, NULL, &err), 0);
	assert_string_equal(store.path, at("h/.local/state/oc-nsrun"));
	nsrun_store_close(&store);
	setenv("XDG_STATE_HOME", "relative", 1);
	assert_int_equal(nsrun_store_open(&store, NULL, &err), 0);
	assert_string_equal(store.path, at("h/.local/state/oc-nsrun"));
	nsrun_store_close(&store);
	setenv("XDG_STATE_HOME", at("x"), 1);
	assert_int_equal(nsrun_store_open(&store, NULL, &err), 0);
	assert_string_equal(store.path, at("x/oc-nsrun"));
	nsrun_store_close(&store);
	unsetenv("XDG_STATE_HOME");
}

static void
test_locks(void **state)
{
	struct nsrun_store_item a, b, c;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store store;

	(void)state;
	open_store(&store, "locks");
	hold(&a, &store, "x", NSRUN_STORE_MAKE);
	hold(&b, &store, "x", 0);
	assert_string_equal(a.path, at("locks/home/x"));
	assert_int_equal(nsrun_store_hold(&c, &store, "home", "x",
	    NSRUN_STORE_ALONE, &err), -1);
	assert_string_equal(err.call, "lock");
	assert_int_equal(err.errnum, EWOULDBLOCK);
	assert_int_equal(c.fd, -1);
	assert_int_equal(nsrun_store_release(&a, &err), 0);
	assert_int_equal(nsrun_store_release(&b, &err), 0);
	assert_int_equal(nsrun_store_release(&b, &err), 0);
	hold(&c, &store, "x", NSRUN_STORE_ALONE);
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_int_equal(nsrun_store_hold(&a, &store, "home", "x",
	    NSRUN_STORE_MAKE, &err), -1);
	assert_int_equal(err.errnum, EWOULDBLOCK);
	assert_int_equal(nsrun_store_remove(&c, &err), 0);
	assert_false(is_there(at("locks/home/x")));
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_int_equal(nsrun_store_hold(&c, &store, "home", "x", 0, &err),
	    -1);
	assert_int_equal(err.errnum, ENOENT);
	nsrun_store_close(&store);
}

/* A tree that its maker closed, deep, with links that lead outside. */
static void
fill(const char *dir)
{
	char path[PATH_MAX], *s = path + snprintf(path, sizeof path, "%s/t",
	    dir);

	for (int i = 0; i < 40; i++) {
		assert_int_equal(mkdir(path, 0700), 0);
		s += snprintf(s, sizeof path - (size_t)(s - path), "/%d", i);
	}
	snprintf(path, sizeof path, "%s/link", dir);
	assert_int_equal(symlink(at("precious"), path), 0);
	snprintf(path, sizeof path, "%s/t/file", dir);
	touch(path);
	snprintf(path, sizeof path, "%s/t", dir);
	assert_int_equal(chmod(path, 0), 0);
}

static void
test_removal(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store_item item;
	struct nsrun_store store;
	struct stat st;

	(void)state;
	mkdir(at("precious"), 0700);
	touch(at("precious/file"));
	open_store(&store, "removal");
	hold(&item, &store, "x", NSRUN_STORE_MAKE | NSRUN_STORE_ALONE);
	assert_int_equal(nsrun_store_make_part(&item, "home", geteuid(),
	    getegid(), &err), 0);
	assert_int_equal(stat(at("removal/home/x/home"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	fill(at("removal/home/x/home"));
	assert_int_equal(nsrun_store_remove(&item, &err), 0);
	assert_false(is_there(at("removal/home/x")));
	assert_true(is_there(at("precious/file")));

	/* Moved away, and a link put there: neither is touched. */
	hold(&item, &store, "x", NSRUN_STORE_MAKE | NSRUN_STORE_ALONE);
	assert_int_equal(rename(at("removal/home/x"), at("removal/home/y")), 0);
	assert_int_equal(symlink(at("precious"), at("removal/home/x")), 0);
	assert_int_equal(nsrun_store_remove(&item, &err), -1);
	assert_string_equal(err.call, "was replaced since it was made, and what"
	    " stands there is left alone");
	assert_true(is_there(at("removal/home/y")));
	assert_true(is_there(at("precious/file")));
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_int_equal(nsrun_store_hold(&item, &store, "home", "x",
	    NSRUN_STORE_MAKE, &err), -1);
	assert_int_equal(err.errnum, ENOTDIR);
	nsrun_store_close(&store);
}

static void
test_part_of_another(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store_item item;
	struct nsrun_store store;

	(void)state;
	if (geteuid() != 0)
		skip();
	open_store(&store, "others");
	hold(&item, &store, "x", NSRUN_STORE_MAKE);
	assert_int_equal(nsrun_store_make_part(&item, "home", 1234, 1234, &err),
	    0);
	assert_int_equal(nsrun_store_make_part(&item, "home", 1234, 1234, &err),
	    0);
	assert_int_equal(nsrun_store_make_part(&item, "home", 4321, 4321, &err),
	    -1);
	assert_int_equal(nsrun_store_release(&item, &err), 0);
	nsrun_store_close(&store);
}

/* One that was killed leaves an item: the next one finds and removes it. */
static void
test_sweep(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store_item item, left;
	struct nsrun_words names = { 0 };
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_store store;
	char path[sizeof left.path];
	int status, fds[2];
	pid_t pid;

	(void)state;
	open_store(&store, "sweep");
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (nsrun_store_hold(&left, &store, "home", NULL, 0, &err) == 0)
			fill(left.path);
		if (write(fds[1], left.path, sizeof left.path) < 0)
			_exit(1);
		pause();
		_exit(1);
	}
	assert_int_equal(read(fds[0], path, sizeof path), sizeof path);
	close(fds[0]);
	close(fds[1]);
	/* Held: not ours to remove. */
	hold(&item, &store, NULL, 0);
	assert_true(is_there(path));
	assert_true(is_there(item.path));
	assert_int_equal(nsrun_store_list(&store, "home", &arena, &names, &err),
	    0);
	assert_int_equal(names.n, 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(is_there(path));
	assert_int_equal(nsrun_store_release(&item, &err), 0);
	assert_false(is_there(item.path));
	hold(&item, &store, NULL, 0);
	assert_false(is_there(path));
	assert_int_equal(nsrun_store_release(&item, &err), 0);
	nsrun_arena_deinit(&arena);
	nsrun_store_close(&store);
}

static void
test_list(void **state)
{
	static const char *const given[] = { "b", "a", "c.1" };
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_store_item item;
	struct nsrun_words names = { 0 };
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_store store;

	(void)state;
	open_store(&store, "list");
	for (size_t i = 0; i < N_ROWS(given); i++) {
		hold(&item, &store, given[i], NSRUN_STORE_MAKE);
		assert_int_equal(nsrun_store_release(&item, &err), 0);
	}
	assert_int_equal(nsrun_store_list(&store, "home", &arena, &names, &err),
	    0);
	assert_int_equal(names.n, 3);
	assert_string_equal(names.v[0], "a");
	assert_string_equal(names.v[1], "b");
	assert_string_equal(names.v[2], "c.1");
	nsrun_arena_deinit(&arena);
	nsrun_store_close(&store);
}

/* Makes, holds and removes the same name, and ones without, all the time. */
static int
contend(const struct nsrun_store *store)
{
	for (int i = 0; i < 200; i++) {
		struct nsrun_err err = NSRUN_ERR_INIT;
		struct nsrun_store_item item;
		struct stat st;

		if (nsrun_store_hold(&item, store, "home", NULL, 0, &err) < 0 ||
		    nsrun_store_make_part(&item, "home", geteuid(), getegid(),
		    &err) < 0 || nsrun_store_release(&item, &err) < 0)
			return 1;
		if (nsrun_store_hold(&item, store, "home", "x",
		    NSRUN_STORE_MAKE | (i & 1 ? NSRUN_STORE_ALONE : 0),
		    &err) < 0) {
			if (err.errnum != EWOULDBLOCK)
				return 2;
			continue;
		}
		/* As long as it is held, it is what the name means. */
		if (nsrun_store_make_part(&item, "home", geteuid(), getegid(),
		    &err) < 0 || stat(item.path, &st) < 0)
			return 3;
		if ((i & 1 ? nsrun_store_remove(&item, &err) :
		    nsrun_store_release(&item, &err)) < 0)
			return 4;
	}
	return 0;
}

static void
test_concurrency(void **state)
{
	enum { N = 8 };
	struct nsrun_store store;
	pid_t pids[N];
	int status;

	(void)state;
	open_store(&store, "many");
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(contend(&store));
	}
	for (int i = 0; i < N; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	nsrun_store_close(&store);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_removal),
		cmocka_unit_test(test_part_of_another),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_concurrency),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
