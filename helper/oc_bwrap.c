/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* oc-bwrap, whatever it is called: callers run it as /proc/self/exe, too. */
#include <stdio.h>

#include "bwrap.h"
#include "helper.h"

int
main(int argc, char *argv[])
{
	const char *why = helper_start(argc, argv);

	if (why) {
		fprintf(stderr, "bwrap: %s\n", why);
		return 1;
	}
	return bwrap_main(argc, argv);
}
