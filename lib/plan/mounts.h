/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mount plan: what the file system of the command will look like.
 *
 * Entries are applied in the order they were added, so a later one may cover
 * an earlier one. Targets are paths in the new root and are resolved beneath
 * it: no symbolic link of any tree leads outside. What a target lacks (parents
 * 0755, a directory or an empty file) is made where the file system is one
 * that the plan made. On the host's nothing is created, unless the plan says
 * writes_host: then what was asked for by name (DIR, FILE, SYMLINK) stays, and
 * a mere mount point goes again with the sandbox.
 */
#ifndef NSRUN_PLAN_MOUNTS_H
#define NSRUN_PLAN_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum nsrun_mount_kind {
	NSRUN_MOUNT_ROOT,	/* the tmpfs that becomes "/"; first, once */
	NSRUN_MOUNT_TMPFS,	/* an empty one of size_bytes, n_inodes */
	NSRUN_MOUNT_SCRATCH,	/* a directory of the root's own tmpfs that
				   stays writable when the root no longer is */
	NSRUN_MOUNT_BIND,	/* source, a host path, at target */
	NSRUN_MOUNT_PROC,	/* the procfs of the new pid namespace */
	NSRUN_MOUNT_DEVPTS,	/* a terminal file system of its own */
	NSRUN_MOUNT_DIR,	/* a directory of mode; or, if type is S_IFREG,
				   a file, empty unless it is there already */
	NSRUN_MOUNT_FILE,	/* a file of mode that holds data */
	NSRUN_MOUNT_SYMLINK,	/* source is the link's text */
	NSRUN_MOUNT_COVER,	/* target over itself, read-only; source: the
				   target of the bind that it is one of many
				   covers below */
	NSRUN_MOUNT_MASK,	/* a file over target that does not open */
	NSRUN_MOUNT_MQUEUE,	/* the message queues of the ipc namespace */
	NSRUN_MOUNT_OVERLAY,	/* of layers, host paths, lowest first: RDONLY;
				   or written to source and work, host paths,
				   work NULL: to upper and work in source; or
				   to a tmpfs of size_bytes if source is NULL.
				   PINNED: its one layer is pin */
	NSRUN_MOUNT_DATA,	/* a file of mode that holds data, as a mount */
	NSRUN_MOUNT_REMOUNT,	/* what is mounted at target turns read-only */
	NSRUN_MOUNT_CHMOD,	/* target, which must be there, gets mode */
	NSRUN_MOUNT_PIN,	/* target, beneath the bind at source, cannot be
				   moved or removed by its name */
	NSRUN_MOUNT_HIDE,	/* target looks absent, a directory empty */
	NSRUN_MOUNT_ABSENT,	/* target, which is not there, cannot be made;
				   pin is the directory's that lacks it, but
				   for uid, its root's */
	NSRUN_MOUNT_FS,		/* a new file system of fstype, made with
				   options; RDONLY when all is in it */
	NSRUN_N_MOUNT_KINDS
};

enum nsrun_mount_flag {
	NSRUN_MOUNT_RDONLY	= 1 << 0,	/* recursively, when it is; the
						   root when all is in it */
	NSRUN_MOUNT_RECURSIVE	= 1 << 1,	/* with what is mounted below */
	NSRUN_MOUNT_NOEXEC	= 1 << 2,
	NSRUN_MOUNT_DEVICES	= 1 << 3,	/* device nodes work */
	NSRUN_MOUNT_OPTIONAL	= 1 << 4,	/* BIND: no source is fine;
						   COVER, MASK: no target;
						   FILE: it was put there */
	NSRUN_MOUNT_PINNED	= 1 << 5,	/* the source must be `pin` */
	NSRUN_MOUNT_IDMAPPED	= 1 << 6,	/* owner looks like us */
	NSRUN_MOUNT_GRANT	= 1 << 7,	/* a root of the caller's */
	NSRUN_MOUNT_EXACT	= 1 << 8,	/* no link to the target; COVER
						   and MASK: it must be pin */
	NSRUN_MOUNT_NOLINK	= 1 << 9,	/* the target is no link */
	NSRUN_MOUNT_REPLACE	= 1 << 10,	/* FILE, SYMLINK: the same may
						   be there already */
	NSRUN_MOUNT_SUID	= 1 << 11,	/* set-user-ID programs work */
	NSRUN_MOUNT_LATE	= 1 << 12,	/* BIND: itself RDONLY only when
						   all is in it */
	NSRUN_MOUNT_LENIENT	= 1 << 13,	/* without it, if it fails */
	NSRUN_MOUNT_KEPT	= 1 << 14,	/* of the state directory: only
						   commands wrote to it */
	NSRUN_MOUNT_MADE	= 1 << 15,	/* OVERLAY: pin.fd is the mount,
						   which has no place yet */
};

