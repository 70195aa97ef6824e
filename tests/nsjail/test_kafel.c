/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What policies decide: rows of a policy, a call and the answer to it. */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../filter/bpf_sim.h"
#include "kafel.h"

#define X AUDIT_ARCH_X86_64
#define A AUDIT_ARCH_AARCH64
#define ALLOW SECCOMP_RET_ALLOW
#define KILL SECCOMP_RET_KILL_THREAD
#define ERRNO(n) (SECCOMP_RET_ERRNO | (n))
#define HIGH(n) ((uint64_t)(n) << 32)

struct row {
	const char	*policy;	/* NULL: that of the row before */
	uint32_t	arch;		/* it is compiled for */
	uint32_t	answer;
	uint32_t	nr;
	uint64_t	args[6];
};

static const struct row action_rows[] = {
	{ "ALLOW { read }", X, ALLOW, 0, { 0 } },
	{ NULL, X, KILL, 1, { 0 } },
	{ NULL, X, KILL, UINT32_MAX, { 0 } },
	{ "ALLOW { read }", A, ALLOW, 63, { 0 } },
	{ NULL, A, KILL, 0, { 0 } },
	{ "LOG { read }", X, SECCOMP_RET_LOG, 0, { 0 } },
	{ "KILL { read } DEFAULT ALLOW", X, KILL, 0, { 0 } },
	{ NULL, X, ALLOW, 1, { 0 } },
	{ "KILL_THREAD { read } DEFAULT ALLOW", X, KILL, 0, { 0 } },
	{ "DENY { read } DEFAULT ALLOW", X, KILL, 0, { 0 } },
	{ "KILL_PROCESS { read }", X, SECCOMP_RET_KILL_PROCESS, 0, { 0 } },
	{ "USER_NOTIF { read }", X, SECCOMP_RET_USER_NOTIF, 0, { 0 } },
	{ "ERRNO(0) { read }", X, ERRNO(0), 0, { 0 } },
	{ "ERRNO(65535) { read }", X, ERRNO(65535), 0, { 0 } },
	{ "ERRNO ( 1337 ) { geteuid }", X, ERRNO(1337), 107, { 0 } },
	{ "TRAP(7) { read }", X, SECCOMP_RET_TRAP | 7, 0, { 0 } },
	{ "TRACE(0x10) { read }", X, SECCOMP_RET_TRACE | 16, 0, { 0 } },
	{ "DEFAULT ALLOW", X, ALLOW, 5, { 0 } },
	{ "DEFAULT KILL_PROCESS", X, SECCOMP_RET_KILL_PROCESS, 5, { 0 } },
	{ "DEFAULT ERRNO(38)", X, ERRNO(38), 5, { 0 } },
	{ "POLICY a {}", X, KILL, 0, { 0 } },
	{ "POLICY a {} USE a DEFAULT ALLOW", X, ALLOW, 0, { 0 } },
	{ "ALLOW {}", X, KILL, 0, { 0 } },
	{ "#define unused 1", X, KILL, 0, { 0 } },
};

static const struct row order_rows[] = {
	{ "ALLOW { read }, KILL { read, write } DEFAULT LOG", X, ALLOW, 0,
	    { 0 } },
	{ NULL, X, KILL, 1, { 0 } },
	{ NULL, X, SECCOMP_RET_LOG, 2, { 0 } },
	{ "POLICY a { ALLOW { read { fd == 0 && count == 0 } },"
	    " ERRNO(1) { read { count == 0 } } } USE a", X, ALLOW, 0, { 0 } },
	{ NULL, X, ERRNO(1), 0, { 5 } },
	{ NULL, X, KILL, 0, { 5, 0, 1 } },
	{ "ALLOW { read { fd == 1 } } ALLOW { read } KILL { read }", X, ALLOW,
	    0, { 0 } },
	{ "ALLOW { read {} }", X, ALLOW, 0, { 9 } },
	{ "POLICY a { ALLOW { read } } POLICY b { USE a, ERRNO(1) { read,"
	    " write } } ERRNO(2) { close } USE b, USE a", X, ALLOW, 0,
	    { 0 } },
	{ NULL, X, ERRNO(1), 1, { 0 } },
	{ NULL, X, ERRNO(2), 3, { 0 } },
	/* What is used again decides nothing again. */
	{ "POLICY a { ALLOW { read } } USE a ERRNO(1) { read } USE a", X,
	    ALLOW, 0, { 0 } },
	/* DEFAULT is not where it stands. */
	{ "DEFAULT ALLOW KILL { read }", X, KILL, 0, { 0 } },
	{ NULL, X, ALLOW, 1, { 0 } },
};

