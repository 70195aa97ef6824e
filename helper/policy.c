/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun policy: the filters and profiles of this release, as written. */
#include <linux/audit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "helper.h"
#include "nsrun.h"
#include "policy/embedded.h"

static const char *
arch_name(uint32_t audit_arch)
{
	return audit_arch == AUDIT_ARCH_X86_64 ? "x86_64" :
	    audit_arch == AUDIT_ARCH_AARCH64 ? "aarch64" : "?";
}

/* What the text became: a line for each program, as loaded. */
static void
print_programs(const char *name)
{
	const struct nsrun_filter *filters;
	size_t n = nsrun_filters(&filters);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(filters[i].name, name))
			printf("# %s%s%s for %s: %u instructions, sha256 %s\n",
			    name, *filters[i].variant ? " " : "",
			    filters[i].variant,
			    arch_name(filters[i].audit_arch),
			    (unsigned int)filters[i].n_insns,
			    filters[i].sha256);
}

static int
show(const char *name)
{
	const struct nsrun_policy_text *text =
	    nsrun_policy_text_find("filter", name);

	if (text)
		print_programs(name);
	else
		text = nsrun_policy_text_find("profile", name);
	if (!text)
		return -1;
	fputs(text->text, stdout);
	return 0;
}

static void
show_names(void)
{
	const struct nsrun_policy_text *texts;
	size_t n = nsrun_policy_texts(&texts);

	for (size_t i = 0; i < n; i++)
		printf("%s %s\n", texts[i].kind, texts[i].name);
}

int
policy_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (argc < 2 || strcmp(argv[1], "show"))
		nsrun_err_rule(&err, NSRUN_STEP_OPTION,
		    "wants `show [NAME]`; see oc-nsrun(1)", "policy", NULL);
	else if (argc > 3)
		nsrun_err_rule(&err, NSRUN_STEP_OPTION, "takes one name",
		    "policy show", NULL);
	else if (argc == 2)
		show_names();
	else if (show(argv[2]) < 0)
		nsrun_err_rule(&err, NSRUN_STEP_POLICY,
		    "there is no such filter or profile", argv[2], NULL);
	if (fflush(stdout) != 0)
		nsrun_err_sys(&err, NSRUN_STEP_POLICY, "write", "stdout", NULL);
	if (err.step == NSRUN_STEP_NONE)
		return 0;
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return HELPER_FAILED;
}
