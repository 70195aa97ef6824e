/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log, in the shape that programs parse. A line is one write(2). */
#include "nsjail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/err_print.h"
#include "base/fd.h"

static const struct {
	char letter;
	const char *color;
} levels[] = {
	[NSJAIL_DEBUG]		= { 'D', "\033[0;4m" },
	[NSJAIL_INFO]		= { 'I', "\033[1m" },
	[NSJAIL_WARNING]	= { 'W', "\033[0;33m" },
	[NSJAIL_ERROR]		= { 'E', "\033[1;31m" },
	[NSJAIL_FATAL]		= { 'F', "\033[7;35m" },
};

/* What could drive a terminal is shown as '?'. */
static void
neutralise(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = '?';
}

void
nsjail_log(const struct nsjail *n, enum nsjail_level level, const char *where,
    const char *format, ...)
{
	char text[1600], line[1800], date[40];
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;
	int len;

	if (level < n->log.level)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	neutralise(text);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S%z",
	    localtime_r(&now, &tm));
	len = level == NSJAIL_INFO ? snprintf(line, sizeof line,
	    "%s[I][%s] %s%s\n", n->log.color ? levels[level].color : "", date,
	    text, n->log.color ? "\033[0m" : "") :
	    snprintf(line, sizeof line, "%s[%c][%s][%d] %s %s%s\n",
	    n->log.color ? levels[level].color : "", levels[level].letter,
	    date, (int)getpid(), where, text, n->log.color ? "\033[0m" : "");
	/* It may be closed or full: there is nobody to tell. */
	if (write(n->log.fd, line, (size_t)len) < 0)
		return;
}

void
nsjail_log_err(const struct nsjail *n, const char *where)
{
	const struct nsrun_err *err = &n->err;
	const char *hint = nsrun_err_hint(err);

	nsjail_log(n, NSJAIL_FATAL, where, "%s%s%s: %s%s%s",
	    err->step == NSRUN_STEP_OPTION ? "" : nsrun_step_name(err->step),
	    *err->subject && err->step != NSRUN_STEP_OPTION ? " " : "",
	    err->subject, err->call, err->errnum ? ": " : "",
	    err->errnum ? nsrun_errno_text(err->errnum) : "");
	if (hint && err->step != NSRUN_STEP_EXEC)
		nsjail_log(n, NSJAIL_FATAL, where, "hint: %s", hint);
}

void
nsjail_log_set_fd(struct nsjail *n, int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	if (copy >= 0) {
		if (n->log.fd > 2)
			nsrun_fd_close(&n->log.fd);
		n->log.fd = copy;
	} else {
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("logFile"),
		    "log_fd %d: %s", fd, strerror(errno));
	}
	n->log.color = isatty(n->log.fd) && !getenv("NO_COLOR");
}

const char *
nsjail_time_limit(const struct nsjail *n, char buf[NSJAIL_TIME_SIZE])
{
	unsigned int ms = n->config.time_limit_ms;
	int len = snprintf(buf, NSJAIL_TIME_SIZE, "%u.%03u",
	    n->config.time_limit, ms);

	/* No more digits than it has. */
	while (buf[len - 1] == '0')
		buf[--len] = '\0';
	if (buf[len - 1] == '.')
		buf[--len] = '\0';
	return buf;
}

/* One that cannot be written is no reason to fail: as nsjail has it. */
int
nsjail_log_open(struct nsjail *n, const char *path)
{
	nsrun_autoclose int fd = open(path, O_CREAT | O_WRONLY | O_APPEND |
	    O_CLOEXEC | O_NOCTTY, 0640);

	if (fd < 0)
		nsjail_log(n, NSJAIL_WARNING, NSJAIL_WHERE("logFile"),
		    "Couldn't open logfile '%s': %s", path, strerror(errno));
	else
		nsjail_log_set_fd(n, fd);
	return 0;
}
