/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policyc: the release's policies as C, at build time.
 *
 *	policyc FILE.policy... FILE.profile... >embedded.c
 *	policyc --raw NAME VARIANT ARCH FILE.policy >program.bpf
 *
 * A filter is compiled for each of its variants and architectures; the text
 * of a filter and of a profile is embedded as it is. VARIANT is "-" for a
 * filter without variants. Exit status: 0, or 1 after one line on stderr.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/names.h"
#include "policy/policy.h"
#include "policy/program.h"

#define MAX_FILES 64
#define MAX_PROGRAMS 32
#define MAX_CALLS 1024

/* A line of the table nsrun_embedded_filters. */
struct entry {
	char		name[NSRUN_POLICY_NAME_MAX + 1];
	char		variant[NSRUN_POLICY_NAME_MAX + 1];
	enum nsrun_arch	arch;
	char		hash[NSRUN_HASH_SIZE];
	unsigned int	n;
};

struct source {
	const char	*path;
	const char	*kind;		/* "filter" or "profile" */
	char		name[NSRUN_POLICY_NAME_MAX + 1];
};

static struct nsrun_policy policy;
static struct nsrun_program program;
static struct entry entries[MAX_PROGRAMS];
static unsigned int n_entries;

static int
fail(const char *subject, const char *reason)
{
	fprintf(stderr, "policyc: %s: %s\n", subject, reason);
	return -1;
}

/* Read a whole file, which has to fit, and end it in NUL. */
static int
read_text(const char *path, char text[NSRUN_POLICY_TEXT_MAX + 2], size_t *len)
{
	FILE *in = fopen(path, "re");
	int failed;

	if (!in)
		return fail(path, strerror(errno));
	*len = fread(text, 1, NSRUN_POLICY_TEXT_MAX + 1, in);
	failed = ferror(in);
	fclose(in);
	if (failed)
		return fail(path, "cannot be read");
	text[*len] = '\0';
	if (*len > NSRUN_POLICY_TEXT_MAX || strlen(text) != *len)
		return fail(path, "more than 64 KiB, or not a text");
	return 0;
}

static int
load_policy(const struct source *source)
{
	static char text[NSRUN_POLICY_TEXT_MAX + 2];
	struct nsrun_err err = NSRUN_ERR_INIT;
	size_t len;

	if (read_text(source->path, text, &len) < 0)
		return -1;
	if (nsrun_policy_parse(&policy, source->path, text, len, &err) < 0)
		return fail(err.subject, err.call);
	if (strcmp(policy.name, source->name) != 0)
		return fail(source->path, "is not called like its filter");
	return 0;
}

static int
compile(unsigned int variant, enum nsrun_arch arch)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_policy_emit(&policy, variant, arch, &program, &err) < 0)
		return fail(err.subject, err.call);
	return 0;
}

