/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "opts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/number.h"
#include "host/request.h"

enum { MAX_FD_INPUT = 64 << 20 };

enum word { ENV_FD, ARGS_FD, STATUS_FD, LOG_FD, DRY_RUN, JSON, HELP };

const struct opts_word opts_words[] = {
	[ENV_FD]	= { "env-fd", "N", "more of --env, NUL-separated" },
	[ARGS_FD]	= { "args-fd", "N", "more arguments, NUL-separated" },
	[STATUS_FD]	= { "status-fd", "N", "write JSON Lines there" },
	[LOG_FD]	= { "log-fd", "N", "write a log of launches there" },
	[DRY_RUN]	= { "dry-run", NULL,
	    "list what it writes to the project, and drop it" },
	[JSON]		= { "json", NULL, "explain: print one JSON object" },
	[HELP]		= { "help", NULL, "this text" },
};
const unsigned int opts_n_words = sizeof opts_words / sizeof *opts_words;

struct parse {
	struct opts		*opts;
	char			**command;	/* grows; NULL at the end */
	size_t			n_command;
	struct nsrun_err	*err;
};

static int
bad(struct parse *p, const char *rule, const char *word)
{
	return nsrun_err_rule(p->err, NSRUN_STEP_OPTION, rule, word, NULL);
}

static int
add_command(struct parse *p, const char *word)
{
	struct nsrun_arena *arena = &p->opts->request->arena;
	char **v = nsrun_arena_grow(arena, p->command, p->n_command,
	    2 * sizeof *v);

	if (!v || !(v[p->n_command] = nsrun_arena_strdup(arena, word)))
		return nsrun_err_nomem(p->err, "arguments");
	p->command = v;
	v[++p->n_command] = NULL;
	return 0;
}

static int
parse_fd(struct parse *p, const char *name, const char *value, int *fd)
{
	uint64_t n;

	if (nsrun_number_parse(value, INT_MAX, &n) < 0)
		return nsrun_err_rule(p->err, NSRUN_STEP_OPTION,
		    "is not a descriptor's number", name, value);
	/* 0 to 2 stay open for the command. */
	if (fcntl((int)n, F_GETFD) < 0 || (n > 2 &&
	    fcntl((int)n, F_SETFD, FD_CLOEXEC) < 0))
		return nsrun_err_sys(p->err, NSRUN_STEP_OPTION, "descriptor",
		    name, value);
	*fd = (int)n;
	return 0;
}

/* Each NUL-terminated string of fd, the last NUL being optional. */
static int
each_string(struct parse *p, const char *name, int fd,
    int (*take)(struct parse *p, const char *string))
{
	size_t size;
	char *text = nsrun_file_read_fd(fd, MAX_FD_INPUT, &size);
	int rc = 0;

	if (!text)
		return nsrun_err_sys(p->err, NSRUN_STEP_OPTION, "read", name,
		    NULL);
	close(fd);
	/* Below 3 something must stand: see open_stdio() in main.c. */
	if (fd < 3 && open("/dev/null", O_RDWR) != fd)
		rc = nsrun_err_sys(p->err, NSRUN_STEP_OPTION, "open",
		    "/dev/null", NULL);
	for (size_t at = 0; rc == 0 && at < size; at += strlen(text + at) + 1)
		rc = take(p, text + at);
	free(text);
	return rc;
}

static int
take_env(struct parse *p, const char *string)
{
	return nsrun_request_set(p->opts->request, "env", string, p->err);
}

static int
set_own(struct parse *p, enum word word, const char *value)
{
	int fd = -1;

	switch (word) {
	case JSON:
		p->opts->json = true;
		return 0;
	case DRY_RUN:
		p->opts->dry_run = true;
		return 0;
	case HELP:
		p->opts->help = true;
		return 0;
	case ENV_FD:
	case ARGS_FD:
	case STATUS_FD:
	case LOG_FD:
		break;
	}
	if (parse_fd(p, opts_words[word].name, value, &fd) < 0)
		return -1;
	/* Found before all else, so they are known whatever the order. */
	if (word != STATUS_FD && fd == p->opts->status_fd)
		return bad(p, "is --status-fd too", value);
	if (word != LOG_FD && fd == p->opts->log_fd)
		return bad(p, "is --log-fd too", value);
	if (word == STATUS_FD)
		p->opts->status_fd = fd;
	if (word == LOG_FD)
		p->opts->log_fd = fd;
	return word == ENV_FD ? each_string(p, "--env-fd", fd, take_env) :
	    word == ARGS_FD ? each_string(p, "--args-fd", fd, add_command) : 0;
}

