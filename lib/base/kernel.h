/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oldest kernel that we run on. */
#ifndef NSRUN_BASE_KERNEL_H
#define NSRUN_BASE_KERNEL_H

#include <stdbool.h>
#include <sys/utsname.h>

/*
 * Is the running kernel Linux 5.14 or newer? It counts processes per namespace
 * and has all calls we make. Fills *name, see uname(2); false also when that
 * fails, name->release being "" then.
 */
bool nsrun_kernel_suffices(struct utsname *name);

#endif
