/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks that are one system call. Where the kernel has a check of its own
 * with the same errno, the arguments are ones that it refuses with another
 * before that check: what the control then sees is that the call was reached.
 * And none would do anything, were it allowed to root on the host.
 */
#include "probe.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Newer than some C library's headers; these numbers are everybody's. */
enum {
	NR_open_tree = 428, NR_move_mount, NR_fsopen, NR_fsconfig, NR_fsmount,
	NR_fspick, NR_clone3 = 435, NR_pidfd_getfd = 438,
	NR_process_madvise = 440, NR_mount_setattr = 442, NR_quotactl_fd,
	NR_memfd_secret = 447, NR_process_mrelease, NR_home_node = 450,
	NR_map_shadow_stack = 453, NR_statmount = 457, NR_listmount,
	NR_lsm_get = 459, NR_lsm_set, NR_lsm_list, NR_open_tree_attr = 467,
	NR_listns = 470,
	NR_io_uring_setup = 425, NR_io_uring_enter, NR_io_uring_register,
};

#define P(pointer) ((long)(intptr_t)(pointer))
#define BIT32 (1L << 32)

static const char nowhere[] = "/nonexistent/nsrun-escape";
static char scratch[4096];
static const int none[2];
static const struct timespec bad_time[2] = { { 0, -1 } };
/* Of clone3: exit_signal; the flags stand first. */
static const uint64_t plain_clone[11] = { 0, 0, 0, 0, SIGCHLD };
static const uint64_t user_clone[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };
static const uint64_t cgroup_clone[11] =
    { 1ULL << 33, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 1 << 20 };
/* The size of a request that asks about mount 0. */
static const uint64_t mount_request[3] = { 24 };

