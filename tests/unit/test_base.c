/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/err_print.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/path.h"

static void
test_path_clean(void **state)
{
	static const struct {
		const char *path;
		bool clean;
	} rows[] = {
		{ "/", true }, { "/a", true }, { "/a/b", true },
		{ "/a/.b", true }, { "/a/..b", true }, { "/a/...", true },
		{ "/\377", true }, { "", false }, { "a", false },
		{ "//", false }, { "/a/", false }, { "/a//b", false },
		{ "/.", false }, { "/a/.", false }, { "/..", false },
		{ "/a/../b", false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++)
		assert_row(nsrun_path_is_clean(rows[i].path) == rows[i].clean,
		    rows[i].path);
}

static void
test_path_within(void **state)
{
	static const struct {
		const char *path, *root;
		bool within;
	} rows[] = {
		{ "/a", "/a", true }, { "/a/b", "/a", true },
		{ "/ab", "/a", false }, { "/a", "/a/b", false },
		{ "/a", "/", true }, { "/", "/", true }, { "/", "/a", false },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++)
		assert_row(nsrun_path_is_within(rows[i].path, rows[i].root) ==
		    rows[i].within, rows[i].path);
}

static void
test_compare(void **state)
{
	/* As a tree is listed. */
	static const char *const rows[] = {
		"/", "/a", "/a/b", "/a/b/c", "/a/b-c", "/a-b", "/a-b/c", "/ab",
		"/b", "/\303\244",
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++)
		for (size_t k = 0; k < N_ROWS(rows); k++) {
			int order = nsrun_path_compare(rows[i], rows[k]);

			assert_row((order > 0) - (order < 0) ==
			    (i > k) - (i < k), rows[i]);
		}
}

static void
test_sizes(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 }, { "1", 0, 1 }, { "1K", 0, 1024 },
		{ "16M", 0, 16 << 20 }, { "4G", 0, UINT64_C(4) << 30 },
		{ "1T", 0, UINT64_C(1) << 40 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -1, 0 }, { "17179869184G", -1, 0 },
		{ "", -1, 0 }, { "-1", -1, 0 }, { "+1", -1, 0 },
		{ " 1", -1, 0 }, { "1 ", -1, 0 }, { "1k", -1, 0 },
		{ "1KB", -1, 0 }, { "K", -1, 0 }, { "0x10", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		uint64_t value = 0;

		assert_row(nsrun_size_parse(rows[i].text, &value) == rows[i].rc,
		    rows[i].text);
		assert_row(rows[i].rc < 0 || value == rows[i].value,
		    rows[i].text);
	}
}

static void
test_durations(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t ms;
	} rows[] = {
		{ "1", 0, 1000 }, { "1s", 0, 1000 }, { "500ms", 0, 500 },
		{ "1.5s", 0, 1500 }, { "0.25", 0, 250 }, { "2m", 0, 120000 },
		{ "1.5m", 0, 90000 }, { "1h", 0, 3600000 },
		{ "1.0000001s", -1, 0 }, { "1.", -1, 0 }, { ".5", -1, 0 },
		{ "", -1, 0 }, { "s", -1, 0 }, { "1d", -1, 0 },
		{ "-1s", -1, 0 }, { "99999999999999999999s", -1, 0 },
		{ "9999999999999h", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		uint64_t ms = 0;

		assert_row(nsrun_duration_parse(rows[i].text, &ms) ==
		    rows[i].rc, rows[i].text);
		assert_row(rows[i].rc < 0 || ms == rows[i].ms, rows[i].text);
	}
}

static void
test_number_texts(void **state)
{
	char buf[24];

	(void)state;
	assert_string_equal(nsrun_size_text(16 << 20, buf), "16M");
	assert_string_equal(nsrun_size_text(1023, buf), "1023");
	assert_string_equal(nsrun_size_text(0, buf), "0");
	assert_string_equal(nsrun_duration_text(300000, buf), "300s");
	assert_string_equal(nsrun_duration_text(1500, buf), "1500ms");
}

