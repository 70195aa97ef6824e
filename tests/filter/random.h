/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that look random and are the same in every run: splitmix64. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

void random_seed(uint64_t seed);
uint64_t random_next(void);
unsigned int random_below(unsigned int n);

#endif
