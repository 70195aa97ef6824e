/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nsjail has and we have not: said, never ignored. One that is there and
 * cannot be had as it was asked for is refused where it is planned.
 */
#include "nsjail.h"

static const struct {
	const char *field, *why;	/* a field that is true or not */
} refused[] = {
	{ "seccomp_unotify", "is refused: oc-nsjail does not trace; see"
	    " oc-nsrun(1), --learn, or strace(1)" },
};

static bool
is_asked(const struct nsjail_config *c, const char *name)
{
	const struct nsjail_field *f =
	    nsjail_field_find(&nsjail_config_message, name, false);

	return *(const bool *)((const char *)c + f->offset);
}

int
nsjail_refuse_rest(struct nsjail *n)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		if (is_asked(&n->config, refused[i].field))
			return nsjail_refuse(n, refused[i].field,
			    refused[i].why, NULL);
	return 0;
}
