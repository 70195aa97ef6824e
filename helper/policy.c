/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun policy: filters and profiles, the release's and the site's. */
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "helper.h"
#include "host/config.h"
#include "host/lines.h"
#include "host/site.h"
#include "nsrun.h"
#include "policy/embedded.h"

/* What the text became: a line for each program, as loaded. */
static void
print_program(const struct nsrun_filter *f)
{
	printf("# %s%s%s for %s: %u instructions, sha256 %s\n", f->name,
	    *f->variant ? " " : "", f->variant,
	    nsrun_filter_arch_name(f->audit_arch), (unsigned int)f->n_insns,
	    f->sha256);
}

static int
bad(struct nsrun_err *err, const char *rule, const char *subject)
{
	return nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, subject, NULL);
}

/* All programs of a filter: embedded, or compiled now. */
static int
find_programs(const char *name, struct nsrun_arena *arena,
    const struct nsrun_filter **filters, size_t *n, struct nsrun_err *err)
{
	char path[NSRUN_CONFIG_PATH];
	struct nsrun_filter *made;
	const char *text;

	if (nsrun_site_text(&text, arena, "filter", name, path, err) < 0)
		return -1;
	*n = 0;
	if (!text)
		return 0;
	if (nsrun_policy_text_find("filter", name)) {
		*n = nsrun_filters(filters);
		return 0;
	}
	if (nsrun_filters_compile(arena, path, text, strlen(text), &made, n,
	    err) < 0)
		return -1;
	*filters = made;
	return 0;
}

static int
show(const char *name, struct nsrun_arena *arena, struct nsrun_err *err)
{
	const struct nsrun_filter *filters = NULL;
	char path[NSRUN_CONFIG_PATH];
	const char *text;
	size_t n;

	if (find_programs(name, arena, &filters, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(filters[i].name, name))
			print_program(&filters[i]);
	if (nsrun_site_text(&text, arena, n ? "filter" : "profile", name, path,
	    err) < 0)
		return -1;
	if (!text)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "there is no such filter or profile", name, NULL);
	fputs(text, stdout);
	return 0;
}

static int
list_site(const char *kind, const char *suffix, struct nsrun_arena *arena,
    struct nsrun_err *err)
{
	struct nsrun_words names;

	if (nsrun_config_names(suffix, arena, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.n; i++)
		printf("%s %s site\n", kind, names.v[i]);
	return 0;
}

static int
list(struct nsrun_arena *arena, struct nsrun_err *err)
{
	const struct nsrun_policy_text *texts;
	size_t n = nsrun_policy_texts(&texts);

	for (size_t i = 0; i < n; i++)
		printf("%s %s\n", texts[i].kind, texts[i].name);
	if (list_site("filter", "policy", arena, err) < 0)
		return -1;
	return list_site("profile", "profile", arena, err);
}

static int
check_filter(const char *file, const char *text, size_t len,
    struct nsrun_arena *arena, struct nsrun_err *err)
{
	struct nsrun_filter *filters;
	size_t n;

	if (nsrun_filters_compile(arena, file, text, len, &filters, &n,
	    err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		print_program(&filters[i]);
	return 0;
}

/* A profile also needs a filter that has a variant for each network. */
static int
check_filter_of(const char *file, const struct nsrun_profile *profile,
    const char *name, struct nsrun_arena *arena, struct nsrun_err *err)
{
	for (int i = 0; name && i < NSRUN_N_NETWORKS; i++) {
		const char *variant = nsrun_network_name((enum nsrun_network)i);
		const struct nsrun_filter *filter;

		if (!profile->networks[i])
			continue;
		if (nsrun_site_filter(&filter, arena, name, variant,
		    AUDIT_ARCH_X86_64, err) < 0)
			return -1;
		if (!filter && nsrun_site_filter(&filter, arena, name, variant,
		    AUDIT_ARCH_AARCH64, err) < 0)
			return -1;
		if (!filter)
			return nsrun_err_rule(err, NSRUN_STEP_POLICY, "names a"
			    " filter that is not there, or not for its network",
			    file, name);
	}
	return 0;
}

static int
check_profile(const char *file, const char *text, struct nsrun_arena *arena,
    struct nsrun_err *err)
{
	struct nsrun_profile profile;
	int rc = nsrun_profile_parse(&profile, file, text, err);

	if (rc < 0)
		return -1;
	if (check_filter_of(file, &profile, profile.filter, arena, err) < 0 ||
	    check_filter_of(file, &profile, profile.nesting, arena, err) < 0)
		rc = -1;
	if (rc == 0)
		printf("# profile %s: filter %s\n", profile.name,
		    profile.filter);
	nsrun_profile_deinit(&profile);
	return rc;
}

static int
check_text(const char *file, const char *text, size_t len,
    struct nsrun_arena *arena, struct nsrun_err *err)
{
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');
	const char *kind = dot ? dot + 1 : "";
	struct nsrun_config config;

	if (strlen(text) != len)
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "holds a NUL byte", file, NULL);
	if (!strcmp(kind, "policy"))
		return check_filter(file, text, len, arena, err);
	if (!strcmp(kind, "profile"))
		return check_profile(file, text, arena, err);
	if (strcmp(kind, "conf"))
		return bad(err, "ends in neither .policy, .profile nor .conf",
		    file);
	if (nsrun_config_parse(&config, file, text, err) < 0)
		return -1;
	nsrun_config_deinit(&config);
	puts("# configuration");
	return 0;
}

static int
check(const char *file, struct nsrun_arena *arena, struct nsrun_err *err)
{
	size_t len;
	char *text = nsrun_file_read_whole(file, NSRUN_LINES_TEXT_MAX, &len);
	int rc = text ? check_text(file, text, len, arena, err) :
	    nsrun_err_sys(err, NSRUN_STEP_POLICY, "read", file, NULL);

	free(text);
	return rc;
}

/* NAME --arch A [--variant V], in any order: the words of export. */
static int
parse_export(int argc, char *argv[], const char *words[3],
    struct nsrun_err *err)
{
	static const char *const names[] = { NULL, "--arch", "--variant" };

