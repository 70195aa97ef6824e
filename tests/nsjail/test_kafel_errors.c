/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Malformed policies: each is refused, at the right place and with words. */
#include <linux/audit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kafel.h"

struct row {
	const char	*policy;
	const char	*place;
	const char	*words;
};

static const struct row lexer_rows[] = {
	{ "ALLOW { read }\r\n", "p:1:15",
	    "a byte that is not printable ASCII" },
	{ "ALLOW { \xc3\xa9 }", "p:1:9", "a byte that is not printable ASCII" },
	{ "ALLOW { read };", "p:1:15", "unexpected: ;" },
	{ "ALLOW { _sysctl }", "p:1:9", "unexpected: _" },
	{ "ALLOW { read { fd = 1 } }", "p:1:19", "unexpected: =" },
	{ "ALLOW { read { fd ^ 1 == 1 } }", "p:1:19", "unexpected: ^" },
	{ "ALLOW { read { fd == -0 } }", "p:1:22", "unexpected: -" },
	{ "ALLOW { read { fd == ~1 } }", "p:1:22", "unexpected: ~" },
	{ "/ ALLOW { read }", "p:1:1", "unexpected: /" },
	{ "ALLOW { read }\n /* oops", "p:2:2", "a comment that does not end" },
	{ "ALLOW { read } /*/", "p:1:16", "a comment that does not end" },
	{ "/** x **/ ALLOW { read } /* y */", "p:1:7",
	    "Kafel does not end a comment here: **/" },
	{ "/***/ ALLOW { read }", "p:1:3",
	    "Kafel does not end a comment here: **/" },
	{ "#define a 0x", "p:1:11", "a number without digits: 0x" },
	{ "#define a 0b", "p:1:11", "a number without digits: 0b" },
	{ "#define a 0b2", "p:1:11", "not a number: 0b2" },
	{ "#define a 08", "p:1:11", "not a number: 08" },
	{ "#define a 12a", "p:1:11", "not a number: 12a" },
	{ "#define a 0X1", "p:1:11", "not a number: 0X1" },
	{ "#define a 1_", "p:1:11", "not a number: 1_" },
	{ "#define a 18446744073709551616", "p:1:11",
	    "a number of more than 64 bits: 18446744073709551616" },
	{ "#define a 0x10000000000000000", "p:1:11",
	    "a number of more than 64 bits: 0x10000000000000000" },
	{ "#define a 02000000000000000000000", "p:1:11",
	    "a number of more than 64 bits: 02000000000000000000000" },
	{ "#define a -9223372036854775809", "p:1:11",
	    "a number of more than 64 bits: -9223372036854775809" },
};

