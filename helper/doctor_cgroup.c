/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * doctor: can a launch have a cgroup, with which limits, and if not, what gives
 * it one? Nothing is made: --cgroup is optional, and so nothing here is bad.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/file.h"
#include "doctor.h"
#include "run/cgroup.h"

static const char user_remedy[] =
    "for memory, swap, cpus and io limits: systemd-run --user --scope -p"
    " Delegate=yes -- oc-nsrun run ...; in a unit: Delegate=yes; or"
    " --cgroup DIR";
static const char root_remedy[] =
    "for memory, swap, cpus and io limits: systemd-run --scope -p Delegate=yes"
    " -- oc-nsrun run ...; in a unit: Delegate=yes; or --cgroup DIR";
static const char bare_remedy[] =
    "for memory, swap, cpus and io limits, as root: mkdir -p"
    " /sys/fs/cgroup/NAME/caller; then give NAME and caller, with their"
    " cgroup.procs and cgroup.subtree_control, to the user (chown), and put the"
    " caller into caller/cgroup.procs";
static const char no_cgroup2_remedy[] =
    "for memory, swap, cpus and io limits: boot with"
    " systemd.unified_cgroup_hierarchy=1, or mount -t cgroup2 none"
    " /sys/fs/cgroup";
static const char controllers_remedy[] =
    "as root, for users: systemctl edit user@.service, with [Service]"
    " Delegate=cpu cpuset io memory pids; elsewhere: write them to"
    " cgroup.subtree_control of the cgroups above it";
static const char busy_remedy[] =
    "start oc-nsrun alone in it (systemd-run --scope), or move the processes"
    " into a cgroup below it: mkdir DIR/init; for each line of"
    " DIR/cgroup.procs: echo PID >DIR/init/cgroup.procs (systemd 254:"
    " DelegateSubgroup=init)";

static const char *
delegation_remedy(void)
{
	char path[PATH_MAX];
	struct nsrun_err err = NSRUN_ERR_INIT;

	if (nsrun_cgroup_own(path, &err) < 0)
		return no_cgroup2_remedy;
	if (access("/run/systemd/system", F_OK) < 0)
		return bare_remedy;
	return geteuid() == 0 ? root_remedy : user_remedy;
}

/* The names of what is in `bits`; "none". */
static const char *
names(unsigned int bits, char buf[64])
{
	*buf = '\0';
	for (int i = 0; i < NSRUN_N_CONTROLLERS; i++)
		if (bits & 1U << i) {
			strcat(buf, *buf ? " " : "");
			strcat(buf, nsrun_controller_name(1U << i));
		}
	return *buf ? buf : "none";
}

static char *
read_below(const struct nsrun_cgroup_base *base, const char *file)
{
	nsrun_autoclose int fd = openat(base->fd, file, O_RDONLY | O_CLOEXEC);
	size_t size;

	return fd < 0 ? NULL : nsrun_file_read_fd(fd, 1 << 20, &size);
}

/* Processes in it, beside us, keep it from limiting what is below. */
static bool
is_busy(const struct nsrun_cgroup_base *base)
{
	char *given = read_below(base, "cgroup.subtree_control");
	char *procs = read_below(base, "cgroup.procs"), own[16];
	bool busy;

	snprintf(own, sizeof own, "%d\n", (int)getpid());
	busy = given && procs && *procs && strcmp(procs, own) &&
	    base->controllers & ~nsrun_controllers_parse(given) &&
	    /* The root of all of them may have both. */
	    faccessat(base->fd, "cgroup.type", F_OK, 0) == 0;
	free(given);
	free(procs);
	return busy;
}

void
doctor_cgroup_check(struct doctor *d)
{
	const unsigned int all = (1U << NSRUN_N_CONTROLLERS) - 1;
	struct nsrun_cgroup_base base = { .fd = -1 };
	struct nsrun_err err = NSRUN_ERR_INIT;
	char text[512], have[64], lack[64], found[PATH_MAX + 256];

	if (nsrun_cgroup_find(&base, NULL, &err) < 0) {
		doctor_tell(d, INFO, "cgroup", doctor_cause(&err, text,
		    sizeof text), delegation_remedy());
		return;
	}
	names(base.controllers, have);
	names(all & ~base.controllers, lack);
	if (!base.controllers) {
		snprintf(found, sizeof found, "%s: has no controllers",
		    base.path);
		/* At the top, the old kind has them all. */
		doctor_tell(d, INFO, "cgroup", found, faccessat(base.fd,
		    "cgroup.type", F_OK, 0) == 0 ? controllers_remedy :
		    no_cgroup2_remedy);
	} else if (is_busy(&base)) {
		snprintf(found, sizeof found, "%s: has %s, and processes of"
		    " its own", base.path, have);
		doctor_tell(d, INFO, "cgroup", found, busy_remedy);
	} else if (base.controllers != all) {
		snprintf(found, sizeof found, "%s: has %s, lacks %s", base.path,
		    have, lack);
		doctor_tell(d, OK, "cgroup", found, controllers_remedy);
	} else {
		snprintf(found, sizeof found, "%s: has %s", base.path, have);
		doctor_tell(d, OK, "cgroup", found, NULL);
	}
	nsrun_fd_close(&base.fd);
}
