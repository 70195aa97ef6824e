/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * nsjails NULL RUNS OC-NSJAIL ENGINE [NSJAIL]: what oc-nsjail's command line
 * costs over the same plan without it, 11 mounts and a policy of 40 calls, by
 * words and by a configuration; and how late an exit is noticed.
 */
#include "bench.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sys.h"
#include "engine.h"
#include "kafel.h"
#include "nsjail.h"
#include "plan/print.h"

enum { N_LATENCY = 3000, LATE_MS = 50 };

static const char policy[] =
    "POLICY agent { ERRNO(1) { ptrace, process_vm_readv, process_vm_writev,"
    " mount, umount, pivot_root, chroot, setns, unshare, keyctl, add_key,"
    " request_key, bpf, perf_event_open, init_module, finit_module,"
    " delete_module, kexec_load, kexec_file_load, reboot, swapon, swapoff,"
    " settimeofday, clock_settime, adjtimex, clock_adjtime, acct, quotactl,"
    " userfaultfd, syslog, lookup_dcookie, nfsservctl, personality,"
    " open_by_handle_at, name_to_handle_at, move_pages, migrate_pages,"
    " io_uring_setup, io_uring_enter, io_uring_register } }"
    " USE agent DEFAULT ALLOW\n";

static char root[] = "/var/tmp/nsrun-bench.XXXXXX";
static char payload[64], filter[64], kafel[64], config[64];
static struct bench_contestant engine = { .name = "engine" };
static struct bench_contestant words = { .name = "oc-nsjail" };
static struct bench_contestant file = { .name = "its file" };
static struct bench_contestant other = { .name = "nsjail" };

static void
write_file(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) < 0)
		bench_die(path);
}

static void
compile(void)
{
	const struct kafel_source source = {
		.name = "policy", .text = policy, .len = sizeof policy - 1,
		.refuse_x32 = true,
	};
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct kafel_program program;

	if (kafel_compile(&arena, &source, SYS_AUDIT_ARCH, &program,
	    &err) < 0) {
		fprintf(stderr, "%s: %s\n", err.subject, err.call);
		exit(1);
	}
	write_file(filter, program.insns, program.n *
	    sizeof(struct sock_filter));
	write_file(kafel, policy, sizeof policy - 1);
	nsrun_arena_deinit(&arena);
}

static void
write_config(void)
{
	FILE *out = fopen(config, "w");

	if (!out)
		bench_die(config);
	fprintf(out, "mode: ONCE\nmount_proc: true\nlog_level: FATAL\n"
	    "mount: [\n");
	for (int i = 0; i < ENGINE_BINDS; i++) {
		const char *path = i < ENGINE_BINDS - 1 ? engine_binds[i] :
		    root;

		fprintf(out, "\t{ src: \"%s\" dst: \"%s\" is_bind: true"
		    " rw: %s },\n", path, path, !strcmp(path, "/dev/null") ?
		    "true" : "false");
	}
	fprintf(out, "\t{ dst: \"/tmp\" fstype: \"tmpfs\" rw: true"
	    " options: \"size=4194304\" },\n\t{ dst: \"/dev/shm\""
	    " fstype: \"tmpfs\" rw: true options: \"size=4194304\" }\n]\n"
	    "seccomp_string: \"%.*s\"\n", (int)strcspn(policy, "\n"), policy);
	if (fclose(out) != 0)
		bench_die(config);
}

static void
prepare(const char *null)
{
	char command[256];

	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		bench_die(root);
	snprintf(payload, sizeof payload, "%s/null", root);
	snprintf(filter, sizeof filter, "%s/filter", root);
	snprintf(kafel, sizeof kafel, "%s/kafel", root);
	snprintf(config, sizeof config, "%s/config", root);
	snprintf(command, sizeof command, "cp %s %s && chmod 755 %s", null,
	    payload, payload);
	if (system(command) != 0)
		bench_die("project");
	compile();
	write_config();
}

static void
clean(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf --one-file-system %s", root);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", root);
}

