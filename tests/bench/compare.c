/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static int
by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t
bench_quantile(int64_t *ns, int n, double q)
{
	qsort(ns, (size_t)n, sizeof *ns, by_value);
	return ns[(int)(q * (n - 1))];
}

static void
print_row(struct bench_contestant *c, double reference)
{
	double median = (double)bench_quantile(c->ns, c->n, 0.5) / 1000;

	printf("  %-12s %8.0f %8.0f %8.0f", c->name, median,
	    (double)bench_quantile(c->ns, c->n, 0.1) / 1000,
	    (double)bench_quantile(c->ns, c->n, 0.99) / 1000);
	if (reference > 0)
		printf("   %.3f", median / reference);
	putchar('\n');
}

void
bench_print(const char *title, struct bench_contestant *const all[], int n_all,
    struct bench_contestant *reference)
{
	double median = reference && reference->n ?
	    (double)bench_quantile(reference->ns, reference->n, 0.5) / 1000 : 0;

	printf("\n%-14s median      p10      p99   of %s\n", title,
	    reference ? reference->name : "none");
	for (int i = 0; i < n_all; i++)
		if (all[i]->n)
			print_row(all[i], median);
}

void
bench_compare(const char *title, struct bench_contestant *const all[],
    int n_all, struct bench_contestant *reference, int n)
{
	/* The first ones are not counted. */
	int first = n < 5 ? -n : -5;

	for (int k = 0; k < n_all; k++)
		all[k]->n = 0;
	for (int i = first; i < n; i++)
		for (int k = 0; k < n_all; k++) {
			int64_t ns = all[k]->argv ? bench_once(all[k]) : 0;

			if (i >= 0 && all[k]->argv)
				all[k]->ns[all[k]->n++] = ns;
		}
	bench_print(title, all, n_all, reference);
}
