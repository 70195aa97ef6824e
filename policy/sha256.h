/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SHA-256 (FIPS 180-4) of bytes in memory: the name of a filter's version. */
#ifndef NSRUN_POLICY_SHA256_H
#define NSRUN_POLICY_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define NSRUN_SHA256_SIZE 32

void nsrun_sha256(const void *data, size_t len,
    uint8_t digest[NSRUN_SHA256_SIZE]);

#endif