	for (int i = 0; i < argc; i++) {
		size_t which = 0, n = strcspn(argv[i], "=");
		const char *value = argv[i];

		for (size_t k = 1; k < 3; k++)
			if (strlen(names[k]) == n &&
			    !strncmp(argv[i], names[k], n))
				which = k;
		if (which && argv[i][n])
			value = argv[i] + n + 1;
		else if (which)
			value = ++i < argc ? argv[i] : NULL;
		if (!value || !*value)
			return bad(err, "wants a value", argv[i - !value]);
		if (!which && *value == '-')
			return bad(err, "is no option of policy export", value);
		if (words[which])
			return bad(err, "is one word too many", value);
		words[which] = value;
	}
	return !words[0] || !words[1] ? bad(err, "wants NAME --arch ARCH",
	    "policy export") : 0;
}

/* Raw BPF, as --seccomp of bubblewrap takes it. */
static int
export(int argc, char *argv[], struct nsrun_arena *arena, struct nsrun_err *err)
{
	static uint8_t bytes[NSRUN_FILTER_BYTES_MAX];
	const char *words[3] = { NULL };
	const struct nsrun_filter *filters = NULL;
	size_t n;
	uint32_t arch;

	if (parse_export(argc, argv, words, err) < 0)
		return -1;
	arch = nsrun_filter_arch_find(words[1]);
	if (!arch)
		return bad(err, "is neither x86_64 nor aarch64", words[1]);
	if (isatty(STDOUT_FILENO))
		return bad(err, "is a terminal: a program is no text",
		    "standard output");
	if (find_programs(words[0], arena, &filters, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(filters[i].name, words[0]) &&
		    filters[i].audit_arch == arch && (!words[2] ||
		    !strcmp(filters[i].variant, words[2]))) {
			fwrite(bytes, 1, nsrun_filter_bytes(&filters[i], bytes),
			    stdout);
			return 0;
		}
	return nsrun_err_rule(err, NSRUN_STEP_POLICY, "there is no such filter"
	    " for this architecture", words[0], words[2]);
}

static int
dispatch(int argc, char *argv[], struct nsrun_arena *arena,
    struct nsrun_err *err)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (!strcmp(word, "export"))
		return export(argc - 2, argv + 2, arena, err);
	if (argc > 3)
		return bad(err, "is one word too many", argv[3]);
	if ((!strcmp(word, "list") || !strcmp(word, "show")) && argc == 2)
		return list(arena, err);
	if (!strcmp(word, "show") && argc == 3)
		return show(argv[2], arena, err);
	if (!strcmp(word, "check") && argc == 3)
		return check(argv[2], arena, err);
	return bad(err, "wants list, show NAME, check FILE or export NAME"
	    " --arch ARCH; see oc-nsrun(1)", "policy");
}

int
policy_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	int rc = dispatch(argc, argv, &arena, &err);

	nsrun_arena_deinit(&arena);
	if (fflush(stdout) != 0 && rc == 0)
		rc = nsrun_err_sys(&err, NSRUN_STEP_POLICY, "write", "stdout",
		    NULL);
	if (rc == 0)
		return 0;
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}
