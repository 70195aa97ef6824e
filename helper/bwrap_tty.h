/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filter for a command that shares its caller's terminal: nothing can be
 * typed into that, TIOCSTI of ioctl_tty(2) (CVE-2017-5226) and TIOCLINUX of
 * ioctl_console(2) (CVE-2023-28100). Everything else goes on as it is.
 */
#ifndef HELPER_BWRAP_TTY_H
#define HELPER_BWRAP_TTY_H

#include "policy/embedded.h"

extern const struct nsrun_filter bwrap_tty_filter;

#endif
