/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Probes: may this process have this, here? Each makes what it asks for in a
 * child that then ends, and changes nothing.
 */
#ifndef NSRUN_RUN_PROBE_H
#define NSRUN_RUN_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "nsrun.h"

/*
 * New namespaces (CLONE_NEW*, CLONE_NEWUSER among them), usable: its maps are
 * written, and with CLONE_NEWNET its loopback comes up. 0, or -1 with err.
 */
int nsrun_probe_namespaces(uint64_t flags, struct nsrun_err *err);

/* Everything but a network namespace is to be had. */
bool nsrun_probe_only_network_refused(void);

/* The version of Landlock's interface; 0: there is none. */
int nsrun_probe_landlock(void);

/* Filters of seccomp(2) can be loaded. */
bool nsrun_probe_seccomp(void);

#endif
