/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The limits: their words, their units, who enforces them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/number.h"
#include "plan/plan.h"

static const struct {
	const char *name;
	int resource;
	char unit;
} limits[] = {
	[NSRUN_LIMIT_CPU]		= { "cpu", RLIMIT_CPU, 's' },
	[NSRUN_LIMIT_ADDRESS_SPACE]	= { "address-space", RLIMIT_AS, 'b' },
	[NSRUN_LIMIT_DATA]		= { "data", RLIMIT_DATA, 'b' },
	[NSRUN_LIMIT_FILE_SIZE]		= { "file-size", RLIMIT_FSIZE, 'b' },
	[NSRUN_LIMIT_FILES]		= { "files", RLIMIT_NOFILE, 'n' },
	[NSRUN_LIMIT_PROCESSES]		= { "processes", RLIMIT_NPROC, 'n' },
	[NSRUN_LIMIT_CORE]		= { "core", RLIMIT_CORE, 'b' },
	[NSRUN_LIMIT_MESSAGES]		= { "messages", RLIMIT_MSGQUEUE, 'b' },
	[NSRUN_LIMIT_LOCKED]		= { "locked", RLIMIT_MEMLOCK, 'b' },
	[NSRUN_LIMIT_SIGNALS]		= { "signals", RLIMIT_SIGPENDING, 'n' },
	[NSRUN_LIMIT_REALTIME]		= { "realtime", RLIMIT_RTPRIO, 'n' },
	[NSRUN_LIMIT_STACK]		= { "stack", RLIMIT_STACK, 'b' },
	[NSRUN_LIMIT_MEMORY]		= { "memory", -1, 'b' },
	[NSRUN_LIMIT_SWAP]		= { "swap", -1, 'b' },
	[NSRUN_LIMIT_CPUS]		= { "cpus", -1, 'c' },
	[NSRUN_LIMIT_IO_READ]		= { "io-read", -1, 'b' },
	[NSRUN_LIMIT_IO_WRITE]		= { "io-write", -1, 'b' },
	[NSRUN_LIMIT_WRITE]		= { "write", -1, 'b' },
	[NSRUN_LIMIT_INODES]		= { "inodes", -1, 'n' },
};
_Static_assert(sizeof limits / sizeof *limits == NSRUN_N_LIMITS, "all");

const char *
nsrun_limit_name(enum nsrun_limit_kind kind)
{
	return limits[kind].name;
}

int
nsrun_limit_resource(enum nsrun_limit_kind kind)
{
	return limits[kind].resource;
}

char
nsrun_limit_unit(enum nsrun_limit_kind kind)
{
	return limits[kind].unit;
}

int
nsrun_limit_find(const char *name)
{
	for (int i = 0; i < NSRUN_N_LIMITS; i++)
		if (!strcmp(limits[i].name, name))
			return i;
	return -1;
}

bool
nsrun_limit_needs_cgroup(enum nsrun_limit_kind kind)
{
	return kind >= NSRUN_LIMIT_MEMORY && kind <= NSRUN_LIMIT_IO_WRITE;
}

/* None of it, or so little that nothing could run, is not a limit. */
static uint64_t
least(enum nsrun_limit_kind kind)
{
	switch (kind) {
	case NSRUN_LIMIT_MEMORY:
		return 1 << 20;
	case NSRUN_LIMIT_CPUS:
		return 10;
	case NSRUN_LIMIT_IO_READ:
	case NSRUN_LIMIT_IO_WRITE:
		return 1 << 10;
	case NSRUN_LIMIT_CPU:
	case NSRUN_LIMIT_ADDRESS_SPACE:
	case NSRUN_LIMIT_DATA:
	case NSRUN_LIMIT_FILE_SIZE:
	case NSRUN_LIMIT_FILES:
	case NSRUN_LIMIT_PROCESSES:
	case NSRUN_LIMIT_CORE:
	case NSRUN_LIMIT_MESSAGES:
	case NSRUN_LIMIT_LOCKED:
	case NSRUN_LIMIT_SIGNALS:
	case NSRUN_LIMIT_REALTIME:
	case NSRUN_LIMIT_STACK:
	case NSRUN_LIMIT_SWAP:
	case NSRUN_LIMIT_WRITE:
	case NSRUN_LIMIT_INODES:
	case NSRUN_N_LIMITS:
		break;
	}
	return 0;
}

int
nsrun_limit_value(enum nsrun_limit_kind kind, const char *text, uint64_t *value)
{
	int rc;

	if (limits[kind].unit == 'c')
		/* Like seconds: three digits after the point count. */
		rc = text[strspn(text, "0123456789.")] ? -1 :
		    nsrun_duration_parse(text, value);
	else if (limits[kind].unit == 's' &&
	    nsrun_duration_parse(text, value) == 0)
		rc = (*value = (*value + 999) / 1000, 0);
	else
		rc = nsrun_size_parse(text, value);
	return rc < 0 || *value < least(kind) ? -1 : 0;
}

int
nsrun_limit_parse(const char *text, int *kind, uint64_t *value)
{
	const char *equals = strchr(text, '=');
	char name[32] = "";

	if (equals && equals - text < (ptrdiff_t)sizeof name)
		memcpy(name, text, (size_t)(equals - text));
	*kind = nsrun_limit_find(name);
	if (!equals || *kind < 0)
		return -1;
	return nsrun_limit_value((enum nsrun_limit_kind)*kind, equals + 1,
	    value) < 0 ? -2 : 0;
}

const char *
nsrun_limit_text(enum nsrun_limit_kind kind, uint64_t value, char buf[24])
{
	size_t n;

	if (limits[kind].unit != 'c') {
		nsrun_size_text(value, buf);
		if (limits[kind].unit == 's')
			strcat(buf, "s");
		return buf;
	}
	n = (size_t)snprintf(buf, 24, "%" PRIu64 ".%03u", value / 1000 %
	    1000000, (unsigned int)(value % 1000));
	while (buf[n - 1] == '0')
		buf[--n] = '\0';
	if (buf[n - 1] == '.')
		buf[n - 1] = '\0';
	return buf;
}
