/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NUL-separated words as a command line of `run`. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fuzz.h"
#include "opts.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nsrun_err err = NSRUN_ERR_INIT;
	char *text = malloc(size + 1), *argv[66] = { (char *)(uintptr_t)"run" };
	struct opts opts;
	int argc = 1;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	/* Descriptors of the fuzzer itself are not to be read. */
	for (size_t at = 0; at < size && argc < 65; at += strlen(text + at) + 1)
		if (!strstr(text + at, "-fd"))
			argv[argc++] = text + at;
	if (opts_parse(&opts, argc, argv, &err) < 0 &&
	    err.step == NSRUN_STEP_NONE)
		abort();
	opts_deinit(&opts);
	free(text);
	return 0;
}
