/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads whole numbers in as few bytes as they need: seven bits in each byte, the lowest
 * bits first. Zigzag maps signed numbers to unsigned ones: 0, -1, 1, -2 become 0, 1, 2, 3. Private
 * to store/. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/core/text.h"

#define VARINT_MAX 10 /* maximum bytes of a number */

/* Writes a number at `out`, in at most VARINT_MAX bytes, and returns the position after it. */
static inline uint8_t *varint_put(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

static inline void varint_add(struct text *out, uint64_t value)
{
    uint8_t bytes[VARINT_MAX];

    text_add_bytes(out, (const char *)bytes, (size_t)(varint_put(bytes, value) - bytes));
}

/* Reads a number and moves *in past it. Returns false if the bytes end before the number does, or
 * if it is longer than VARINT_MAX bytes. */
static inline bool varint_get(const uint8_t **in, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;

    for (unsigned shift = 0; shift < 64 && *in < end; shift += 7) {
        uint8_t byte = *(*in)++;

        result |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *value = result;
            return true;
        }
    }
    return false;
}

static inline uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t zigzag_back(uint64_t bits)
{
    return (int64_t)((bits >> 1) ^ (0 - (bits & 1)));
}

/* Returns whether a double can be stored as a whole number without loss: it is a whole number, its
 * magnitude is below 2^53, and it is not -0.0. */
static inline bool is_whole(double value)
{
    return fabs(value) < 9007199254740992.0 && value == trunc(value)
           && !(value == 0 && signbit(value));
}
