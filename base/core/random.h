/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: from the kernel for ids and keys; from a small seeded generator for workloads
 * that must be repeatable. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Fills `out` with random bytes from the kernel; aborts the process if there are none. */
void random_bytes(void *out, size_t length);

#define ID_SIZE 40
/* Writes `prefix`, "_" and 26 lower-case base32 characters that encode 128 random bits, such as
 * "swp_5k2...". `prefix` has 3 letters. */
void random_id(const char *prefix, char out[ID_SIZE]);

/* xoshiro256** seeded by splitmix64 (Blackman and Vigna, public domain). The same seed gives the
 * same numbers on every machine. */
struct generator {
    uint64_t state[4];
};
void generator_init(struct generator *generator, uint64_t seed);
uint64_t generator_next(struct generator *generator);
/* Uniform in [0, bound); `bound` must be positive. */
uint64_t generator_below(struct generator *generator, uint64_t bound);
double generator_uniform(struct generator *generator); /* uniform in [0, 1) */
uint64_t random_mix(uint64_t seed, uint64_t value);    /* derives an independent seed */
