/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/embedded.h"

#include <string.h>

size_t
nsrun_filters(const struct nsrun_filter **filters)
{
	*filters = nsrun_embedded_filters;
	return nsrun_n_embedded_filters;
}

size_t
nsrun_policy_texts(const struct nsrun_policy_text **texts)
{
	*texts = nsrun_embedded_texts;
	return nsrun_n_embedded_texts;
}

const struct nsrun_filter *
nsrun_filter_find(const char *name, const char *variant, uint32_t audit_arch)
{
	const struct nsrun_filter *f = nsrun_embedded_filters;

	for (size_t i = 0; i < nsrun_n_embedded_filters; i++, f++)
		if (f->audit_arch == audit_arch && strcmp(f->name, name) == 0 &&
		    strcmp(f->variant, variant ? variant : "") == 0)
			return f;
	return NULL;
}

const struct nsrun_policy_text *
nsrun_policy_text_find(const char *kind, const char *name)
{
	const struct nsrun_policy_text *t = nsrun_embedded_texts;

	for (size_t i = 0; i < nsrun_n_embedded_texts; i++, t++)
		if (strcmp(t->kind, kind) == 0 && strcmp(t->name, name) == 0)
			return t;
	return NULL;
}
