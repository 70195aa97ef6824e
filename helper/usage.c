/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --help, from the same tables that the options are parsed with. */
#include "helper.h"
#include "host/request.h"
#include "opts.h"

static void
line(FILE *out, const char *name, const char *argument, const char *help)
{
	int n = fprintf(out, "  --%s%s%s", name, argument && *argument != '[' ?
	    " " : "", argument ? argument : "");

	fprintf(out, "%*s%s\n", n < 30 ? 32 - n : 2, "", help);
}

void
usage_print(FILE *out)
{
	fputs("usage: oc-nsrun run [OPTION]... -- COMMAND [ARGUMENT]...\n"
	    "       oc-nsrun explain [OPTION]... -- COMMAND [ARGUMENT]...\n"
	    "       oc-nsrun bwrap [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	    "       oc-nsrun explain [--json] bwrap [OPTION]... COMMAND\n"
	    "       oc-nsrun doctor [--json]\n"
	    "       oc-nsrun policy list | show NAME | check FILE\n"
	    "       oc-nsrun policy export NAME --arch ARCH [--variant V]\n"
	    "       oc-nsrun scan [--json] DIR\n"
	    "       oc-nsrun git [OPTION]... -- SUBCOMMAND [ARGUMENT]...\n"
	    "       oc-nsrun home [--state-dir DIR] list | release NAME...\n"
	    "       oc-nsrun diff [--text | --json] [--project DIR]"
	    " [--state-dir DIR] [NAME]\n"
	    "       oc-nsrun apply [--project DIR] [--state-dir DIR] [NAME]\n"
	    "       oc-nsrun discard [--project DIR] [--state-dir DIR] [NAME]\n"
	    "       oc-nsrun --version\n\n"
	    "Runs COMMAND in a sandbox of Linux namespaces. See"
	    " oc-nsrun(1).\n\n", out);
	for (size_t i = 0; i < nsrun_n_request_words; i++)
		line(out, nsrun_request_words[i].name,
		    nsrun_request_words[i].argument,
		    nsrun_request_words[i].help);
	for (unsigned int i = 0; i < opts_n_words; i++)
		line(out, opts_words[i].name, opts_words[i].argument,
		    opts_words[i].help);
}