static const struct row name_rows[] = {
	{ "ALLOW { newstat }", X, ALLOW, 4, { 0 } },
	{ "ALLOW { newfstat }", X, ALLOW, 5, { 0 } },
	{ "ALLOW { newfstat }", A, ALLOW, 80, { 0 } },
	{ "ALLOW { newlstat }", X, ALLOW, 6, { 0 } },
	{ "ALLOW { newuname }", X, ALLOW, 63, { 0 } },
	{ "ALLOW { sendfile64 }", X, ALLOW, 40, { 0 } },
	{ "ALLOW { sendfile64 }", A, ALLOW, 71, { 0 } },
	{ "ALLOW { sendfile }", A, ALLOW, 71, { 0 } },
	{ "ALLOW { umount }", X, ALLOW, 166, { 0 } },
	{ "ALLOW { sysctl }", X, ALLOW, 156, { 0 } },
	{ "ALLOW { SYSCALL[4096] }", X, ALLOW, 4096, { 0 } },
	{ "ALLOW { SYSCALL[-1] }", X, ALLOW, UINT32_MAX, { 0 } },
	{ NULL, X, KILL, UINT32_MAX - 1, { 0 } },
	{ "ALLOW { SYSCALL[0xffffffff] }", X, ALLOW, UINT32_MAX, { 0 } },
	{ "ALLOW { SYSCALL[0] } KILL { read }", X, ALLOW, 0, { 0 } },
	/* x32 numbers are numbers like others. */
	{ "ALLOW { read }", X, KILL, 0x40000000, { 0 } },
	{ "KILL { read } DEFAULT ALLOW", X, ALLOW, 0x40000000, { 0 } },
	{ "#define mine -1\nERRNO(1) { mine }", X, ERRNO(1), UINT32_MAX,
	    { 0 } },
	/* A constant hides a call and an argument of its name. */
	{ "#define read 1\nERRNO(1) { read }", X, ERRNO(1), 1, { 0 } },
	{ "#define fd 1\nALLOW { write { fd == 1 } }", X, ALLOW, 1, { 5 } },
	{ "ALLOW { SYSCALL[-1](a, b) { b == 7 } }", X, ALLOW, UINT32_MAX,
	    { 0, 7 } },
	{ NULL, X, KILL, UINT32_MAX, { 7, 0 } },
	{ "ALLOW { read() }", X, ALLOW, 0, { 0 } },
	{ "ALLOW { clone { child_tidptr == 1 } }", X, ALLOW, 56,
	    { 0, 0, 0, 1 } },
	{ "ALLOW { clone { child_tidptr == 1 } }", A, ALLOW, 220,
	    { 0, 0, 0, 0, 1 } },
	{ "ALLOW { getrandom { ubuf == 1 }, getrandom { buf == 2 } }", X,
	    ALLOW, 318, { 1 } },
	{ NULL, X, ALLOW, 318, { 2 } },
	{ "ALLOW { setns { nstype == 1 } }", X, ALLOW, 308, { 0, 1 } },
	{ "ALLOW { socket { family == 2 } }", A, ALLOW, 198, { 2 } },
	{ "ALLOW { dup { fildes == 2 } }", X, ALLOW, 32, { 2 } },
};

