/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/kernel.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#include "base/sys.h"

/* Is the running kernel that version or a newer one? Fills *name. */
static bool
is_since(struct utsname *name, int major, int minor)
{
	int is_major = 0, is_minor = 0;

	*name = (struct utsname){ 0 };
	if (uname(name) < 0)
		return false;
	return sscanf(name->release, "%d.%d", &is_major, &is_minor) == 2 &&
	    (is_major > major || (is_major == major && is_minor >= minor));
}

bool
nsrun_kernel_suffices(struct utsname *name)
{
	return is_since(name, 5, 14);
}

/*
 * tmpfs does not for each: what is unlinked lends its directory its own time.
 * ext2 has the same magic number as ext4, but no time of birth, which an ext4
 * with small inodes lacks, too.
 */
bool
nsrun_kernel_stamps_each(int fd)
{
	struct utsname name;
	struct sys_statx st;
	struct statfs fs;

	if (!is_since(&name, 6, 13) || fstatfs(fd, &fs) < 0)
		return false;
	return fs.f_type == EXT4_SUPER_MAGIC && sys_statx(fd, "",
	    AT_EMPTY_PATH, SYS_STATX_BTIME, &st) == 0 &&
	    st.mask & SYS_STATX_BTIME;
}
