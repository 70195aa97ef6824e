/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun scan: what would keep a directory from being granted writable. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/json.h"
#include "helper.h"
#include "host/scan.h"
#include "nsrun.h"
#include "plan/print.h"

struct report {
	struct nsrun_scan *scan;
	const struct nsrun_scan_result *result;
	const char *path;
	struct nsrun_offender v[NSRUN_SCAN_NAMED];
	size_t n;
};

static void
put_text(const struct report *r)
{
	const struct nsrun_scan_result *result = r->result;

	for (size_t i = 0; i < r->n; i++) {
		const struct nsrun_offender *o = &r->v[i];
		const char *path = nsrun_scan_path(r->scan, o->dir, o->name);

		printf("%-13s ", nsrun_hazard_name(o->kind));
		nsrun_print_name(stdout, path ? path : "?");
		if (o->kind == NSRUN_HAZARD_ALIAS)
			printf(" (%" PRIu64 " of its %" PRIu64 " names)",
			    o->inside, o->names);
		putchar('\n');
	}
	if (result->n_offenders > r->n)
		printf("... and %zu more\n", result->n_offenders - r->n);
	nsrun_print_name(stdout, r->path);
	printf(": %s, %" PRIu64 " entries in %" PRIu64 " directories\n",
	    result->n_offenders ? "hazards" : "clean", result->n_entries,
	    result->n_dirs);
	for (int kind = 1; kind < NSRUN_N_HAZARDS; kind++)
		if (result->n[kind])
			printf("%-13s %" PRIu64 "\n",
			    nsrun_hazard_name((enum nsrun_hazard)kind),
			    result->n[kind]);
}

static void
put_json(const struct report *r)
{
	struct nsrun_json j = { .out = stdout };

	nsrun_json_open(&j, NULL, '{');
	nsrun_json_number(&j, "v", 1);
	nsrun_json_string(&j, "path", r->path);
	nsrun_json_bool(&j, "clean", !r->result->n_offenders);
	nsrun_json_number(&j, "entries", r->result->n_entries);
	nsrun_json_number(&j, "directories", r->result->n_dirs);
	nsrun_json_open(&j, "hazards", '{');
	for (int kind = 1; kind < NSRUN_N_HAZARDS; kind++)
		nsrun_json_number(&j, nsrun_hazard_name(
		    (enum nsrun_hazard)kind), r->result->n[kind]);
	nsrun_json_close(&j, '}');
	nsrun_json_open(&j, "offenders", '[');
	for (size_t i = 0; i < r->n; i++) {
		const struct nsrun_offender *o = &r->v[i];

		nsrun_json_open(&j, NULL, '{');
		nsrun_json_string(&j, "hazard", nsrun_hazard_name(o->kind));
		nsrun_json_string(&j, "path", nsrun_scan_path(r->scan, o->dir,
		    o->name));
		if (o->kind == NSRUN_HAZARD_ALIAS) {
			nsrun_json_number(&j, "names", o->names);
			nsrun_json_number(&j, "inside", o->inside);
		}
		nsrun_json_close(&j, '}');
	}
	nsrun_json_close(&j, ']');
	nsrun_json_close(&j, '}');
	putchar('\n');
}

/* Returns the status. */
static int
scan_tree(const char *dir, bool json, struct nsrun_err *err)
{
	const struct nsrun_scan_limits limits = NSRUN_SCAN_LIMITS;
	struct report r = { .path = realpath(dir, NULL) };
	nsrun_autoclose int fd = r.path ? open(r.path, O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC) : -1;
	const struct nsrun_scan_root root = { .path = r.path, .fd = fd };
	int status = HELPER_FAILED;

	if (fd < 0)
		nsrun_err_sys(err, NSRUN_STEP_PROJECT, r.path ? "open" :
		    "realpath", dir, NULL);
	else if (nsrun_scan_new(&r.scan, &root, 1, &limits, err) == 0 &&
	    nsrun_scan_judge(r.scan, NULL, NULL, &r.result, err) == 0) {
		r.n = nsrun_scan_first(r.scan, r.result, r.v);
		if (json)
			put_json(&r);
		else
			put_text(&r);
		status = r.result->n_offenders ? 1 : 0;
		if (fflush(stdout) != 0)
			status = (nsrun_err_sys(err, NSRUN_STEP_PROJECT,
			    "write", "stdout", NULL), HELPER_FAILED);
	}
	nsrun_scan_free(r.scan);
	free((char *)(uintptr_t)r.path);
	return status;
}

int
scan_main(int argc, char *argv[])
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	const char *dir = NULL;
	bool json = false, options = true;
	int status = HELPER_FAILED;

	for (int i = 1; i < argc && err.step == NSRUN_STEP_NONE; i++) {
		if (options && !strcmp(argv[i], "--"))
			options = false;
		else if (options && !strcmp(argv[i], "--json"))
			json = true;
		else if (options && argv[i][0] == '-')
			nsrun_err_rule(&err, NSRUN_STEP_OPTION,
			    "is no option; see oc-nsrun(1)", argv[i], NULL);
		else if (dir)
			nsrun_err_rule(&err, NSRUN_STEP_OPTION,
			    "takes one directory", "scan", NULL);
		else
			dir = argv[i];
	}
	if (err.step == NSRUN_STEP_NONE && (!dir || !*dir))
		nsrun_err_rule(&err, NSRUN_STEP_OPTION, "wants a directory",
		    "scan", NULL);
	if (err.step == NSRUN_STEP_NONE)
		status = scan_tree(dir, json, &err);
	if (err.step != NSRUN_STEP_NONE)
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	return status;
}
