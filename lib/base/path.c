/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/path.h"

#include <string.h>

bool
nsrun_path_is_clean(const char *path)
{
	if (*path != '/')
		return false;
	if (!path[1])
		return true;
	while (*path) {
		size_t n = strcspn(++path, "/");

		if (n == 0 || (n == 1 && path[0] == '.') ||
		    (n == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += n;
	}
	return true;
}

bool
nsrun_path_is_within(const char *path, const char *root)
{
	size_t n = strlen(root);

	if (n == 1)
		return true;
	return !strncmp(path, root, n) && (!path[n] || path[n] == '/');
}

int
nsrun_path_compare(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	if (*a && *b && (*a == '/') != (*b == '/'))
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a - (unsigned char)*b;
}