/* One option of the program or of the request; value NULL: there was none. */
static int
set(struct parse *p, const char *name, const char *value)
{
	for (unsigned int i = 0; i < opts_n_words; i++)
		if (!strcmp(opts_words[i].name, name))
			return set_own(p, (enum word)i, value);
	return nsrun_request_set(p->opts->request, name, value, p->err);
}

/* 2: may have one, 1: wants one, 0: takes none, -1: no such option. */
static int
wants_value(const char *name)
{
	for (unsigned int i = 0; i < opts_n_words; i++)
		if (!strcmp(opts_words[i].name, name))
			return opts_words[i].argument != NULL;
	for (size_t i = 0; i < nsrun_n_request_words; i++)
		if (!strcmp(nsrun_request_words[i].name, name))
			return !nsrun_request_words[i].argument ? 0 :
			    *nsrun_request_words[i].argument == '[' ? 2 : 1;
	return -1;
}

/* argv[*i] is an option; moves *i past it and its value. */
static int
parse_option(struct parse *p, int argc, char *argv[], int *i)
{
	char name[32];
	const char *word = argv[*i], *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : NULL;
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	int wants;

	if (strncmp(word, "--", 2) || n - 2 >= sizeof name)
		return bad(p, "is no option; see oc-nsrun(1)", word);
	memcpy(name, word + 2, n - 2);
	name[n - 2] = '\0';
	wants = wants_value(name);
	if (wants < 0)
		return bad(p, "is no option; see oc-nsrun(1)", word);
	if (wants == 0 && value)
		return bad(p, "takes no value", word);
	if (wants == 1 && !value)
		value = ++*i < argc ? argv[*i] : NULL;
	if (wants == 2 && !value)
		value = NSRUN_REQUEST_OWN;
	if (wants >= 1 && (!value || !*value))
		return bad(p, "wants a value", word);
	++*i;
	return set(p, name, value);
}

/*
 * The descriptors of --status-fd and --log-fd before all else, wherever they
 * stand: what is wrong with the other words is reported there too.
 */
static void
find_report_fds(struct opts *opts, int argc, char *argv[])
{
	struct nsrun_err ignored = NSRUN_ERR_INIT;
	struct parse p = { .opts = opts, .err = &ignored };

	for (int i = 1; i < argc && argv[i][0] == '-' &&
	    strcmp(argv[i], "--"); i++) {
		size_t n = strcspn(argv[i], "=");
		const char *value = argv[i][n] ? argv[i] + n + 1 : argv[i + 1];
		char word[32] = "";

		if (n < sizeof word && n >= 2)
			memcpy(word, argv[i] + 2, n - 2);
		if (!strcmp(word, "status-fd") && value)
			parse_fd(&p, "--status-fd", value, &opts->status_fd);
		if (!strcmp(word, "log-fd") && value)
			parse_fd(&p, "--log-fd", value, &opts->log_fd);
		if (!argv[i][n] && wants_value(word) == 1 && i + 1 < argc)
			i++;
	}
}

int
opts_parse(struct opts *opts, int argc, char *argv[], struct nsrun_err *err)
{
	struct parse p = { .opts = opts, .err = err };
	int i = 1, rc = 0;

	*opts = (struct opts){ .status_fd = -1, .log_fd = -1 };
	opts->request = nsrun_request_new();
	if (!opts->request)
		return nsrun_err_nomem(err, "request");
	find_report_fds(opts, argc, argv);
	while (rc == 0 && i < argc && argv[i][0] == '-' &&
	    strcmp(argv[i], "--"))
		rc = parse_option(&p, argc, argv, &i);
	if (rc == 0 && i < argc && !strcmp(argv[i], "--"))
		i++;
	if (rc == 0 && i < argc) {
		/* Arguments from a descriptor follow those given here. */
		struct parse given = { .opts = opts, .err = err };

		for (; rc == 0 && i < argc; i++)
			rc = add_command(&given, argv[i]);
		for (size_t k = 0; rc == 0 && k < p.n_command; k++)
			rc = add_command(&given, p.command[k]);
		p.command = given.command;
		p.n_command = given.n_command;
	}
	if (rc == 0 && p.n_command)
		rc = nsrun_request_set_command(opts->request, p.command, err);
	return rc;
}

void
opts_deinit(struct opts *opts)
{
	nsrun_request_free(opts->request);
	opts->request = NULL;
}
