/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/sha256.h"

#include <string.h>

#define BLOCK 64

/* The fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t
rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static void
expand(const uint8_t block[BLOCK], uint32_t w[64])
{
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
		    (uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
		    (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
		    (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

static void
mix(uint32_t hash[8], const uint8_t block[BLOCK])
{
	uint32_t w[64], s[8];

	expand(block, w);
	memcpy(s, hash, sizeof s);
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[0], e = s[4];
		uint32_t t = s[7] + round_constants[i] + w[i] +
		    (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
		    ((e & s[5]) ^ (~e & s[6]));
		uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
		    ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof s[0]);
		s[4] += t;
		s[0] = t + u;
	}
	for (int i = 0; i < 8; i++)
		hash[i] += s[i];
}

/* Write the n low bytes of x, the highest of them first. */
static void
put_bytes(uint8_t *to, uint64_t x, unsigned int n)
{
	while (n-- > 0)
		*to++ = (uint8_t)(x >> 8 * n);
}

void
nsrun_sha256(const void *data, size_t len, uint8_t digest[NSRUN_SHA256_SIZE])
{
	/* The fractions of the square roots of the first 8 primes. */
	uint32_t hash[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	const uint8_t *p = data;
	size_t left = len, tail_len;
	uint8_t tail[2 * BLOCK] = { 0 };

	for (; left >= BLOCK; left -= BLOCK, p += BLOCK)
		mix(hash, p);
	/* The rest, a 1 bit, zeros, and the length in bits to end a block. */
	if (left)
		memcpy(tail, p, left);
	tail[left] = 0x80;
	tail_len = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	put_bytes(tail + tail_len - 8, (uint64_t)len * 8, 8);
	mix(hash, tail);
	if (tail_len > BLOCK)
		mix(hash, tail + BLOCK);
	for (int i = 0; i < 8; i++)
		put_bytes(digest + 4 * i, hash[i], 4);
}