static void
add_words(struct bench_contestant *c, const char *program)
{
	struct bench_words w = { 0 };

	bench_add_all(&w, "% -Q", program);
	for (int i = 0; i < ENGINE_BINDS - 1; i++) {
		bench_add(&w, strcmp(engine_binds[i], "/dev/null") ? "-R" :
		    "-B");
		bench_add(&w, "%s", engine_binds[i]);
	}
	bench_add_all(&w, "-R % -T /tmp -T /dev/shm -P %/kafel -- %/null",
	    root);
	c->argv = w.v;
}

static char *
rows(const struct nsrun_plan *plan)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (!out)
		bench_die("rows");
	nsrun_print_rows(out, plan);
	fclose(out);
	return text;
}

/* The ratio means something because both plans are the same. */
static void
check_same(void)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsjail n = {
		.proc = true, .proc_path = "/proc", .status_fd = -1,
		.log = { .fd = 2, .level = NSJAIL_FATAL },
	};
	struct nsrun_plan plan, ours;
	char *a, *b;
	int argc = 0;

	while (words.argv[argc])
		argc++;
	nsrun_plan_init(&plan);
	nsrun_plan_init(&ours);
	nsjail_message_init(&nsjail_config_message, &n.config);
	if (nsjail_parse(&n, argc, words.argv) < 0 ||
	    nsjail_plan(&n, &plan) < 0 ||
	    engine_plan(&ours, filter, root, payload, &err) < 0) {
		fprintf(stderr, "%s%s: %s%s\n", n.err.subject, err.subject,
		    n.err.call, err.call);
		exit(1);
	}
	a = rows(&plan);
	b = rows(&ours);
	if (strcmp(a, b)) {
		fprintf(stderr, "the plans differ:\n%s\nand\n%s", a, b);
		exit(1);
	}
	free(a);
	free(b);
	nsrun_plan_deinit(&plan);
	nsrun_plan_deinit(&ours);
	nsrun_arena_deinit(&n.arena);
}

/*
 * nsjail notices an exit up to a second late, now and then. What a busy machine
 * adds shows in the runs of the engine, between ours.
 */
static void
measure_latency(struct bench_contestant *const all[], int n_all)
{
	int late[4] = { 0 };

	for (int k = 0; k < n_all; k++)
		all[k]->n = 0;
	for (int i = 0; i < N_LATENCY; i++)
		for (int k = 0; k < n_all; k++) {
			int64_t ns = bench_once(all[k]);

			all[k]->ns[all[k]->n++] = ns;
			late[k] += ns > (int64_t)LATE_MS * 1000000;
		}
	printf("\n%d runs of a static child, ms\n", N_LATENCY);
	for (int k = 0; k < n_all; k++)
		printf("  %-12s median %.1f, slowest %.1f, %d over %d\n",
		    all[k]->name,
		    (double)bench_quantile(all[k]->ns, all[k]->n, 0.5) / 1e6,
		    (double)bench_quantile(all[k]->ns, all[k]->n, 1) / 1e6,
		    late[k], LATE_MS);
}

int
main(int argc, char *argv[])
{
	struct bench_contestant *all[] = { &engine, &words, &file, &other };
	int n = argc > 2 ? atoi(argv[2]) : 0;
	struct bench_words w = { 0 };

	if (argc < 5 || n < 1 || n > BENCH_MAX_RUNS)
		return 2;
	prepare(argv[1]);
	atexit(clean);
	bench_add(&w, "%s", argv[4]);
	bench_add_all(&w, "%/filter % %/null", root);
	engine.argv = w.v;
	add_words(&words, argv[3]);
	if (argc > 5)
		add_words(&other, argv[5]);
	w = (struct bench_words){ 0 };
	bench_add_all(&w, "% -C", argv[3]);
	bench_add_all(&w, "%/config -- %/null", root);
	file.argv = w.v;
	check_same();
	bench_compare("11 mounts (us)", all, sizeof all / sizeof *all, &engine,
	    n);
	measure_latency(all, 2);
	return 0;
}
