/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs the target on each file that is named, and on each cut short. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int
main(int argc, char *argv[])
{
	static uint8_t buf[1 << 16];

	if (argc < 2)
		return 99;
	for (int i = 1; i < argc; i++) {
		FILE *in = fopen(argv[i], "rb");
		size_t n;

		if (!in) {
			perror(argv[i]);
			return 1;
		}
		n = fread(buf, 1, sizeof buf, in);
		fclose(in);
		for (size_t cut = 0; cut <= n; cut++) {
			/* A copy of that size: an overrun is seen by ASan. */
			uint8_t *copy = malloc(cut + 1);

			if (!copy)
				return 1;
			for (size_t k = 0; k < cut; k++)
				copy[k] = buf[k];
			LLVMFuzzerTestOneInput(copy, cut);
			free(copy);
		}
	}
	return 0;
}
