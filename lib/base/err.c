/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/err.h"

#include <errno.h>
#include <string.h>

/* Append s to buf, cutting it; no allocation, no locale, no stdio. */
static void
append(char *buf, size_t size, const char *s)
{
	size_t n = strnlen(buf, size - 1);

	while (*s && n < size - 1)
		buf[n++] = *s++;
	buf[n] = '\0';
}

static int
record(struct nsrun_err *err, enum nsrun_step step, int errnum,
    const char *call, const char *a, const char *b)
{
	if (err->step != NSRUN_STEP_NONE)
		return -1;
	*err = (struct nsrun_err){ .step = step, .errnum = errnum };
	append(err->call, sizeof err->call, call);
	if (a)
		append(err->subject, sizeof err->subject, a);
	if (b) {
		append(err->subject, sizeof err->subject, " -> ");
		append(err->subject, sizeof err->subject, b);
	}
	return -1;
}

int
nsrun_err_sys(struct nsrun_err *err, enum nsrun_step step,
    const char *call, const char *a, const char *b)
{
	return record(err, step, errno, call, a, b);
}

int
nsrun_err_rule(struct nsrun_err *err, enum nsrun_step step,
    const char *rule, const char *a, const char *b)
{
	return record(err, step, 0, rule, a, b);
}

int
nsrun_err_nomem(struct nsrun_err *err, const char *subject)
{
	return record(err, NSRUN_STEP_MEMORY, ENOMEM, "malloc", subject, NULL);
}
