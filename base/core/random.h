/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: from the kernel for ids and keys; from a small seeded generator for workloads
 * that must be repeatable. */
#pragma once

#include <stddef.h>
#include <stdint.h>

void random_bytes(void *out,
                  size_t length); /* getrandom; ends the process if the kernel has none */

#define ID_SIZE 40
/* prefix + "_" + 26 lower-case base32 characters of 128 random bits, e.g. "swp_5k2...". `prefix`
 * has 3 letters. */
void random_id(const char *prefix, char out[ID_SIZE]);

/* xoshiro256** seeded by splitmix64 (Blackman and Vigna, public domain). Same seed, same numbers,
 * on every machine. */
struct generator {
    uint64_t state[4];
};
void generator_init(struct generator *generator, uint64_t seed);
uint64_t generator_next(struct generator *generator);
uint64_t generator_below(struct generator *generator,
                         uint64_t bound);              /* uniform in [0, bound), bound > 0 */
double generator_uniform(struct generator *generator); /* uniform in [0, 1) */
uint64_t random_mix(uint64_t seed, uint64_t value);    /* derives an independent seed */