/* The kind is the end of the path, and the name stands before it. */
static int
identify(struct source *source, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	size_t len = dot ? (size_t)(dot - name) : 0;

	if (dot && strcmp(dot, ".policy") == 0)
		source->kind = "filter";
	else if (dot && strcmp(dot, ".profile") == 0)
		source->kind = "profile";
	else
		return fail(path, "neither .policy nor .profile");
	if (len == 0 || len > NSRUN_POLICY_NAME_MAX || strspn(name,
	    "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
		return fail(path, "not a name");
	source->path = path;
	memcpy(source->name, name, len);
	source->name[len] = '\0';
	return 0;
}

static int
write_program(unsigned int variant, enum nsrun_arch arch)
{
	struct entry *e = &entries[n_entries];

	if (n_entries == MAX_PROGRAMS)
		return fail(policy.name, "too many programs");
	if (compile(variant, arch) < 0)
		return -1;
	strcpy(e->name, policy.name);
	strcpy(e->variant, policy.variants[variant]);
	e->arch = arch;
	e->n = program.n;
	nsrun_program_hash(program.insns, program.n, e->hash);
	printf("\nstatic const struct sock_filter program_%u[] = {\n",
	    n_entries++);
	for (unsigned int i = 0; i < program.n; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n",
		    program.insns[i].code, program.insns[i].jt,
		    program.insns[i].jf, program.insns[i].k);
	puts("};");
	return 0;
}

static int
write_programs(const struct source *source)
{
	if (load_policy(source) < 0)
		return -1;
	for (unsigned int v = 0; v < policy.n_variants; v++)
		for (int a = 0; a < NSRUN_N_ARCHES; a++)
			if (policy.arches & 1U << a &&
			    write_program(v, (enum nsrun_arch)a) < 0)
				return -1;
	return 0;
}

static void
write_filters(void)
{
	puts("\nconst struct nsrun_filter nsrun_embedded_filters[] = {");
	for (unsigned int i = 0; i < n_entries; i++)
		printf("\t{ \"%s\", \"%s\", 0x%08x,\n\t    \"%s\",\n"
		    "\t    program_%u, %u },\n", entries[i].name,
		    entries[i].variant, nsrun_arch_audit(entries[i].arch),
		    entries[i].hash, i, entries[i].n);
	printf("};\nconst size_t nsrun_n_embedded_filters = %u;\n", n_entries);
}

/* Is it one that an earlier architecture has too, and so stands already? */
static int
is_listed(enum nsrun_arch arch, const char *name)
{
	for (int a = 0; a < (int)arch; a++)
		if (nsrun_syscall_number((enum nsrun_arch)a, name) >= 0)
			return 1;
	return 0;
}

/* What libseccomp knows, for those who are to do without it. */
static void
write_calls(void)
{
	unsigned int n = 0;

	puts("\nconst struct nsrun_call nsrun_embedded_calls[] = {");
	for (int a = 0; a < NSRUN_N_ARCHES; a++)
		for (int nr = 0; nr < MAX_CALLS; nr++) {
			char *name = nsrun_syscall_name((enum nsrun_arch)a, nr);

			if (name && !is_listed((enum nsrun_arch)a, name)) {
				printf("\t{ \"%s\", {", name);
				for (int b = 0; b < NSRUN_N_ARCHES; b++)
					printf(" %d,", nsrun_syscall_number(
					    (enum nsrun_arch)b, name));
				puts(" } },");
				n++;
			}
			free(name);
		}
	printf("};\nconst size_t nsrun_n_embedded_calls = %u;\n", n);
}

/* A string literal a line. Octal escapes: no digit can lengthen them. */
static void
write_literal(const char *text)
{
	fputs("\t    \"", stdout);
	for (const char *c = text; *c; c++) {
		if (*c == '\n')
			fputs(c[1] ? "\\n\"\n\t    \"" : "\\n", stdout);
		else if (*c < ' ' || *c > '~' || strchr("\"\\?", *c))
			printf("\\%03o", (unsigned int)(unsigned char)*c);
		else
			putchar(*c);
	}
	putchar('"');
}

static int
write_texts(const struct source *sources, unsigned int n)
{
	static char text[NSRUN_POLICY_TEXT_MAX + 2];
	size_t len;

	puts("\nconst struct nsrun_policy_text nsrun_embedded_texts[] = {");
	for (unsigned int i = 0; i < n; i++) {
		if (read_text(sources[i].path, text, &len) < 0)
			return -1;
		printf("\t{ \"%s\", \"%s\",\n", sources[i].kind,
		    sources[i].name);
		write_literal(text);
		puts(" },");
	}
	printf("};\nconst size_t nsrun_n_embedded_texts = %u;\n", n);
	return 0;
}

static int
write_embedded(char *paths[], int n_paths)
{
	static struct source sources[MAX_FILES];
	unsigned int n = 0;

	if (n_paths < 1 || n_paths > MAX_FILES)
		return fail("usage", "policyc FILE...");
	puts("/* Made by policyc. */\n#include \"policy/embedded.h\"");
	for (; n < (unsigned int)n_paths; n++) {
		if (identify(&sources[n], paths[n]) < 0)
			return -1;
		if (strcmp(sources[n].kind, "filter") == 0 &&
		    write_programs(&sources[n]) < 0)
			return -1;
	}
	if (!n_entries)
		return fail("usage", "no filter");
	write_filters();
	write_calls();
	return write_texts(sources, n);
}

static int
write_raw(char *const args[4])
{
	static uint8_t bytes[NSRUN_PROGRAM_SIZE_MAX];
	const char *variant = strcmp(args[1], "-") == 0 ? "" : args[1];
	struct source source = { .path = args[3] };
	enum nsrun_arch arch = nsrun_arch_find(args[2]);
	unsigned int v = 0;

	snprintf(source.name, sizeof source.name, "%s", args[0]);
	if (load_policy(&source) < 0)
		return -1;
	while (v < policy.n_variants && strcmp(policy.variants[v], variant))
		v++;
	if (arch == NSRUN_N_ARCHES)
		return fail(args[2], "unknown architecture");
	if (compile(v, arch) < 0)
		return -1;
	fwrite(bytes, 1, nsrun_program_bytes(program.insns, program.n, bytes),
	    stdout);
	return 0;
}

int
main(int argc, char *argv[])
{
	int raw = argc == 6 && strcmp(argv[1], "--raw") == 0;
	int rc = raw ? write_raw(argv + 2) : write_embedded(argv + 1, argc - 1);

	if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		rc = fail("stdout", strerror(errno));
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
