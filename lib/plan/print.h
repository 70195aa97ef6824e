/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plan as text, one function a format; nsrun_plan_print() of nsrun.h chooses.
 * Pure: nothing is asked of the host, and the same plan prints the same.
 */
#ifndef NSRUN_PLAN_PRINT_H
#define NSRUN_PLAN_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct nsrun_json;
struct nsrun_plan;

void nsrun_print_rows(FILE *out, const struct nsrun_plan *plan);
void nsrun_print_json(FILE *out, const struct nsrun_plan *plan);
void nsrun_print_tree(FILE *out, const struct nsrun_plan *plan, bool color);

/* Parts of the JSON that the records of --status-fd have too. */
void nsrun_json_put_filters(struct nsrun_json *j,
    const struct nsrun_plan *plan);
void nsrun_json_put_shields(struct nsrun_json *j,
    const struct nsrun_plan *plan);
void nsrun_json_put_names(struct nsrun_json *j, const char *name,
    const char *const *v, size_t n);

/* Text that may hold anything, for a terminal: control bytes become \ooo. */
void nsrun_print_name(FILE *out, const char *name);

#endif
