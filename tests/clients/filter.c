/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The filters that callers bring, written as rows; agent-hosts.md, 2 and 3,
 * and openclaudia.md, 1.11, say where they were seen.
 */
#include "probe.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#else
#error "an architecture that these tests do not know"
#endif

/* Where the low half of an argument is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW(n) offsetof(struct seccomp_data, args[n])
#else
#define LOW(n) (offsetof(struct seccomp_data, args[n]) + 4)
#endif

enum how { ALWAYS, IS, HAS };

struct rule {
	const char *filters;	/* the first letters of those that have it */
	long nr;
	int errnum;
	enum how how;		/* IS: arg is value; HAS: a bit of it */
	int arg;
	uint32_t value;
};

/*
 * c codex's second stage, f flatpak, g gemini-cli, h sandbox-runtime's helper,
 * o OpenClaudia.
 */
static const struct rule rules[] = {
	{ "cgo", SYS_ptrace, EPERM, ALWAYS, 0, 0 },
	{ "fho", SYS_mount, EPERM, ALWAYS, 0, 0 },
	{ "fho", SYS_umount2, EPERM, ALWAYS, 0, 0 },
	{ "fho", SYS_pivot_root, EPERM, ALWAYS, 0, 0 },
	{ "fho", SYS_setns, EPERM, ALWAYS, 0, 0 },
	{ "fo", SYS_unshare, EPERM, ALWAYS, 0, 0 },
	{ "f", SYS_chroot, EPERM, ALWAYS, 0, 0 },
	{ "fo", SYS_keyctl, EPERM, ALWAYS, 0, 0 },
	{ "fo", SYS_add_key, EPERM, ALWAYS, 0, 0 },
	{ "cfo", SYS_request_key, EPERM, ALWAYS, 0, 0 },
	{ "f", SYS_syslog, EPERM, ALWAYS, 0, 0 },
	{ "f", SYS_acct, EPERM, ALWAYS, 0, 0 },
	{ "f", SYS_quotactl, EPERM, ALWAYS, 0, 0 },
	{ "fo", SYS_perf_event_open, EPERM, ALWAYS, 0, 0 },
	{ "f", SYS_clone, EPERM, HAS, 0, CLONE_NEWUSER },
	{ "h", SYS_clone, EPERM, HAS, 0, CLONE_NEWUSER },
	{ "h", SYS_unshare, EPERM, HAS, 0, CLONE_NEWUSER | CLONE_NEWNS },
	{ "f", SYS_ioctl, EPERM, IS, 1, TIOCSTI },
	{ "f", SYS_ioctl, EPERM, IS, 1, TIOCLINUX },
#ifdef SYS_clone3
	{ "fh", SYS_clone3, ENOSYS, ALWAYS, 0, 0 },
#endif
#ifdef SYS_open_tree
	{ "f", SYS_open_tree, ENOSYS, ALWAYS, 0, 0 },
	{ "f", SYS_move_mount, ENOSYS, ALWAYS, 0, 0 },
	{ "f", SYS_fsopen, ENOSYS, ALWAYS, 0, 0 },
	{ "h", SYS_open_tree, EPERM, ALWAYS, 0, 0 },
	{ "h", SYS_move_mount, EPERM, ALWAYS, 0, 0 },
	{ "h", SYS_fsopen, EPERM, ALWAYS, 0, 0 },
#endif
#ifdef SYS_mount_setattr
	{ "f", SYS_mount_setattr, ENOSYS, ALWAYS, 0, 0 },
	{ "h", SYS_mount_setattr, EPERM, ALWAYS, 0, 0 },
#endif
#ifdef SYS_io_uring_setup
	{ "cho", SYS_io_uring_setup, EPERM, ALWAYS, 0, 0 },
	{ "ch", SYS_io_uring_enter, EPERM, ALWAYS, 0, 0 },
#endif
	{ "h", SYS_socket, EPERM, IS, 0, AF_UNIX },
	{ "h", SYS_socket, EPERM, IS, 0, AF_VSOCK },
	{ "c", SYS_socket, EPERM, IS, 0, AF_INET },
	{ "c", SYS_socket, EPERM, IS, 0, AF_INET6 },
	{ "c", SYS_socket, EPERM, IS, 0, AF_NETLINK },
	{ "o", SYS_socket, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_socketpair, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_connect, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_bind, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_listen, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_accept, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_accept4, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_sendto, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_sendmmsg, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_sendmsg, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_recvmmsg, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_shutdown, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_setsockopt, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_getsockopt, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_getpeername, EPERM, ALWAYS, 0, 0 },
	{ "c", SYS_getsockname, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_process_vm_readv, EPERM, ALWAYS, 0, 0 },
	{ "co", SYS_process_vm_writev, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_bpf, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_init_module, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_finit_module, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_delete_module, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_userfaultfd, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_open_by_handle_at, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_name_to_handle_at, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_kexec_load, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_reboot, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_swapon, EPERM, ALWAYS, 0, 0 },
	{ "o", SYS_swapoff, EPERM, ALWAYS, 0, 0 },
};

static struct sock_filter
load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	    (uint32_t)offset);
}

static struct sock_filter
ret(uint32_t value)
{
	return (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value);
}

static size_t
put_rule(struct sock_filter *p, const struct rule *r)
{
	uint32_t error = SECCOMP_RET_ERRNO | (uint32_t)r->errnum;
	uint8_t skip = r->how == ALWAYS ? 1 : 4;
	size_t n = 0;

	p[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
	    (uint32_t)r->nr, 0, skip);
	if (r->how != ALWAYS) {
		p[n++] = load(LOW(r->arg));
		p[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K |
		    (r->how == IS ? BPF_JEQ : BPF_JSET), r->value, 0, 1);
	}
	p[n++] = ret(error);
	if (r->how != ALWAYS)
		p[n++] = load(offsetof(struct seccomp_data, nr));
	return n;
}

size_t
filter_make(const char *name, struct sock_filter insns[MAX_INSNS])
{
	size_t n = 0;

	if (!name || !strchr("cfgho", name[0])) {
		fprintf(stderr, "probe: no such filter\n");
		exit(99);
	}
	insns[n++] = load(offsetof(struct seccomp_data, arch));
	insns[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
	    ARCH, 1, 0);
	insns[n++] = ret(SECCOMP_RET_KILL_PROCESS);
	insns[n++] = load(offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (strchr(rules[i].filters, name[0]))
			n += put_rule(insns + n, &rules[i]);
	insns[n++] = ret(SECCOMP_RET_ALLOW);
	return n;
}

void
filter_load(const char *name)
{
	struct sock_filter insns[MAX_INSNS];
	struct sock_fprog program = {
		.len = (unsigned short)filter_make(name, insns),
		.filter = insns,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		die("a filter");
}
