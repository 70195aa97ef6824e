/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nsjail has and we have not: said, never ignored. A field that only says
 * how (a mount point of a cgroup, an address for an interface) is not refused
 * by itself; the one that asks for the thing is.
 */
#include <string.h>

#include "nsjail.h"

static const char no_cgroups[] =
    "is refused: oc-nsjail makes no cgroups yet; put oc-nsjail itself into"
    " one, as by systemd-run -p MemoryMax=...";
static const char no_interfaces[] =
    "is refused: oc-nsjail moves and makes no interfaces; the jail has lo"
    " alone, or with -N all of the caller's";
static const char no_user_net[] =
    "is refused: oc-nsjail has no user network yet";

static const struct {
	const char *field, *why;
} refused[] = {
	{ "cgroup_mem_max", no_cgroups },
	{ "cgroup_mem_memsw_max", no_cgroups },
	{ "cgroup_mem_swap_max", no_cgroups },
	{ "cgroup_pids_max", no_cgroups },
	{ "cgroup_cpu_ms_per_sec", no_cgroups },
	{ "cgroup_net_cls_classid", no_cgroups },
	{ "iface_own", no_interfaces },
	{ "macvlan_iface", no_interfaces },
	{ "traffic_rule", no_interfaces },
	{ "user_net", no_user_net },
	{ "seccomp_unotify", "is refused: oc-nsjail does not trace; see"
	    " oc-nsrun(1), --learn, or strace(1)" },
};

/* Given, and not as it is anyway? */
static bool
is_asked(const struct nsjail_config *c, const char *name)
{
	const struct nsjail_message *all = &nsjail_config_message;
	const struct nsjail_field *f = nsjail_field_find(all, name, false);
	const char *at = (const char *)c + f->offset;

	if (!nsjail_field_given(all, c, name))
		return false;
	if (f->flags & NSJAIL_NOWHERE)
		return true;
	switch (f->type) {
	case NSJAIL_BOOL:
		return *(const bool *)at != f->number;
	case NSJAIL_U32:
	case NSJAIL_I32:
		return *(const uint32_t *)at != (uint32_t)f->number;
	case NSJAIL_U64:
	case NSJAIL_I64:
		return *(const uint64_t *)at != (uint64_t)f->number;
	case NSJAIL_ENUM:
	case NSJAIL_STRING:
	case NSJAIL_BYTES:
	case NSJAIL_MESSAGE:
		break;
	}
	return true;
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
