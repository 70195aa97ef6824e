/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "fuzz.h"
#include "host/roots.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), found[256];
	const char *at = text;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	while (nsrun_mountinfo_next_below(&at, "/p", found, sizeof found) == 1)
		if (!nsrun_path_is_within(found, "/p"))
			abort();
	free(text);
	return 0;
}
