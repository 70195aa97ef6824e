/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program as bytes: struct sock_filter after struct sock_filter, little
 * end first whatever this machine is. That is what --seccomp descriptors and
 * raw files carry, and what the hash that names a filter's version is of.
 */
#ifndef NSRUN_POLICY_PROGRAM_H
#define NSRUN_POLICY_PROGRAM_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

#define NSRUN_INSN_SIZE 8
#define NSRUN_PROGRAM_SIZE_MAX (BPF_MAXINSNS * NSRUN_INSN_SIZE)
#define NSRUN_HASH_SIZE 65		/* SHA-256 in lower-case hex, and NUL */

/* Write n instructions, at most BPF_MAXINSNS. Returns the size in bytes. */
size_t nsrun_program_bytes(const struct sock_filter *insns, size_t n,
    uint8_t bytes[NSRUN_PROGRAM_SIZE_MAX]);

void nsrun_program_hash(const struct sock_filter *insns, size_t n,
    char hash[NSRUN_HASH_SIZE]);

#endif
