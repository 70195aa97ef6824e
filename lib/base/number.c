/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Read digits up to the first other character; false when none or too large. */
static bool
digits(const char **text, uint64_t *value)
{
	const char *s = *text;
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return false;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	*text = s;
	*value = v;
	return true;
}

int
nsrun_number_parse(const char *text, uint64_t max, uint64_t *value)
{
	return digits(&text, value) && !*text && *value <= max ? 0 : -1;
}

int
nsrun_size_parse(const char *text, uint64_t *size_bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t v;

	if (!digits(&text, &v))
		return -1;
	if (*text) {
		unit = strchr(units, *text);
		if (!unit || text[1] || __builtin_mul_overflow(v,
		    UINT64_C(1) << 10 * (unit - units + 1), &v))
			return -1;
	}
	*size_bytes = v;
	return 0;
}

int
nsrun_duration_parse(const char *text, uint64_t *duration_ms)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {
		{ "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "m", 60000 },
		{ "h", 3600000 },
	};
	uint64_t v, fraction = 0, scale = 1;

	if (!digits(&text, &v))
		return -1;
	if (*text == '.') {
		const char *start = ++text;

		if (!digits(&text, &fraction) || text - start > 6)
			return -1;
		for (; start < text; start++)
			scale *= 10;
	}
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(text, units[i].name))
			return __builtin_mul_overflow(v, units[i].ms, &v) ||
			    __builtin_add_overflow(v,
			    fraction * units[i].ms / scale, duration_ms) ||
			    *duration_ms > INT64_MAX / 2000000 ? -1 : 0;
	return -1;
}

const char *
nsrun_size_text(uint64_t size_bytes, char buf[24])
{
	static const char units[] = "KMGT";
	int i = -1;

	while (i < 3 && size_bytes && size_bytes % 1024 == 0) {
		size_bytes /= 1024;
		i++;
	}
	snprintf(buf, 24, "%" PRIu64 "%.*s", size_bytes, i >= 0,
	    i >= 0 ? &units[i] : "");
	return buf;
}

const char *
nsrun_duration_text(uint64_t duration_ms, char buf[24])
{
	if (duration_ms % 1000)
		snprintf(buf, 24, "%" PRIu64 "ms", duration_ms);
	else
		snprintf(buf, 24, "%" PRIu64 "s", duration_ms / 1000);
	return buf;
}
