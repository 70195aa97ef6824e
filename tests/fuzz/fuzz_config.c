/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "host/config.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsrun_config config;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (nsrun_config_parse(&config, "fuzz", text, &err) == 0)
		nsrun_config_deinit(&config);
	else if (err.step == NSRUN_STEP_NONE)
		abort();	/* refused without saying why */
	free(text);
	return 0;
}