/* What must not be in a tree that is written: see host/scan.h. */
enum nsrun_hazard {
	NSRUN_HAZARD_NONE,
	NSRUN_HAZARD_MOUNT,	/* something is mounted there */
	NSRUN_HAZARD_FILESYSTEM,	/* another one, or a subvolume */
	NSRUN_HAZARD_SOCKET,
	NSRUN_HAZARD_FIFO,
	NSRUN_HAZARD_CHAR,	/* devices */
	NSRUN_HAZARD_BLOCK,
	NSRUN_HAZARD_WHITEOUT,	/* an overlay's: a character device 0:0 */
	NSRUN_HAZARD_ALIAS,	/* a file that has names elsewhere, too */
	NSRUN_N_HAZARDS
};

/* What a source was when it was opened; equal on reopening or no launch. */
struct nsrun_pin {
	dev_t		dev;
	ino_t		ino;
	mode_t		type;		/* S_IFMT bits */
	uid_t		uid;		/* for IDMAPPED */
	gid_t		gid;
	int		fd;		/* O_PATH, keeps ino from being reused;
					   the plan's. -1: none */
};

struct nsrun_mount {
	enum nsrun_mount_kind	kind;
	unsigned int		flags;		/* enum nsrun_mount_flag */
	const char		*source;	/* BIND: absolute, clean */
	const char		*target;	/* absolute and clean */
	const void		*data;		/* FILE */
	size_t			n_data;
	const char		*work;		/* OVERLAY: work directory */
	const char *const	*layers;	/* OVERLAY: NULL at the end */
	const char *const	*hidden;	/* OVERLAY: paths in its one
						   layer, relative; NULL at
						   the end; NULL: none */
	const char		*fstype;	/* FS */
	const char *const	*options;	/* FS: a name, a value, and so
						   on, NULL; "": no value */
	mode_t			mode;		/* 0: the kind's own */
	mode_t			parent_mode;	/* of parents made; 0: 0755 */
	mode_t			type;		/* BIND: S_IFDIR or S_IFREG when
						   known, which saves asking;
						   DIR */
	uint64_t		size_bytes;	/* tmpfs kinds; 0: the kernel's,
						   never in a profile's plan */
	uint64_t		n_inodes;	/* DEVPTS: terminals */
	enum nsrun_hazard	shields;	/* COVER, MASK: from what */
	struct nsrun_pin	pin;
};

struct nsrun_mounts {
	struct nsrun_mount	*v;
	size_t			n;
	bool			writes_host;
	bool			leaves_nothing;	/* DIR, SYMLINK go again too */
};

/* Permission bits; `own` where the entry does not say. 0 is said with S_IFMT
 * bits beside it. */
static inline mode_t
nsrun_mount_mode(const struct nsrun_mount *m, mode_t own)
{
	return m->mode ? m->mode & 07777 : own;
}

/* MOUNT_ATTR_* of mount_setattr(2) that every mount of m's kind carries. */
uint64_t nsrun_mount_attributes(const struct nsrun_mount *m);

const char *nsrun_mount_kind_name(enum nsrun_mount_kind kind);
const char *nsrun_hazard_name(enum nsrun_hazard hazard);

#endif