static const struct row program_rows[] = {
	{ "", "p:1:1", "expected an action or USE, not the end" },
	{ " // nothing\n", "p:2:1", "expected an action or USE, not the end" },
	{ "read", "p:1:1", "expected an action or USE, not \"read\"" },
	{ "allow { read }", "p:1:1",
	    "expected an action or USE, not \"allow\"" },
	{ "ALLOW { read },", "p:1:16",
	    "expected an action or USE, not the end" },
	{ "ALLOW { read }, DEFAULT KILL", "p:1:17",
	    "expected an action or USE, not \"DEFAULT\"" },
	{ "ALLOW read", "p:1:7", "expected \"{\", not \"read\"" },
	{ "ALLOW(1) { read }", "p:1:6", "expected \"{\", not \"(\"" },
	{ "ALLOW { read", "p:1:13", "expected \"}\", not the end" },
	{ "ALLOW { read, }", "p:1:15", "expected a system call, not \"}\"" },
	{ "ALLOW { read write }", "p:1:14", "expected \"}\", not \"write\"" },
	{ "ALLOW { read } }", "p:1:16",
	    "expected an action or USE, not \"}\"" },
	{ "ERRNO { read }", "p:1:7", "expected \"(\", not \"{\"" },
	{ "ERRNO() { read }", "p:1:7", "expected a number, not \")\"" },
	{ "#define EPERM 1\nERRNO(EPERM) { read }", "p:2:7",
	    "expected a number, not \"EPERM\"" },
	{ "ERRNO(1 { read }", "p:1:9", "expected \")\", not \"{\"" },
	{ "ERRNO(65536) { read }", "p:1:7", "more than 65535" },
	{ "TRAP(65536) { read }", "p:1:6", "more than 65535" },
	{ "TRACE(-1) { read }", "p:1:7", "more than 65535" },
	{ "DEFAULT", "p:1:8", "expected an action, not the end" },
	{ "DEFAULT { read }", "p:1:9", "expected an action, not \"{\"" },
	{ "DEFAULT ALLOW\nDEFAULT ALLOW", "p:2:1", "a second default" },
	{ "POLICY a { DEFAULT KILL }", "p:1:12",
	    "expected an action or USE, not \"DEFAULT\"" },
	{ "POLICY a { ALLOW { read } DEFAULT KILL }", "p:1:27",
	    "expected \"}\", not \"DEFAULT\"" },
	{ "POLICY a { ALLOW { read } KILL { write } }", "p:1:27",
	    "expected \"}\", not \"KILL\"" },
	{ "POLICY a { #define b 1\n}", "p:1:12",
	    "expected an action or USE, not \"#\"" },
	{ "POLICY { }", "p:1:8", "expected the name of a policy, not \"{\"" },
	{ "POLICY USE { }", "p:1:8",
	    "expected the name of a policy, not \"USE\"" },
	{ "POLICY a", "p:1:9", "expected \"{\", not the end" },
	{ "POLICY a {}\nPOLICY a {}", "p:2:8", "a second policy: a" },
	{ "USE a", "p:1:5", "unknown policy: a" },
	{ "USE a POLICY a {}", "p:1:5", "unknown policy: a" },
	{ "POLICY a { USE a }", "p:1:16", "unknown policy: a" },
	{ "USE", "p:1:4", "expected the name of a policy, not the end" },
	{ "#defin a 1", "p:1:2", "expected \"define\", not \"defin\"" },
	{ "#define", "p:1:8", "expected the name of a constant, not the end" },
	{ "#define define 1", "p:1:9",
	    "expected the name of a constant, not \"define\"" },
	{ "#define a", "p:1:10", "expected a number, not the end" },
	{ "#define a 1\n#define b a", "p:2:11",
	    "expected a number, not \"a\"" },
	{ "#define a 1\n#define a 2", "p:2:9",
	    "another value of the constant: a" },
	{ "#define a 1 2", "p:1:13",
	    "expected an action or USE, not \"2\"" },
};

static const struct row filter_rows[] = {
	{ "ALLOW { 1 }", "p:1:9", "expected a system call, not \"1\"" },
	{ "ALLOW { DENY }", "p:1:9", "expected a system call, not \"DENY\"" },
	{ "ALLOW { reed }", "p:1:9", "unknown system call: reed" },
	{ "POLICY unused { ALLOW {\n reed } }", "p:2:2",
	    "unknown system call: reed" },
	{ "POLICY a { ALLOW { one } } POLICY b { ALLOW { two } }",
	    "p:1:20", "unknown system call: one" },
	{ "ALLOW { read, fstat }", "p:1:15",
	    "unknown system call (Kafel calls it newfstat): fstat" },
	{ "ALLOW { umount2 }", "p:1:9",
	    "unknown system call (Kafel calls it umount): umount2" },
	{ "ALLOW { SYSCALL }", "p:1:17", "expected \"[\", not \"}\"" },
	{ "ALLOW { SYSCALL[] }", "p:1:17", "expected a number, not \"]\"" },
	{ "#define a 1\nALLOW { SYSCALL[a] }", "p:2:17",
	    "expected a number, not \"a\"" },
	{ "ALLOW { SYSCALL[1 }", "p:1:19", "expected \"]\", not \"}\"" },
	{ "ALLOW { SYSCALL[0x100000000] }", "p:1:17",
	    "not the number of a call" },
	{ "ALLOW { SYSCALL[-2147483649] }", "p:1:17",
	    "not the number of a call" },
	{ "#define a 0x100000000\nALLOW { a }", "p:2:9",
	    "not the number of a call" },
	{ "ALLOW { read( }", "p:1:15",
	    "expected the name of an argument, not \"}\"" },
	{ "ALLOW { read(a,) }", "p:1:16",
	    "expected the name of an argument, not \")\"" },
	{ "ALLOW { read(1) }", "p:1:14",
	    "expected the name of an argument, not \"1\"" },
	{ "ALLOW { read(a b) }", "p:1:16", "expected \")\", not \"b\"" },
	{ "ALLOW { read(a, b, a) }", "p:1:20", "a second argument: a" },
	{ "ALLOW { read(a, b, c, d, e, f, g) }", "p:1:32",
	    "more than 6 arguments: g" },
	{ "ALLOW { read ON }", "p:1:17",
	    "expected an architecture, not \"}\"" },
	{ "ALLOW { read ON {} }", "p:1:18",
	    "expected an architecture, not \"}\"" },
	{ "ALLOW { read ON sparc }", "p:1:17", "unknown architecture: sparc" },
	{ "ALLOW { read ON { arm x86 } }", "p:1:23",
	    "expected \"}\", not \"x86\"" },
	{ "ALLOW { read ON arm, ON x86 }", "p:1:22",
	    "expected a system call, not \"ON\"" },
	{ "ALLOW { read { fd == 1 } ON arm }", "p:1:26",
	    "expected \"}\", not \"ON\"" },
};