const struct probe_call probe_calls[] = {
	{ "MNT-01.mount", SYS_mount, { P("none"), P("/"), P("tmpfs"), 0, 0 } },
	{ "MNT-01.umount2", SYS_umount2, { P("/proc"), MNT_DETACH } },
	{ "MNT-01.pivot_root", SYS_pivot_root, { P("."), P(".") } },
	{ "MNT-01.chroot", SYS_chroot, { P("/") } },
	{ "MNT-02.remount", SYS_mount,
	    { P("none"), P("/proc"), 0, MS_REMOUNT | MS_BIND, 0 } },
	{ "MNT-03.open_tree", NR_open_tree, { AT_FDCWD, P("/"), 0 } },
	{ "MNT-03.move_mount", NR_move_mount, { -1, P(""), -1, P(""), 4 } },
	{ "MNT-03.fsopen", NR_fsopen, { P("tmpfs"), 0 } },
	{ "MNT-03.fsconfig", NR_fsconfig, { -1, 6, 0, 0, 0 } },
	{ "MNT-03.fsmount", NR_fsmount, { -1, 0, 0 } },
	{ "MNT-03.fspick", NR_fspick, { AT_FDCWD, P("/"), 0 } },
	{ "MNT-03.mount_setattr", NR_mount_setattr,
	    { AT_FDCWD, P("/"), 0, P(scratch), 32 } },
	{ "MNT-03.open_tree_attr", NR_open_tree_attr,
	    { AT_FDCWD, P("/"), 0, 0, 0 } },
	{ "MNT-04.statmount", NR_statmount,
	    { P(mount_request), P(scratch), sizeof scratch, 0 } },
	{ "MNT-04.listmount", NR_listmount,
	    { P(mount_request), P(scratch), 8, 0 } },
	{ "MNT-22.overlay", NR_fsopen, { P("overlay"), 0 } },
	{ "MNT-22.fuse", NR_fsopen, { P("fuse"), 0 } },

	{ "NS-01.user", SYS_clone, { CLONE_NEWUSER | SIGCHLD } },
	{ "NS-01.mnt", SYS_clone, { CLONE_NEWNS | SIGCHLD } },
	{ "NS-01.pid", SYS_clone, { CLONE_NEWPID | SIGCHLD } },
	{ "NS-01.net", SYS_clone, { CLONE_NEWNET | SIGCHLD } },
	{ "NS-01.ipc", SYS_clone, { CLONE_NEWIPC | SIGCHLD } },
	{ "NS-01.uts", SYS_clone, { CLONE_NEWUTS | SIGCHLD } },
	{ "NS-01.cgroup", SYS_clone, { CLONE_NEWCGROUP | SIGCHLD } },
	{ "NS-01.user32", SYS_clone, { BIT32 | CLONE_NEWUSER | SIGCHLD } },
	{ "NS-02.plain", NR_clone3, { P(plain_clone), sizeof plain_clone } },
	{ "NS-02.user", NR_clone3, { P(user_clone), sizeof user_clone } },
	{ "NS-02.into_cgroup", NR_clone3,
	    { P(cgroup_clone), sizeof cgroup_clone } },
	{ "NS-03.user", SYS_unshare, { CLONE_NEWUSER } },
	{ "NS-03.mnt", SYS_unshare, { CLONE_NEWNS } },
	{ "NS-03.pid", SYS_unshare, { CLONE_NEWPID } },
	{ "NS-03.net", SYS_unshare, { CLONE_NEWNET } },
	{ "NS-03.ipc", SYS_unshare, { CLONE_NEWIPC } },
	{ "NS-03.uts", SYS_unshare, { CLONE_NEWUTS } },
	{ "NS-03.cgroup", SYS_unshare, { CLONE_NEWCGROUP } },
	{ "NS-03.time", SYS_unshare, { 0x80 } },
	{ "NS-03.files", SYS_unshare, { CLONE_FILES } },
	{ "NS-03.fs", SYS_unshare, { CLONE_FS } },
	{ "NS-03.nothing", SYS_unshare, { 0 } },
	{ "NS-04.setns", SYS_setns, { -1, 0 } },
	{ "NS-08.sethostname", SYS_sethostname, { P("x"), -1 } },
	{ "NS-08.setdomainname", SYS_setdomainname, { P("x"), -1 } },
	{ "NS-09.clock_settime", SYS_clock_settime, { 99, P(bad_time) } },
	{ "NS-09.settimeofday", SYS_settimeofday, { P(bad_time), 0 } },
	{ "NS-09.adjtimex", SYS_adjtimex, { P(scratch) } },
	{ "NS-09.clock_adjtime", SYS_clock_adjtime, { 99, P(scratch) } },

	{ "SEC-04.listns", NR_listns, { 0, 0, 0, 0 } },
	{ "SEC-05.setup", NR_io_uring_setup, { 1, P(scratch) } },
	{ "SEC-05.enter", NR_io_uring_enter, { -1, 0, 0, 0, 0, 0 } },
	{ "SEC-05.register", NR_io_uring_register, { -1, 99, 0, 0 } },

	{ "XP-01.traceme", SYS_ptrace, { 0, 0, 0, 0 } },
	{ "XP-04.getfd", NR_pidfd_getfd, { -1, 0, 0 } },
	{ "XP-04.madvise", NR_process_madvise, { -1, 0, 0, 0, 0 } },
	{ "XP-04.mrelease", NR_process_mrelease, { -1, 0 } },
	{ "XP-04.kcmp", SYS_kcmp, { 0, 0, 99, 0, 0 } },
	{ "XP-10.mm", SYS_prctl, { 35, 0, 0, 0, 1 } },
	{ "XP-10.mm32", SYS_prctl, { BIT32 | 35, 0, 0, 0, 1 } },
	{ "XP-10.dispatch", SYS_prctl, { 59, 0, 0, 0, 0 } },

	{ "K-01.bpf", SYS_bpf, { 0, P(scratch), 1 << 20 } },
	{ "K-01.perf", SYS_perf_event_open, { 0, 0, -1, -1, 0 } },
	{ "K-02.userfaultfd", SYS_userfaultfd, { 0x100001 } },
	{ "K-03.add_key", SYS_add_key, { 0, 0, 0, 0, 0 } },
	{ "K-03.request_key", SYS_request_key, { 0, 0, 0, 0 } },
	{ "K-03.keyctl", SYS_keyctl, { 9999, 0, 0, 0, 0 } },
	{ "K-03.session", SYS_keyctl, { 0, -3, 0 } },
	{ "K-04.name_to_handle", SYS_name_to_handle_at,
	    { AT_FDCWD, P("/"), 0, 0, 0 } },
	{ "K-04.open_by_handle", SYS_open_by_handle_at, { -1, 0, 0 } },
	{ "K-05.fanotify_init", SYS_fanotify_init, { 0x200, O_RDONLY } },
	{ "K-05.fanotify_mark", SYS_fanotify_mark,
	    { -1, 1, 1, AT_FDCWD, P("/") } },
#ifdef __x86_64__
	{ "K-06.modify_ldt", SYS_modify_ldt, { 0x7f, 0, 0 } },
	{ "K-06.iopl", SYS_iopl, { 9 } },
	{ "K-06.ioperm", SYS_ioperm, { 1 << 20, 1, 1 } },
	{ "K-08.sysfs", SYS_sysfs, { 3 } },
	{ "K-08.ustat", SYS_ustat, { 0, P(scratch) } },
#endif
	{ "K-06.personality", SYS_personality, { 0x0400000 } },
	{ "K-06.personality32", SYS_personality, { BIT32 | 0x0400000 } },
	{ "K-07.move_pages", SYS_move_pages, { 0, 0, 0, 0, 0, 0x100 } },
	{ "K-07.mbind", SYS_mbind, { 0, 4096, 99, 0, 0, 0 } },
	{ "K-07.set_mempolicy", SYS_set_mempolicy, { 99, 0, 0 } },
	{ "K-07.get_mempolicy", SYS_get_mempolicy, { 0, 0, 0, 0, 0x100 } },
	{ "K-07.migrate_pages", SYS_migrate_pages, { -1, 0, 0, 0 } },
	{ "K-07.home_node", NR_home_node, { 0, 0, 0, 1 } },
	{ "K-08.kexec", SYS_kexec_load, { 0, 1 << 20, 0, 0xffff } },
	{ "K-08.kexec_file", SYS_kexec_file_load, { -1, -1, 0, 0, 0xffff } },
	{ "K-08.init_module", SYS_init_module, { 0, 0, 0 } },
	{ "K-08.finit_module", SYS_finit_module, { -1, P(""), 0 } },
	{ "K-08.delete_module", SYS_delete_module,
	    { P("nsrun_escape_none"), O_NONBLOCK } },
	{ "K-08.reboot", SYS_reboot, { 0, 0, 0, 0 } },
	{ "K-08.swapon", SYS_swapon, { P(nowhere), 0 } },
	{ "K-08.swapoff", SYS_swapoff, { P(nowhere) } },
	{ "K-08.acct", SYS_acct, { P(nowhere) } },
	{ "K-08.quotactl", SYS_quotactl, { 0x80000400, 0, 0, 0 } },
	{ "K-08.quotactl_fd", NR_quotactl_fd, { -1, 0x80000400, 0, 0 } },
	{ "K-08.syslog", SYS_syslog, { 10, 0, 0 } },
	{ "K-09.memfd_secret", NR_memfd_secret, { 0 } },
	{ "K-09.map_shadow_stack", NR_map_shadow_stack, { 1, 1, 0xff } },
	{ "K-09.lsm_get", NR_lsm_get, { 0, 0, 0, 0xff } },
	{ "K-09.lsm_set", NR_lsm_set, { 0, 0, 0, 0xff } },
	{ "K-09.lsm_list", NR_lsm_list, { 0, 0, 0xff } },
	{ "K-09.remap_file_pages", SYS_remap_file_pages,
	    { P(none), 0, 1, 0, 0 } },
	{ 0 }
};
