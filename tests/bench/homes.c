/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each home adds to a launch, against the one that a profile gives: the
 * bound is 0.15 of it. The caller's home has what homes have, so that an
 * overlay hides something.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static struct bench_contestant usual = { .name = "the profile's" };
static struct bench_contestant tmpfs = { .name = "tmpfs" };
static struct bench_contestant private = { .name = "private" };
static struct bench_contestant named = { .name = "private=NAME" };
static struct bench_contestant overlay = { .name = "overlay" };
static struct bench_contestant kept = { .name = "overlay, kept" };
static struct bench_contestant shown = { .name = "credential" };
static struct bench_contestant copied = { .name = "credential-copy" };
static struct bench_contestant returned = { .name = "... returned" };
static struct bench_contestant *const all[] = {
	&usual, &tmpfs, &private, &named, &overlay, &kept, &shown, &copied,
	&returned,
};
static const char *const options[] = {
	"", "--home tmpfs", "--home private", "--home private=bench",
	"--home overlay", "--home overlay --home-keep bench",
	"--credential %/.claude/.credentials.json",
	"--credential-copy %/.claude/.credentials.json",
	"--credential-copy %/.claude/.credentials.json --credential-return",
};
enum { N_ALL = sizeof all / sizeof *all };
_Static_assert(sizeof options / sizeof *options == N_ALL, "one each");

void
bench_homes(const char *program, const char *root, const char *project,
    const char *home, const char *payload, int n)
{
	char command[1024];

	snprintf(command, sizeof command, "cd %s && mkdir -p .ssh .claude"
	    " .config/gh .local/share && echo key >.ssh/id &&"
	    " echo token >.claude/.credentials.json && mkdir -m 700 %s/state",
	    home, root);
	if (system(command) != 0)
		bench_die("home");
	for (int i = 0; i < N_ALL; i++) {
		struct bench_words w = { 0 };

		bench_add(&w, "%s", program);
		bench_add_all(&w, "run --project %", project);
		bench_add_all(&w, "--state-dir %/state", root);
		bench_add_all(&w, options[i], home);
		bench_add_all(&w, "-- %", payload);
		all[i]->argv = w.v;
	}
	bench_compare("homes (us)", all, N_ALL, &usual, n);
}