static const struct row expr_rows[] = {
	{ "ALLOW { read { fd } }", "p:1:19",
	    "expected a comparison, not \"}\"" },
	{ "ALLOW { read { 1 } }", "p:1:18",
	    "expected a comparison, not \"}\"" },
	{ "ALLOW { read { (fd) } }", "p:1:21",
	    "expected a comparison, not \"}\"" },
	{ "ALLOW { read { !fd } }", "p:1:20",
	    "expected a comparison, not \"}\"" },
	{ "ALLOW { read { fd && fd == 1 } }", "p:1:19",
	    "expected a comparison, not \"&&\"" },
	{ "ALLOW { read { fd == 1 && fd } }", "p:1:30",
	    "expected a comparison, not \"}\"" },
	{ "ALLOW { read { fd == 1, } }", "p:1:25",
	    "expected a value, not \"}\"" },
	{ "ALLOW { read { , fd == 1 } }", "p:1:16",
	    "expected a value, not \",\"" },
	{ "ALLOW { read { fd == } }", "p:1:22", "expected a value, not \"}\"" },
	{ "ALLOW { read { == 1 } }", "p:1:16", "expected a value, not \"==\"" },
	{ "ALLOW { read { fd == 1 == 2 } }", "p:1:24",
	    "expected \"}\", not \"==\"" },
	{ "ALLOW { read { (fd == 1) == 2 } }", "p:1:16",
	    "a condition instead of a value" },
	{ "ALLOW { read { 2 == (fd == 1) } }", "p:1:21",
	    "a condition instead of a value" },
	{ "ALLOW { read { (fd == 1) & 1 == 2 } }", "p:1:16",
	    "a condition instead of a value" },
	{ "ALLOW { read { 1 | (fd == 1) == 2 } }", "p:1:20",
	    "a condition instead of a value" },
	{ "ALLOW { read { fd == 1 2 } }", "p:1:24",
	    "expected \"}\", not \"2\"" },
	{ "ALLOW { read { fd == 1-1 } }", "p:1:23",
	    "expected \"}\", not \"-1\"" },
	{ "ALLOW { read { (fd == 1 } }", "p:1:25",
	    "expected \")\", not \"}\"" },
	{ "ALLOW { read { () } }", "p:1:17", "expected a value, not \")\"" },
	{ "ALLOW { read { fd == ALLOW } }", "p:1:22",
	    "expected a value, not \"ALLOW\"" },
	{ "ALLOW { read { file == 1 } }", "p:1:16", "unknown argument: file" },
	{ "ALLOW { read { 1 == (2 | (file)) } }", "p:1:27",
	    "unknown argument: file" },
	{ "ALLOW { read() { fd == 1 } }", "p:1:18", "unknown argument: fd" },
	{ "ALLOW { read(a) { fd == 1 } }", "p:1:19", "unknown argument: fd" },
	{ "ALLOW { SYSCALL[0] { fd == 1 } }", "p:1:22",
	    "unknown argument: fd" },
	{ "ALLOW { getpid { fd == 1 } }", "p:1:18", "unknown argument: fd" },
	{ "ALLOW { read { a == 1 } }\n#define a 1", "p:1:16",
	    "unknown argument: a" },
};

