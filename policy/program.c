/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/program.h"

#include <assert.h>

#include "policy/sha256.h"

size_t
nsrun_program_bytes(const struct sock_filter *insns, size_t n,
    uint8_t bytes[NSRUN_PROGRAM_SIZE_MAX])
{
	uint8_t *p = bytes;

	assert(n <= BPF_MAXINSNS);
	for (size_t i = 0; i < n; i++) {
		*p++ = (uint8_t)insns[i].code;
		*p++ = (uint8_t)(insns[i].code >> 8);
		*p++ = insns[i].jt;
		*p++ = insns[i].jf;
		for (unsigned int shift = 0; shift < 32; shift += 8)
			*p++ = (uint8_t)(insns[i].k >> shift);
	}
	return (size_t)(p - bytes);
}

void
nsrun_program_hash(const struct sock_filter *insns, size_t n,
    char hash[NSRUN_HASH_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t bytes[NSRUN_PROGRAM_SIZE_MAX], digest[NSRUN_SHA256_SIZE];

	nsrun_sha256(bytes, nsrun_program_bytes(insns, n, bytes), digest);
	for (int i = 0; i < NSRUN_SHA256_SIZE; i++) {
		*hash++ = digits[digest[i] >> 4];
		*hash++ = digits[digest[i] & 0xf];
	}
	*hash = '\0';
}
