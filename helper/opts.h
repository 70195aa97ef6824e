/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of `run` and `explain`: words to a request, no more. */
#ifndef HELPER_OPTS_H
#define HELPER_OPTS_H

#include <stdbool.h>

#include "nsrun.h"

struct opts {
	struct nsrun_request *request;
	int	status_fd;	/* -1: none */
	int	log_fd;		/* -1: none */
	bool	json;
	bool	dry_run;
	bool	help;
};

/* The program's own options, beside those of a request; for usage.c. */
struct opts_word {
	const char *name, *argument, *help;
};
extern const struct opts_word opts_words[];
extern const unsigned int opts_n_words;

/* argv[0] is the subcommand. opts must be released whatever is returned. */
int opts_parse(struct opts *opts, int argc, char *argv[],
    struct nsrun_err *err);
void opts_deinit(struct opts *opts);

#endif