static const struct row arch_rows[] = {
	{ "ALLOW { open ON x86_64, openat }", A, ALLOW, 56, { 0 } },
	{ NULL, A, KILL, 2, { 0 } },
	{ "ALLOW { open ON x86_64, openat }", X, ALLOW, 2, { 0 } },
	{ "ALLOW { arm_fadvise64_64 ON arm { what > 1 }, read }", X, ALLOW, 0,
	    { 0 } },
	{ "ALLOW { read ON { AMD64, arm64 } { fd == 1 } }", X, ALLOW, 0,
	    { 1 } },
	{ NULL, X, KILL, 0, { 2 } },
	{ "ALLOW { read(a) ON Aarch64 { a == 1 } }", A, ALLOW, 63, { 1 } },
	{ "ALLOW { read ON { i386, mips } } DEFAULT LOG", X, SECCOMP_RET_LOG,
	    0, { 0 } },
};

static const struct row expr_rows[] = {
	/* & and | bind closer than comparisons, & closer than |. */
	{ "ALLOW { read { count & 3 == 2 } }", X, ALLOW, 0, { 0, 0, 6 } },
	{ NULL, X, KILL, 0, { 0, 0, 7 } },
	{ "ALLOW { read { count | 8 | fd == 8 } }", X, ALLOW, 0, { 0 } },
	{ NULL, X, KILL, 0, { 5 } },
	{ "ALLOW { read { count == 1|2|4 } }", X, ALLOW, 0, { 0, 0, 7 } },
	{ "ALLOW { read { buf | buf & count == buf } }", X, ALLOW, 0,
	    { 0, 77, 1 } },
	{ "ALLOW { read { (count | 2) & (fd | 3) == 2 } }", X, ALLOW, 0,
	    { 0 } },
	{ NULL, X, KILL, 0, { 0, 0, 1 } },
	{ "ALLOW { read { (buf | 1) & (buf | count) & (fd | buf) & (fd | count)"
	    " == (count | fd) & (buf | fd | 1) } }", X, ALLOW, 0,
	    { 1, 1, 1 } },
	{ NULL, X, KILL, 0, { 4, 3, 2 } },
	/* || under &&, "," under both, ! over all. */
	{ "ALLOW { read { fd == 1 || fd == 2 && count == 3, fd == 4 } }", X,
	    ALLOW, 0, { 1 } },
	{ NULL, X, KILL, 0, { 2 } },
	{ NULL, X, ALLOW, 0, { 2, 0, 3 } },
	{ NULL, X, ALLOW, 0, { 4 } },
	{ "ALLOW { read { (fd == 1 || fd == 2) && count == 3 } }", X, KILL, 0,
	    { 1 } },
	{ NULL, X, ALLOW, 0, { 1, 0, 3 } },
	{ "ALLOW { read { fd == 1 && (count == 2, count == 3) } }", X, ALLOW,
	    0, { 1, 0, 3 } },
	{ NULL, X, KILL, 0, { 0, 0, 3 } },
	{ "ALLOW { read { !fd == 1 } }", X, ALLOW, 0, { 2 } },
	{ NULL, X, KILL, 0, { 1 } },
	{ "ALLOW { read { !(fd == 5 && count == 0) } }", X, ALLOW, 0, { 4 } },
	{ NULL, X, KILL, 0, { 5 } },
	{ "ALLOW { read { !!((fd)) == (1) } }", X, ALLOW, 0, { 1 } },
	{ "ALLOW { read { ((fd & 1) == 0) } }", X, ALLOW, 0, { 2 } },
	{ "ALLOW { clone { (clone_flags & 0x7e020000) != 0 } }", X, ALLOW, 56,
	    { 0x20000 } },
	{ NULL, X, KILL, 56, { HIGH(0x20000) | 0x1200011 } },
	{ "ALLOW { read { 0x100001234 == 0x1234 } }", X, KILL, 0, { 0 } },
	{ "ALLOW { read { 1 < 2 } }", X, ALLOW, 0, { 0 } },
	{ "ALLOW { read { 1 > fd } }", X, ALLOW, 0, { 0 } },
	{ NULL, X, KILL, 0, { 1 } },
	{ "ALLOW { read { 1 >= fd } }", X, ALLOW, 0, { 1 } },
	{ "ALLOW { read { buf < count } }", X, ALLOW, 0, { 0, 1, HIGH(1) } },
	{ NULL, X, KILL, 0, { 0, HIGH(1), HIGH(1) } },
	{ NULL, X, KILL, 0, { 0, HIGH(2), HIGH(1) | 1 } },
	{ "ALLOW { read { buf <= count } }", X, ALLOW, 0,
	    { 0, HIGH(1), HIGH(1) } },
	{ "ALLOW { read { 0b101 == fd, 010 == fd, 0xA == fd } }", X, ALLOW, 0,
	    { 5 } },
	{ NULL, X, ALLOW, 0, { 8 } },
	{ NULL, X, ALLOW, 0, { 10 } },
};

