/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the measurements share: contestants, a clock, medians. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BENCH_MAX_RUNS = 5000, BENCH_MAX_FILES = 16 };

/* Something that can be started; argv ends with what runs inside. */
struct bench_contestant {
	const char	*name;
	char		**argv;		/* NULL: not installed here */
	struct bench_file {
		int	fd;		/* the program's, opened anew */
		int	from_fd;
	}		files[BENCH_MAX_FILES];
	int		n_files;
	int64_t		ns[BENCH_MAX_RUNS];
	int		n;
};

int64_t bench_now_ns(void);

/* Start it; stdin, stdout and stderr as given. Returns the pid, or exits. */
pid_t bench_spawn(const struct bench_contestant *c, const int stdio[3]);
/* Start it and wait for its end; exits when it did not end with 0. */
int64_t bench_once(const struct bench_contestant *c);

/* Sorts ns[0..n). */
int64_t bench_quantile(int64_t *ns, int n, double q);

/* n of each, interleaved; then median, p10, p99 and the ratio to the reference,
 * which is one of them, or NULL. Who has no argv is left out. */
void bench_compare(const char *title, struct bench_contestant *const all[],
    int n_all, struct bench_contestant *reference, int n);
/* The table alone. */
void bench_print(const char *title, struct bench_contestant *const all[],
    int n_all, struct bench_contestant *reference);

/* A list of words that grows, NULL at its end; the words are never freed. */
struct bench_words {
	char **v;
	size_t n;
};
void bench_add(struct bench_words *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Words divided by blanks; the first "%" of each stands for `with`. */
void bench_add_all(struct bench_words *w, const char *words, const char *with);

/* A file without a name that holds n bytes. */
int bench_memory_file(const void *bytes, size_t n);

/* The first seed's bwrap command line (openclaudia.md 1.7), or NULL argv. */
void bench_make_bwrap(struct bench_contestant *c, const char *project,
    const char *home, char *const command[]);
/* The filter that goes with it, likewise. */
int bench_make_filter(void);
void bench_make_nsrun(struct bench_contestant *c, const char *program,
    const char *project, char *const command[]);

/* What each home adds to a launch; root is the measurement's own. */
void bench_homes(const char *program, const char *root, const char *project,
    const char *home, const char *payload, int n);

/*
 * The scan against find(1), interleaved, in trees of files below dir; n rounds.
 * With NSRUN_BENCH_COLD set, as root, also after the caches were dropped.
 */
void bench_scan(const char *program, const char *dir, int n);

/*
 * Launches with many masks of each kind, n of each; `other`, if it is not NULL,
 * is another build of the program, in turns with this one.
 */
void bench_masks(const char *program, const char *other, const char *dir,
    int n);

_Noreturn void bench_die(const char *what);

#endif
