/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "host/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "host/config.h"
#include "policy/embedded.h"

int
nsrun_site_text(const char **text, struct nsrun_arena *arena, const char *kind,
    const char *name, char path[NSRUN_CONFIG_PATH], struct nsrun_err *err)
{
	const struct nsrun_policy_text *own = nsrun_policy_text_find(kind,
	    name);
	bool is_filter = !strcmp(kind, "filter");
	char *read;
	int rc = nsrun_config_text(name, is_filter ? "policy" : "profile",
	    &read, path, err);

	*text = own ? own->text : NULL;
	if (rc < 0)
		return -1;
	if (rc > 0 && own)
		rc = nsrun_err_rule(err, NSRUN_STEP_POLICY, "is called like one"
		    " of the release's: give it another name", path, NULL);
	else if (rc > 0 && !(*text = nsrun_arena_strdup(arena, read)))
		rc = nsrun_err_nomem(err, path);
	else if (own)
		snprintf(path, NSRUN_CONFIG_PATH, "%s.%s", name,
		    is_filter ? "policy" : "profile");
	free(read);
	return rc < 0 ? -1 : 0;
}

int
nsrun_site_profile(struct nsrun_profile *profile, const char *name,
    struct nsrun_err *err)
{
	struct nsrun_arena arena = NSRUN_ARENA_INIT;
	char path[NSRUN_CONFIG_PATH];
	const char *text;
	int rc = nsrun_site_text(&text, &arena, "profile", name, path, err);

	if (rc == 0 && !text)
		rc = nsrun_err_rule(err, NSRUN_STEP_OPTION,
		    "there is no such profile", "--profile", name);
	if (rc == 0)
		rc = nsrun_profile_parse(profile, path, text, err);
	if (rc == 0 && strcmp(profile->name, name)) {
		nsrun_profile_deinit(profile);
		rc = nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "is not called like its profile", path, NULL);
	}
	nsrun_arena_deinit(&arena);
	return rc;
}

int
nsrun_site_filter(const struct nsrun_filter **filter, struct nsrun_arena *arena,
    const char *name, const char *variant, uint32_t audit_arch,
    struct nsrun_err *err)
{
	char path[NSRUN_CONFIG_PATH];
	struct nsrun_filter *v;
	const char *text;
	size_t n;

	*filter = nsrun_filter_find(name, variant, audit_arch);
	if (*filter)
		return 0;
	if (nsrun_site_text(&text, arena, "filter", name, path, err) < 0)
		return -1;
	if (!text || nsrun_policy_text_find("filter", name))
		return 0;
	if (nsrun_filters_compile(arena, path, text, strlen(text), &v, &n,
	    err) < 0)
		return -1;
	if (n && strcmp(v->name, name))
		return nsrun_err_rule(err, NSRUN_STEP_POLICY,
		    "is not called like its filter", path, NULL);
	for (size_t i = 0; i < n; i++)
		if (v[i].audit_arch == audit_arch && (!*v[i].variant ||
		    (variant && !strcmp(v[i].variant, variant))))
			*filter = &v[i];
	return 0;
}