static const struct row width_rows[] = {
	/* An int is compared by its low half, */
	{ "ALLOW { fcntl { fd == 0x1234 } }", X, ALLOW, 72, { 0x1234 } },
	{ NULL, X, ALLOW, 72, { HIGH(1) | 0x1234 } },
	{ NULL, X, KILL, 72, { 0x1235 } },
	/* unless something wider is on either side, */
	{ "ALLOW { fcntl { fd == 0x100001234 } }", X, ALLOW, 72,
	    { HIGH(1) | 0x1234 } },
	{ NULL, X, KILL, 72, { 0x1234 } },
	{ "ALLOW { fcntl { fd == arg } }", X, ALLOW, 72, { 3, 0, 3 } },
	{ NULL, X, KILL, 72, { HIGH(1) | 3, 0, 3 } },
	{ "ALLOW { fcntl { fd == -1 } }", X, ALLOW, 72, { UINT64_MAX } },
	{ NULL, X, KILL, 72, { UINT32_MAX } },
	{ "ALLOW { fcntl { fd == 0xffffffff } }", X, ALLOW, 72,
	    { UINT32_MAX } },
	{ "ALLOW { fcntl { fd < cmd } }", X, ALLOW, 72, { HIGH(1), 1 } },
	/* and mode_t no less than an int. */
	{ "ALLOW { chmod { mode == 0x10000 } }", X, ALLOW, 90, { 0, 0x10000 } },
	/* What a mask cannot change is dropped first. */
	{ "ALLOW { fcntl { fd & -1 == 1 } }", X, ALLOW, 72, { HIGH(1) | 1 } },
	{ "ALLOW { fcntl { fd == (arg & 0) } }", X, ALLOW, 72, { HIGH(1) } },
	{ "ALLOW { fcntl { fd == 0x100000000 & 1 } }", X, ALLOW, 72,
	    { HIGH(1) } },
	{ "ALLOW { fcntl { fd & 0x100000000 == 0 } }", X, KILL, 72,
	    { HIGH(1) } },
	/* Declared names are of 64 bits. */
	{ "ALLOW { fcntl(a) { a == 1 } }", X, ALLOW, 72, { 1 } },
	{ NULL, X, KILL, 72, { HIGH(1) | 1 } },
};

static const struct row text_rows[] = {
	{ "// ALLOW { write }\nALLOW { /* write, \n */ read } // end", X,
	    ALLOW, 0, { 0 } },
	{ NULL, X, KILL, 1, { 0 } },
	{ "/**/ALLOW/* * ** \r\xc3\xa9 */{read}", X, ALLOW, 0, { 0 } },
	{ "/****/ALLOW { read } /* ***/", X, ALLOW, 0, { 0 } },
	{ "\n\n\t ALLOW\n{\tread\n}\n", X, ALLOW, 0, { 0 } },
	{ "#define a 1\n#\tdefine a 0b1\nALLOW{read{fd==a}}", X, ALLOW, 0,
	    { 1 } },
	{ "ERRNO(1) { ptrace, sched_setaffinity }\t\t\n"
	    "KILL_PROCESS { syslog }\nDEFAULT ALLOW\n", X, ERRNO(1), 101,
	    { 0 } },
	{ NULL, X, SECCOMP_RET_KILL_PROCESS, 103, { 0 } },
	{ "POLICY a { ERRNO(2) { mkdir }, KILL { alarm } }\n"
	    "USE a DEFAULT ALLOW\n", X, ERRNO(2), 83, { 0 } },
};

