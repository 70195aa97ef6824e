/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The project's overlay, as the state directory knows it. */
#ifndef NSRUN_HOST_OVERLAY_H
#define NSRUN_HOST_OVERLAY_H

#include "host/store.h"

#define NSRUN_OVERLAY_KIND "overlays"

/*
 * What it is called: as given, or, for NSRUN_REQUEST_OWN, after the project's
 * canonical path.
 */
void nsrun_overlay_name(char name[NSRUN_STORE_NAME + 1], const char *given,
    const char *project);

#endif
