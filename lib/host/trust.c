/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/trust.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"

int
nsrun_trust_check(const char *path, enum nsrun_step step, struct nsrun_err *err)
{
	char prefix[PATH_MAX];
	struct stat st;
	size_t n = strlen(path);

	if (n >= sizeof prefix)
		return nsrun_err_rule(err, step,
		    "is too long a path", path, NULL);
	memcpy(prefix, path, n + 1);
	for (;;) {
		if (lstat(n ? prefix : "/", &st) < 0)
			return nsrun_err_sys(err, step, "lstat",
			    prefix, NULL);
		if (S_ISLNK(st.st_mode))
			return nsrun_err_rule(err, step,
			    "is a symbolic link", prefix, NULL);
		if (st.st_uid != 0)
			return nsrun_err_rule(err, step,
			    "is not owned by root", n ? prefix : "/", NULL);
		if (st.st_mode & (S_IWGRP | S_IWOTH))
			return nsrun_err_rule(err, step,
			    "is writable by group or others", n ? prefix : "/",
			    NULL);
		if (n == 0)
			return 0;
		while (prefix[--n] != '/')
			continue;
		prefix[n] = '\0';
	}
}
