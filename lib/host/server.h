/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Servers that a repository's configuration names, and that a host starts only
 * when it trusts them: by exact name, from a file that only root can replace.
 */
#ifndef NSRUN_HOST_SERVER_H
#define NSRUN_HOST_SERVER_H

struct nsrun_build;
struct nsrun_err;

/* Is this "PLUGIN/SERVER"? Printable, one slash, no `*`, no comma. */
int nsrun_server_check(const char *name, struct nsrun_err *err);

/*
 * The profile wants a server, or does not: is the request's trusted, and what
 * it starts? Then the plan executes the canonical file.
 */
int nsrun_build_server(struct nsrun_build *b);

#endif
