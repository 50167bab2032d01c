/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/core/log.h"

void random_bytes(void *out, size_t length)
{
    unsigned char *next = out;

    while (length > 0) {
        ssize_t got = getrandom(next, length, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            log_error("the kernel returns no random bytes: %m");
            abort();
        }
        next += got;
        length -= (size_t)got;
    }
}

void random_id(const char *prefix, char out[ID_SIZE])
{
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* Crockford's: no i l o u */
    unsigned __int128 bits;
    int length = snprintf(out, ID_SIZE, "%.8s_", prefix);

    random_bytes(&bits, sizeof bits);
    for (int i = 25; i >= 0; i--, bits >>= 5)
        out[length + i] = alphabet[bits & 31];
    out[length + 26] = '\0';
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

void generator_init(struct generator *generator, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        generator->state[i] = splitmix(&seed);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t generator_next(struct generator *generator)
{
    uint64_t *s = generator->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Lemire, "Fast random integer generation in an interval" (2019). The high half of the product is
 * the result. A product whose low half is below the threshold is discarded and a new one is drawn:
 * if such products counted, some results would be more likely than others. */
uint64_t generator_below(struct generator *generator, uint64_t bound)
{
    uint64_t threshold = -bound % bound;
    unsigned __int128 product;

    do
        product = (unsigned __int128)generator_next(generator) * bound;
    while ((uint64_t)product < threshold);
    return (uint64_t)(product >> 64);
}

double generator_uniform(struct generator *generator)
{
    return (double)(generator_next(generator) >> 11) * 0x1p-53;
}

uint64_t random_mix(uint64_t seed, uint64_t value)
{
    uint64_t state = splitmix(&seed) ^ value;

    return splitmix(&state);
}
