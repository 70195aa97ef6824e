/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who the command is: the maps, and what the first line of each makes of it. */
#include <grp.h>
#include <linux/sched.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "nsjail.h"

/* A number, or a name of the host's; "" is the caller's own. */
static int
parse_id(struct nsjail *n, const char *text, bool user, uint32_t *id)
{
	const struct passwd *pw;
	const struct group *gr;
	uint64_t number;

	if (!*text) {
		*id = user ? geteuid() : getegid();
		return 0;
	}
	if (nsjail_number(text, UINT32_MAX - 1, &number) == 0) {
		*id = (uint32_t)number;
		return 0;
	}
	if (user && (pw = getpwnam(text))) {
		*id = pw->pw_uid;
		return 0;
	}
	if (!user && (gr = getgrnam(text))) {
		*id = gr->gr_gid;
		return 0;
	}
	return nsjail_refuse(n, user ? "user" : "group", "there is none of"
	    " this name", text);
}

static int
add_ranges(struct nsjail *n, struct nsrun_plan *plan, bool user,
    bool *newidmap)
{
	static const struct nsjail_idmap own = {
		.inside = "", .outside = "", .count = 1,
	};
	const struct nsjail_list *list = user ? &n->uids : &n->gids;
	const struct nsjail_idmap *v = list->n ? list->v : &own;

	for (size_t i = 0; i < (list->n ? list->n : 1); i++) {
		struct nsrun_idrange r = { .count = v[i].count };

		if (parse_id(n, v[i].inside, user, &r.inside) < 0 ||
		    parse_id(n, v[i].outside, user, &r.outside) < 0)
			return -1;
		if (i > 0 && v[i].newidmap != v[0].newidmap)
			return nsjail_refuse(n, user ? "user" : "group",
			    "newuidmap(1) and newgidmap(1) give all lines or"
			    " none", v[i].inside);
		*newidmap |= v[i].newidmap;
		if (nsrun_plan_add_idrange(plan, user ? &plan->uid_map :
		    &plan->gid_map, r, &n->err) < 0)
			return -1;
	}
	return 0;
}

/* Without a user namespace more groups than one are just that. */
static int
set_groups(struct nsjail *n, struct nsrun_plan *plan)
{
	struct nsrun_identity *who = &plan->identity;
	size_t more = plan->gid_map.n > 1 && !n->config.newuser ?
	    plan->gid_map.n - 1 : 0;
	gid_t *groups = nsrun_arena_alloc(&n->arena,
	    (more + 1) * sizeof *groups);
	char *text;

	if (!groups)
		return nsjail_nomem(n);
	for (size_t i = 0; i < more; i++)
		groups[i] = plan->gid_map.v[i + 1].inside;
	who->groups = groups;
	who->n_groups = more;
	who->sets_groups = more || (geteuid() == 0 && getgroups(0, NULL) > 0);
	/* Where an outer namespace forbids it, nobody has any to drop. */
	if (who->sets_groups && !more) {
		text = nsrun_file_read("/proc/self/setgroups", 64);
		who->sets_groups = !text || strncmp(text, "deny", 4);
		free(text);
	}
	return 0;
}

/* A map of others than ourselves is root's to write, or the tools'. */
static int
check_right(struct nsjail *n, const struct nsrun_plan *plan, bool newidmap)
{
	const struct nsrun_idrange *u = plan->uid_map.v, *g = plan->gid_map.v;

	if (geteuid() == 0 || newidmap)
		return 0;
	if (plan->uid_map.n > 1 || u->outside != geteuid() || u->count != 1)
		return nsjail_refuse(n, "user", "maps more than the caller's"
		    " own uid: that takes root, or -U and newuidmap(1)", NULL);
	if (plan->gid_map.n > 1 || g->outside != getegid() || g->count != 1)
		return nsjail_refuse(n, "group", "maps more than the caller's"
		    " own gid: that takes root, or -G and newgidmap(1)", NULL);
	return 0;
}

int
nsjail_plan_ids(struct nsjail *n, struct nsrun_plan *plan)
{
	struct nsrun_identity *who = &plan->identity;
	bool newidmap = false, root = geteuid() == 0;

	if (add_ranges(n, plan, true, &newidmap) < 0 ||
	    add_ranges(n, plan, false, &newidmap) < 0)
		return -1;
	*who = (struct nsrun_identity){
		.uid = plan->uid_map.v->inside, .host_uid = geteuid(),
		.gid = plan->gid_map.v->inside, .host_gid = getegid(),
		.keeps_root = root,
		.why_kept = root ? "the caller is root" : NULL,
	};
	if (set_groups(n, plan) < 0)
		return -1;
	if (!n->config.newuser) {
		who->sets_ids = who->uid != who->host_uid ||
		    who->gid != who->host_gid;
		plan->uid_map.n = plan->gid_map.n = 0;
		return 0;
	}
	who->asks_for_maps = root || newidmap;
	who->sets_ids_first = plan->uid_map.v->outside != who->host_uid ||
	    plan->gid_map.v->outside != who->host_gid;
	return check_right(n, plan, newidmap);
}
