/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random.h"

static uint64_t position;

void
random_seed(uint64_t seed)
{
	position = seed;
}

uint64_t
random_next(void)
{
	uint64_t z = position += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

unsigned int
random_below(unsigned int n)
{
	return (unsigned int)(random_next() >> 32) % n;
}