static struct kafel_program
compile(struct nsrun_arena *arena, const char *policy, uint32_t arch)
{
	const struct kafel_source source = {
		.name = "p", .text = policy, .len = strlen(policy),
	};
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct kafel_program program = { 0 };

	if (kafel_compile(arena, &source, arch, &program, &err) < 0)
		fail_msg("%s: %s in\n%s", err.subject, err.call, policy);
	assert_true(bpf_sim_longest(program.insns, program.n) > 0);
	return program;
}

static uint32_t
run(const struct kafel_program *program, const struct seccomp_data *data)
{
	struct bpf_sim sim;

	assert_int_equal(bpf_sim_run_any(program->insns, program->n, data,
	    &sim), 0);
	return sim.result;
}

static void
check_rows(const struct row *rows, size_t n)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct kafel_program program = { 0 };
	const char *policy = NULL;

	for (size_t i = 0; i < n; i++) {
		struct seccomp_data data = {
			.nr = (int)rows[i].nr, .arch = rows[i].arch,
		};

		if (rows[i].policy) {
			policy = rows[i].policy;
			program = compile(&arena, policy, rows[i].arch);
		}
		memcpy(data.args, rows[i].args, sizeof data.args);
		if (run(&program, &data) != rows[i].answer)
			fail_msg("row %zu: 0x%x for %u in\n%s", i,
			    run(&program, &data), rows[i].nr, policy);
		data.arch = rows[i].arch == X ? A : X;
		assert_int_equal(run(&program, &data), KILL);
	}
	nsrun_arena_deinit(&arena);
}

