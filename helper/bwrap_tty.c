/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Not in policy/: those filters kill what is of another architecture, and this
 * one has to let it run. ioctl(2) has a number each for x86_64, x32, i386,
 * aarch64 and arm; the request is 32 bits to the kernel, whatever the register
 * holds above them (CVE-2019-10063).
 */
#include "bwrap_tty.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>

enum {
	IOCTL_X86_64	= 16,
	IOCTL_X32	= 0x40000000 | 514,
	IOCTL_32	= 54,			/* i386 and arm */
	IOCTL_AARCH64	= 29,
};

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
	offsetof(struct seccomp_data, field))
#define IF(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define ANSWER(value) BPF_STMT(BPF_RET | BPF_K, value)

static const struct sock_filter insns[] = {
	/*  0 */ LOAD(arch),
	/*  1 */ IF(AUDIT_ARCH_X86_64, 3, 0),
	/*  2 */ IF(AUDIT_ARCH_I386, 5, 0),
	/*  3 */ IF(AUDIT_ARCH_AARCH64, 6, 0),
	/*  4 */ IF(AUDIT_ARCH_ARM, 3, 10),
	/*  5 */ LOAD(nr),
	/*  6 */ IF(IOCTL_X86_64, 5, 0),
	/*  7 */ IF(IOCTL_X32, 4, 7),
	/*  8 */ LOAD(nr),
	/*  9 */ IF(IOCTL_32, 2, 5),
	/* 10 */ LOAD(nr),
	/* 11 */ IF(IOCTL_AARCH64, 0, 3),
	/* 12 */ LOAD(args[1]),
	/* 13 */ IF(TIOCSTI, 2, 0),
	/* 14 */ IF(TIOCLINUX, 1, 0),
	/* 15 */ ANSWER(SECCOMP_RET_ALLOW),
	/* 16 */ ANSWER(SECCOMP_RET_ERRNO | EPERM),
};

const struct nsrun_filter bwrap_tty_filter = {
	.name = "terminal-1", .variant = "", .sha256 = "", .insns = insns,
	.n_insns = sizeof insns / sizeof *insns,
};
