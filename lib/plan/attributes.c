/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Apart from the rest of the plan: the child needs it too. */
#include "base/sys.h"
#include "plan/mounts.h"

uint64_t
nsrun_mount_attributes(const struct nsrun_mount *m)
{
	return (m->flags & NSRUN_MOUNT_SUID ? 0 : MOUNT_ATTR_NOSUID) |
	    (m->flags & NSRUN_MOUNT_DEVICES ? 0 : MOUNT_ATTR_NODEV) |
	    (m->flags & NSRUN_MOUNT_RDONLY ? MOUNT_ATTR_RDONLY : 0) |
	    (m->flags & NSRUN_MOUNT_NOEXEC ? MOUNT_ATTR_NOEXEC : 0);
}