static const struct row include_rows[] = {
	{ "ALLOW { read }\n#include \"x\"\n", "p:2:10",
	    "no directory to include from: x" },
	{ "#include\"x\"\n", "p:1:9", "no blank before a file name" },
	{ "#include x\n", "p:1:10", "expected a file name" },
	{ "#includes \"x\"\n", "p:1:9", "expected a file name" },
	{ "#include // x\n", "p:1:10", "expected a file name" },
	{ "#include \"x", "p:1:10", "a file name that does not end" },
	{ "#include \"x\ny\"\n", "p:1:10", "a file name that does not end" },
	{ "#include \"\"\n", "p:1:10", "an empty file name" },
	{ "#include", "p:1:9", "an #include that does not end" },
	{ "#include \n", "p:2:1", "expected an action or USE, not the end" },
	{ "# include \"x\"\n", "p:1:3",
	    "expected \"define\", not \"include\"" },
};

static void
refuse(const struct kafel_source *source, const char *place,
    const char *words)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct kafel_program program;

	if (kafel_compile(&arena, source, AUDIT_ARCH_X86_64, &program,
	    &err) == 0)
		fail_msg("accepted: %.300s", source->text);
	if (strcmp(err.subject, place) || strcmp(err.call, words))
		fail_msg("%s: %s for %.300s", err.subject, err.call,
		    source->text);
	assert_int_equal(err.step, NSRUN_STEP_POLICY);
	assert_int_equal(err.errnum, 0);
	assert_null(arena.chunks);
}

static void
refuse_text(const char *text, const char *place, const char *words)
{
	const struct kafel_source source = {
		.name = "p", .text = text, .len = strlen(text),
	};

	refuse(&source, place, words);
}

