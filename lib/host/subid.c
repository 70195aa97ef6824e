/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/subid.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/number.h"

enum { MAX_FILE = 4 << 20 };

/* "NAME:FIRST:COUNT", of that name: is it well-formed, and not of root's? */
static bool
parse(char *line, const char *name, const char *number,
    struct nsrun_subids *ids)
{
	char *first = strchr(line, ':'), *count = NULL;
	uint64_t from, n;

	if (!first)
		return false;
	*first++ = '\0';
	if (strcmp(line, number) && (!name || strcmp(line, name)))
		return false;
	count = strchr(first, ':');
	if (!count)
		return false;
	*count++ = '\0';
	if (nsrun_number_parse(first, UINT32_MAX - 1, &from) < 0 ||
	    nsrun_number_parse(count, UINT32_MAX - 1, &n) < 0 || !from ||
	    !n || from + n > UINT32_MAX - 1)
		return false;
	*ids = (struct nsrun_subids){ (uint32_t)from, (uint32_t)n };
	return true;
}

int
nsrun_subids_read(struct nsrun_subids *ids, const char *file,
    struct nsrun_err *err)
{
	struct passwd space, *account = NULL;
	char buf[16384], number[16], rule[160], *text, *save = NULL;
	const char *name;
	bool found = false;

	errno = getpwuid_r(geteuid(), &space, buf, sizeof buf, &account);
	if (errno)
		return nsrun_err_sys(err, NSRUN_STEP_IDENTITY, "getpwuid_r",
		    file, NULL);
	name = account ? account->pw_name : NULL;
	text = nsrun_file_read(file, MAX_FILE);
	if (!text && errno != ENOENT)
		return nsrun_err_sys(err, NSRUN_STEP_IDENTITY, "read", file,
		    NULL);

	snprintf(number, sizeof number, "%" PRIu32, (uint32_t)geteuid());
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL;
	    line && !found; line = strtok_r(NULL, "\n", &save))
		found = parse(line, name, number, ids);
	free(text);
	if (found)
		return 0;
	snprintf(rule, sizeof rule, "gives %.32s no range: usermod"
	    " --add-subuids 100000-165535 --add-subgids 100000-165535 %.32s",
	    name ? name : number, name ? name : number);
	return nsrun_err_rule(err, NSRUN_STEP_IDENTITY, rule, file, NULL);
}

bool
nsrun_subids_have(const struct nsrun_subids *ids, uint64_t id)
{
	return id >= ids->first && id - ids->first < ids->count;
}
