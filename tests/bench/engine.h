/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plan of a certain oc-nsjail command line, written down: what the engine
 * alone costs without a face that reads and compiles.
 */
#ifndef TESTS_BENCH_ENGINE_H
#define TESTS_BENCH_ENGINE_H

struct nsrun_err;
struct nsrun_plan;

enum { ENGINE_BINDS = 9, ENGINE_MAX_INSNS = 4096 };

/* Bound read-only, but for /dev/null; the last is the payload's directory. */
extern const char *const engine_binds[ENGINE_BINDS - 1];

/* The filter is a file of instructions, the payload an absolute path in dir. */
int engine_plan(struct nsrun_plan *plan, const char *filter, const char *dir,
    const char *payload, struct nsrun_err *err);

#endif
