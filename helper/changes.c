/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-nsrun diff, apply, discard: what a run on an overlay project wrote. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "helper.h"
#include "host/request.h"
#include "overlay.h"
#include "overlay/apply.h"
#include "overlay/baseline.h"
#include "overlay_list.h"

struct words {
	const char *project, *state_dir, *name;
	bool text, json;
};

static int
bad(struct nsrun_err *err, const char *rule, const char *word)
{
	return nsrun_err_rule(err, NSRUN_STEP_OPTION, rule, word, NULL);
}

/* "--name VALUE" and "--name=VALUE": 1 when it is that option. */
static int
take_value(const char **value, const char *name, int argc, char *argv[],
    int *i, struct nsrun_err *err)
{
	size_t n = strlen(name);

	if (strncmp(argv[*i], name, n) || (argv[*i][n] && argv[*i][n] != '='))
		return 0;
	*value = argv[*i][n] ? argv[*i] + n + 1 : ++*i < argc ? argv[*i] : NULL;
	if (!*value || !**value)
		return bad(err, "wants a value", name);
	return 1;
}

/* argv[*i] is an option. */
static int
take_option(struct words *w, int argc, char *argv[], int *i,
    struct nsrun_err *err)
{
	bool diff = !strcmp(argv[0], "diff");
	const char *word = argv[*i];
	int rc;

	if (diff && !strcmp(word, "--text"))
		w->text = true;
	else if (diff && !strcmp(word, "--json"))
		w->json = true;
	else if ((rc = take_value(&w->project, "--project", argc, argv, i,
	    err)) || (rc = take_value(&w->state_dir, "--state-dir", argc, argv,
	    i, err)))
		return rc < 0 ? -1 : 0;
	else
		return bad(err, "is no option; see oc-nsrun-diff(1)", word);
	return 0;
}

static int
parse(struct words *w, int argc, char *argv[], struct nsrun_err *err)
{
	bool options = true;

	*w = (struct words){ .project = "." };
	for (int i = 1; i < argc; i++) {
		if (options && !strcmp(argv[i], "--")) {
			options = false;
		} else if (options && argv[i][0] == '-') {
			if (take_option(w, argc, argv, &i, err) < 0)
				return -1;
		} else if (w->name || !*argv[i]) {
			return bad(err, "takes the name of one overlay",
			    argv[0]);
		} else {
			w->name = argv[i];
		}
	}
	if (w->text && w->json)
		return bad(err, "goes without --json", "--text");
	if (!w->name)
		w->name = NSRUN_REQUEST_OWN;
	return 0;
}

static int
load(struct nsrun_baseline *b, const struct overlay *o, struct nsrun_err *err)
{
	*b = (struct nsrun_baseline){ 0 };
	return o->layer_fd < 0 ? 0 : nsrun_baseline_load(b, o->item.fd, err);
}

/* Returns the status. */
static int
diff(struct overlay *o, const struct words *w, const char *const *reserved,
    struct nsrun_err *err)
{
	struct nsrun_json json = { .out = stdout };
	struct overlay_list list = {
		.out = stdout, .text = w->text, .json = w->json ? &json : NULL,
	};
	struct nsrun_baseline b;
	struct nsrun_changes c = {
		.layer_fd = o->layer_fd, .project_fd = o->project_fd,
		.notes_fd = o->item.fd, .baseline = &b, .reserved = reserved,
		.tell = overlay_list_one, .arg = &list, .err = err,
	};
	int rc = load(&b, o, err);

	if (rc == 0 && w->json) {
		nsrun_json_open(&json, NULL, '{');
		nsrun_json_number(&json, "v", 1);
		nsrun_json_string(&json, "project", o->project);
		nsrun_json_open(&json, "changes", '[');
	}
	if (rc == 0 && o->layer_fd >= 0)
		rc = nsrun_changes_walk(&c);
	if (rc >= 0 && w->json) {
		nsrun_json_close(&json, ']');
		nsrun_json_close(&json, '}');
		putchar('\n');
	}
	nsrun_baseline_deinit(&b);
	if (rc >= 0 && (fflush(stdout) != 0 || ferror(stdout)))
		rc = nsrun_err_sys(err, NSRUN_STEP_STATE, "write", "stdout",
		    NULL);
	return rc < 0 ? HELPER_FAILED : list.n ? 1 : 0;
}

static void
tell_refusal(void *arg, const struct nsrun_change *change, const char *why)
{
	struct nsrun_err err = NSRUN_ERR_INIT;

	(void)arg;
	nsrun_err_rule(&err, NSRUN_STEP_PROJECT, why, change->path, NULL);
	nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
}

static int
apply(struct overlay *o, const char *const *reserved, struct nsrun_err *err)
{
	struct nsrun_baseline b;
	struct nsrun_apply a = {
		.dir_fd = o->item.fd, .layer_fd = o->layer_fd,
		.project_fd = o->project_fd, .baseline = &b,
		.reserved = reserved, .refuse = tell_refusal,
	};
	struct stat st;
	int status = HELPER_FAILED;

	if (o->layer_fd < 0)
		return 0;
	if (fstat(o->project_fd, &st) < 0)
		return nsrun_err_sys(err, NSRUN_STEP_PROJECT, "fstat",
		    o->project, NULL), HELPER_FAILED;
	/* Root writes for whoever the project is. */
	a.gives = geteuid() == 0;
	a.uid = st.st_uid;
	a.gid = st.st_gid;
	if (load(&b, o, err) == 0 && nsrun_apply_changes(&a, err) == 0)
		status = a.n_refused ? 1 : overlay_remove(o, err) < 0 ?
		    HELPER_FAILED : 0;
	nsrun_baseline_deinit(&b);
	return status;
}

static int
discard(struct overlay *o, struct nsrun_err *err)
{
	if (nsrun_apply_recover(o->item.fd, o->project_fd, err) < 0)
		return HELPER_FAILED;
	return overlay_remove(o, err) < 0 ? HELPER_FAILED : 0;
}

int
changes_main(int argc, char *argv[])
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT, late = NSRUN_ERR_INIT;
	const char *const *reserved;
	int status = HELPER_FAILED;
	struct overlay o;
	struct words w;

	if (parse(&w, argc, argv, &err) == 0 &&
	    (reserved = overlay_reserved(&arena, &err)) &&
	    overlay_open(&o, w.project, w.name, w.state_dir, OVERLAY_FIND,
	    &err) == 0) {
		status = !strcmp(argv[0], "diff") ?
		    diff(&o, &w, reserved, &err) :
		    !strcmp(argv[0], "apply") ? apply(&o, reserved, &err) :
		    discard(&o, &err);
		if (overlay_close(&o, &late) < 0 && err.step ==
		    NSRUN_STEP_NONE) {
			err = late;
			status = HELPER_FAILED;
		}
	}
	if (err.step != NSRUN_STEP_NONE)
		nsrun_err_print(STDERR_FILENO, "oc-nsrun", &err);
	nsrun_arena_deinit(&arena);
	return status;
}