#define ROWS(name) \
	static void test_ ## name(void **state) \
	{ \
		(void)state; \
		for (size_t i = 0; \
		    i < sizeof name ## _rows / sizeof *name ## _rows; i++) \
			refuse_text(name ## _rows[i].policy, \
			    name ## _rows[i].place, name ## _rows[i].words); \
	}
ROWS(lexer)
ROWS(program)
ROWS(filter)
ROWS(expr)
ROWS(include)

static void
test_nul(void **state)
{
	const struct kafel_source source = {
		.name = "p", .text = "DEFAULT\n ALLOW\0 KILL", .len = 20,
	};

	(void)state;
	refuse(&source, "p:2:7", "a NUL byte");
}

/* head, n times part, tail: in memory of the caller's. */
static char *
repeat(const char *head, unsigned int n, const char *part, const char *tail)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fputs(head, out);
	while (n-- > 0)
		fputs(part, out);
	fputs(tail, out);
	fclose(out);
	return text;
}

static void
test_limits(void **state)
{
	static const struct {
		const char *head, *part, *tail;
		unsigned int n;
		const char *place, *words;
	} rows[] = {
		{ "ALLOW { read { fd == 1", "&1", " } }", 201, "p:1:22",
		    "an expression deeper than 200" },
		{ "ALLOW { read { fd == 1", "||fd==1", " } }", 200, "p:1:16",
		    "an expression deeper than 200" },
		{ "ALLOW { read { ", "(", "", 201, "p:1:216",
		    "an expression deeper than 200" },
		{ "ALLOW { read { ", "!", "", 201, "p:1:216",
		    "an expression deeper than 200" },
		{ "", "          ", "", 1 << 17, "p:1:1",
		    "more than 1 MiB in all" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char *text = repeat(rows[i].head, rows[i].n, rows[i].part,
		    rows[i].tail);

		refuse_text(text, rows[i].place, rows[i].words);
		free(text);
	}
}

static void
test_size(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fprintf(out, "ALLOW { exit");
	for (unsigned int i = 0; i < 20000; i++)
		fprintf(out, ", SYSCALL[%u]", 2 * i);
	fprintf(out, "}");
	fclose(out);
	refuse_text(text, "p", "more than 4096 instructions");
	free(text);
	out = open_memstream(&text, &size);
	for (unsigned int i = 0; i < 4097; i++)
		fprintf(out, "#define c%u 1\n", i);
	fclose(out);
	refuse_text(text, "p:4097:9", "more than 4096 names");
	free(text);
	out = open_memstream(&text, &size);
	for (unsigned int i = 0; i < 4097; i++)
		fprintf(out, "POLICY p%u {}\n", i);
	fclose(out);
	refuse_text(text, "p:4097:8", "more than 4096 names");
	free(text);
}

static void
write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void
test_includes(void **state)
{
	static const struct row rows[] = {
		{ "#include \"absent\"\n", "p:1:10",
		    "cannot include (No such file or directory): absent" },
		{ "#include \".\"\n", "p:1:10",
		    "cannot include (Is a directory): ." },
		{ "#include \"bad\"\n", "DIR/bad:2:1",
		    "expected an action or USE, not \"oops\"" },
		{ "#include \"comment\"\n*/ ALLOW { read }", "DIR/comment:1:1",
		    "a comment that does not end" },
		{ "#include \"ok\"\"ok\"\n", "p:1:14",
		    "no blank before a file name" },
		{ "#include \"ok\"", "p:1:14",
		    "an #include that does not end" },
		{ "#include \"open\"\n", "DIR/open:1:14",
		    "an #include that does not end" },
		{ "#include \"ok\" ALLOW { read }", "p:1:15",
		    "expected a file name" },
		{ "#include \"self\"\n", "DIR/self:1:10",
		    "included too deep: self" },
		{ "#include \"many\"\n", "DIR/many:1:520",
		    "too many included files: few" },
	};
	char dir[] = "/tmp/kafel.XXXXXX", place[256];
	struct kafel_source source = { .name = "p", .include_dir = dir };
	char *many = repeat("#include", 100, " \"few\"", "\n");

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_file(dir, "ok", "ALLOW { exit }");
	write_file(dir, "bad", "ALLOW { exit }\noops");
	write_file(dir, "comment", "/* ");
	write_file(dir, "open", "#include \"ok\"");
	write_file(dir, "self", "#include \"self\"\n");
	write_file(dir, "few", "#include \"ok\" \"ok\"\n");
	write_file(dir, "many", many);
	free(many);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int in = !strncmp(rows[i].place, "DIR", 3);

		snprintf(place, sizeof place, "%s%s", in ? dir : "",
		    rows[i].place + (in ? 3 : 0));
		source.text = rows[i].policy;
		source.len = strlen(source.text);
		refuse(&source, place, rows[i].words);
	}
	snprintf(place, sizeof place, "rm -r %s", dir);
	assert_int_equal(system(place), 0);
}

static void
test_file(void **state)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	const struct kafel_source absent = { .name = "/absent" };
	const struct kafel_source source = {
		.name = "p", .text = "DEFAULT ALLOW", .len = 13,
	};
	struct kafel_program program;

	(void)state;
	assert_int_equal(kafel_compile_file(&arena, &absent,
	    AUDIT_ARCH_X86_64, &program, &err), -1);
	assert_string_equal(err.subject, "/absent");
	assert_string_equal(err.call, "open");
	err = (struct nsrun_err)NSRUN_ERR_INIT;
	assert_int_equal(kafel_compile(&arena, &source, AUDIT_ARCH_RISCV64,
	    &program, &err), -1);
	assert_string_equal(err.call, "no Kafel policy for this architecture");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lexer),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_expr),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_includes),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