#define ROWS(name) \
	static void test_ ## name(void **state) \
	{ \
		(void)state; \
		check_rows(name ## _rows, \
		    sizeof name ## _rows / sizeof *name ## _rows); \
	}
ROWS(action)
ROWS(order)
ROWS(name)
ROWS(arch)
ROWS(expr)
ROWS(width)
ROWS(text)

static void
test_x32(void **state)
{
	static const struct {
		const char	*policy;
		uint32_t	arch, nr, answer;
	} rows[] = {
		{ "KILL { read } DEFAULT ALLOW", X, 0, KILL },
		{ "KILL { read } DEFAULT ALLOW", X, 0x3fffffff, ALLOW },
		{ "KILL { read } DEFAULT ALLOW", X, 0x40000000, ERRNO(38) },
		{ "KILL { read } DEFAULT ALLOW", X, UINT32_MAX, ERRNO(38) },
		{ "DEFAULT LOG", X, 0x40000001, ERRNO(38) },
		{ "DEFAULT KILL", X, 0x40000001, KILL },
		{ "DEFAULT USER_NOTIF", X, 0x40000001,
		    SECCOMP_RET_USER_NOTIF },
		{ "DEFAULT ALLOW", A, 0x40000001, ALLOW },
		{ "ALLOW { SYSCALL[0x40000001] } DEFAULT ALLOW", X, 0x40000001,
		    ALLOW },
		{ "ALLOW { SYSCALL[0x40000001] } DEFAULT ALLOW", X, 0x40000002,
		    ERRNO(38) },
		{ "KILL { SYSCALL[0x40000000](a) { a == 1 } } DEFAULT ALLOW",
		    X, 0x40000000, ERRNO(38) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct nsrun_arena arena = NSRUN_ARENA_INIT;
		struct nsrun_err err = NSRUN_ERR_INIT;
		const struct kafel_source source = {
			.name = "p", .text = rows[i].policy,
			.len = strlen(rows[i].policy), .refuse_x32 = 1,
		};
		const struct seccomp_data data = {
			.nr = (int)rows[i].nr, .arch = rows[i].arch,
		};
		struct kafel_program program;

		assert_int_equal(kafel_compile(&arena, &source, rows[i].arch,
		    &program, &err), 0);
		assert_int_equal(run(&program, &data), rows[i].answer);
		nsrun_arena_deinit(&arena);
	}
}

/* Neighbours of one action cost one comparison, and jumps reach. */
static void
test_size(void **state)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct kafel_program program;
	struct bpf_sim sim;
	char *text = NULL;
	size_t size;
	FILE *out;

	(void)state;
	program = compile(&arena, "ALLOW { read, write, open, close, newstat }",
	    X);
	assert_int_equal(program.n, 6);
	program = compile(&arena, "DEFAULT KILL", X);
	assert_int_equal(program.n, 3);
	out = open_memstream(&text, &size);
	fprintf(out, "ALLOW { read");
	for (unsigned int i = 1; i < 300; i++)
		fprintf(out, ", SYSCALL[%u](a, b) { a == %u && b > %u }", 3 * i,
		    i, 2 * i);
	fprintf(out, "}");
	fclose(out);
	program = compile(&arena, text, X);
	/* The bitmap answers what does not look at its arguments. */
	assert_int_equal(bpf_sim_run(program.insns, program.n,
	    &(struct seccomp_data){ .nr = 0, .arch = X }, &sim), 0);
	assert_int_equal(sim.result, ALLOW);
	assert_int_equal(sim.arg_loads, 0);
	for (unsigned int i = 1; i < 300; i++) {
		struct seccomp_data data = {
			.nr = (int)(3 * i), .arch = X,
			.args = { i, 2 * i + 1 },
		};

		assert_int_equal(run(&program, &data), ALLOW);
		data.args[1]--;
		assert_int_equal(run(&program, &data), KILL);
	}
	free(text);
	nsrun_arena_deinit(&arena);
}

/* In the directory that was made for it. */
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
test_include(void **state)
{
	static const char *const texts[] = {
		"#include \"exit\"; USE exit",
		"#include \"exit\"\nUSE exit",
		"#include \t\"empty\" \"exit\" ; USE exit",
		"#include \"chain\"\nPOLICY all { USE exit }\nUSE all",
		"ALLOW {\n#include \"name\"\n}",
	};
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	char dir[] = "/tmp/kafel.XXXXXX", path[256];
	const struct kafel_source source = { .name = path, .include_dir = dir };
	struct seccomp_data data = { .nr = 60, .arch = X };
	struct kafel_program program = { 0 };

	(void)state;
	assert_non_null(mkdtemp(dir));
	write_file(dir, "empty", "// nothing");
	write_file(dir, "name", "exit");
	write_file(dir, "exit", "POLICY exit { ALLOW { exit } }");
	write_file(dir, "chain", "#include \"empty\";#include \"exit\"\n");
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		write_file(dir, "main", texts[i]);
		snprintf(path, sizeof path, "%s/main", dir);
		if (kafel_compile_file(&arena, &source, X, &program, &err) < 0)
			fail_msg("%s: %s", err.subject, err.call);
		assert_int_equal(run(&program, &data), ALLOW);
	}
	nsrun_arena_deinit(&arena);
	snprintf(path, sizeof path, "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

/* This machine's own calls, whichever architecture it is. */
static void
test_kernel(void **state)
{
	static const char *const policies[] = {
		"DEFAULT ALLOW",
		"ERRNO(7) { getpid } DEFAULT ALLOW",
		"ERRNO(7) { getppid { 1 == 1 }, getpid(a, b, c) {"
		    " (a | b) & (b | c) == a & b | c && a & b < b | c ||"
		    " a != a | 0x300000001 } }"
		    " ERRNO(7) { getpid } DEFAULT ALLOW",
	};

	(void)state;
	for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
		struct nsrun_arena arena = NSRUN_ARENA_INIT;
		struct kafel_program program = compile(&arena, policies[i],
#ifdef __aarch64__
		    A);
#else
		    X);
#endif
		struct sock_fprog prog = { program.n, program.insns };
		int status;
		pid_t child = fork();

		if (child == 0) {
			prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
			if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
				_exit(99);
			_exit(syscall(SYS_getpid) == -1);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), i > 0);
		nsrun_arena_deinit(&arena);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_action),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_arch),
		cmocka_unit_test(test_expr),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_x32),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
