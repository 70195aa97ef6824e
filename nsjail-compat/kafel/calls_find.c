/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kafel/calls.h"

#include <string.h>

const struct kafel_call *
kafel_call_find(enum kafel_arch arch, const char *name)
{
	size_t low = 0, high = kafel_n_calls;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(kafel_calls[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < kafel_n_calls && !strcmp(kafel_calls[low].name, name);
	    low++)
		if (kafel_calls[low].nr[arch] >= 0)
			return &kafel_calls[low];
	return NULL;
}

const char *
kafel_call_hint(const char *name)
{
	static const char *const names[][2] = {
		{ "fstat", "newfstat" }, { "fstatat", "newfstatat" },
		{ "lstat", "newlstat" }, { "pread", "pread64" },
		{ "prlimit", "prlimit64" }, { "pwrite", "pwrite64" },
		{ "sendfile", "sendfile64" }, { "stat", "newstat" },
		{ "umount2", "umount" }, { "uname", "newuname" },
	};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(names[i][0], name))
			return names[i][1];
	return NULL;
}