/* Valid UTF-8 as it is, anything else as the lone surrogate of its byte. */
static void
test_json_strings(void **state)
{
	static const struct {
		const char *value, *want;
	} rows[] = {
		{ "plain", "\"plain\"" }, { "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "\n\t\x7f", "\"\\u000a\\u0009\\u007f\"" },
		{ "h\xc3\xa9", "\"h\xc3\xa9\"" },
		{ "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"" },
		{ "\xff", "\"\\udcff\"" }, { "\xc3", "\"\\udcc3\"" },
		{ "\xc0\x80", "\"\\udcc0\\udc80\"" },
		{ "\xed\xa0\x80", "\"\\udced\\udca0\\udc80\"" },
		{ "\xf5\x80\x80\x80", "\"\\udcf5\\udc80\\udc80\\udc80\"" },
	};

	(void)state;
	for (size_t i = 0; i < N_ROWS(rows); i++) {
		char *text;
		size_t size;
		struct nsrun_json j = { .out = open_memstream(&text, &size) };

		nsrun_json_string(&j, NULL, rows[i].value);
		fclose(j.out);
		assert_string_equal(text, rows[i].want);
		free(text);
	}
}

static void
test_json_nesting(void **state)
{
	char *text;
	size_t size;
	struct nsrun_json j = { .out = open_memstream(&text, &size) };

	(void)state;
	nsrun_json_open(&j, NULL, '{');
	nsrun_json_open(&j, "a", '[');
	nsrun_json_number(&j, NULL, 1);
	nsrun_json_bool(&j, NULL, true);
	nsrun_json_string(&j, NULL, NULL);
	nsrun_json_close(&j, ']');
	nsrun_json_open(&j, "b", '{');
	nsrun_json_close(&j, '}');
	nsrun_json_close(&j, '}');
	fclose(j.out);
	assert_string_equal(text, "{\"a\": [1, true, null], \"b\": {}}");
	free(text);
}

static void
test_err(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char name[1000];

	(void)state;
	errno = EACCES;
	assert_int_equal(nsrun_err_sys(&err, NSRUN_STEP_MOUNT, "open_tree",
	    "/a", "/b"), -1);
	assert_int_equal(err.errnum, EACCES);
	assert_string_equal(err.subject, "/a -> /b");
	/* The first failure is the one kept. */
	nsrun_err_rule(&err, NSRUN_STEP_PLAN, "later", NULL, NULL);
	assert_int_equal(err.step, NSRUN_STEP_MOUNT);
	/* A long subject is cut, not overrun. */
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	nsrun_err_rule(&err, NSRUN_STEP_PLAN, name, name, name);
	assert_int_equal(strlen(err.subject), sizeof err.subject - 1);
	assert_int_equal(strlen(err.call), sizeof err.call - 1);
	for (int i = 0; i < NSRUN_N_STEPS; i++)
		assert_non_null(nsrun_step_name((enum nsrun_step)i));
	for (int i = 1; i < 200; i++) {
		const char *name_of = strerrorname_np(i);

		assert_string_equal(nsrun_errno_name(i), name_of ? name_of :
		    "?");
		assert_string_equal(nsrun_errno_text(i), name_of ?
		    strerrordesc_np(i) : "Unknown error");
	}
	assert_string_equal(nsrun_errno_name(-1), "?");
	assert_null(nsrun_errno_name(0));
}

/* What a name holds never drives a terminal. */
static void
test_err_print(void **state)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char buf[512];
	int ends[2];
	ssize_t n;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	nsrun_err_rule(&err, NSRUN_STEP_PROJECT, "is bad", "/a\033[2J\nb",
	    NULL);
	nsrun_err_print(ends[1], "prog", &err);
	n = read(ends[0], buf, sizeof buf - 1);
	assert_true(n > 0);
	buf[n] = '\0';
	assert_string_equal(buf, "prog: project /a?[2J?b: is bad\n");
	close(ends[0]);
	close(ends[1]);
}

static void
test_arena(void **state)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	int *v = NULL;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		v = nsrun_arena_grow(&arena, v, (size_t)i, sizeof *v);
		assert_non_null(v);
		v[i] = i;
	}
	for (int i = 0; i < 5000; i++)
		assert_int_equal(v[i], i);
	assert_null(nsrun_arena_alloc(&arena, SIZE_MAX - 1));
	assert_null(nsrun_arena_grow(&arena, v, SIZE_MAX / 2 + 1, 8));
	assert_string_equal(nsrun_arena_printf(&arena, "%s-%d", "a", 7), "a-7");
	nsrun_arena_deinit(&arena);
	assert_null(arena.chunks);
}

static void
test_fds(void **state)
{
	int low = 0, keep[2], a, b, c, pair[2];

	(void)state;
	assert_int_equal(nsrun_fd_raise(&(int){ -1 }), 0);
	low = dup(0);
	assert_int_equal(nsrun_fd_raise(&low), 0);
	assert_true(low > 2);
	a = nsrun_fd_take(&low);
	assert_int_equal(low, -1);
	b = fcntl(a, F_DUPFD, 100);
	c = fcntl(a, F_DUPFD, 200);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_true(nsrun_fd_is_socket(pair[0]));
	assert_false(nsrun_fd_is_socket(-1));
	/* Everything else goes, also between and above what is kept. */
	keep[0] = a < b ? a : b;
	keep[1] = a < b ? b : a;
	assert_int_equal(nsrun_fd_close_others(keep, 2), 0);
	assert_true(fcntl(a, F_GETFD) >= 0 && fcntl(b, F_GETFD) >= 0);
	assert_int_equal(fcntl(c, F_GETFD), -1);
	assert_int_equal(fcntl(pair[0], F_GETFD), -1);
	nsrun_fd_close(&a);
	nsrun_fd_close(&b);
}

static void
test_files(void **state)
{
	char *text = nsrun_file_read("/proc/self/comm", 100);

	(void)state;
	assert_non_null(text);
	free(text);
	errno = 0;
	assert_null(nsrun_file_read("/proc/self/status", 10));
	assert_int_equal(errno, EFBIG);
	assert_null(nsrun_file_read("/nonexistent", 10));
	assert_true(nsrun_file_number("/proc/sys/kernel/pid_max") > 0);
	assert_int_equal(nsrun_file_number("/proc/self/comm"), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_clean),
		cmocka_unit_test(test_path_within),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_number_texts),
		cmocka_unit_test(test_json_strings),
		cmocka_unit_test(test_json_nesting),
		cmocka_unit_test(test_err),
		cmocka_unit_test(test_err_print),
		cmocka_unit_test(test_arena),
		cmocka_unit_test(test_fds),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
