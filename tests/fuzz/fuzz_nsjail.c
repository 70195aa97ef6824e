/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whatever a configuration of oc-nsjail is, text or JSON, it is refused with a
 * place, or every field has a value of its type.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "values.h"

static void
read_as(const char *text, size_t size,
    int (*read)(struct nsjail_reader *, const struct nsjail_message *, void *))
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	struct nsrun_err err = NSRUN_ERR_INIT;
	struct nsjail_config config;
	struct nsjail_reader r = {
		.arena = &arena, .name = "fuzz", .text = text, .at = text,
		.end = text + size, .err = &err,
	};
	const struct nsjail_mount *m;

	nsjail_message_init(&nsjail_config_message, &config);
	if (read(&r, &nsjail_config_message, &config) < 0) {
		if (strncmp(err.subject, "fuzz:", 5) || !*err.call)
			abort();
	} else {
		m = config.mounts.v;
		for (size_t i = 0; i < config.mounts.n; i++)
			if (!m[i].dst || !m[i].src || !m[i].options)
				abort();
		if (!config.hostname || config.mode > NSJAIL_EXECVE)
			abort();
	}
	nsrun_arena_deinit(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	read_as(text, size, nsjail_read_text);
	read_as(text, size, nsjail_read_json);
	free(text);
	return 0;
}
