/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target of libFuzzer, or of replay.c, which runs a corpus in make check. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
