/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text eight bytes at a time. In the results of bytes_below, bytes_equal and
 * bytes_beyond_ascii, the high bit of a byte is set if that byte matches, and no other bit is set,
 * so that results can be combined with |. */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (uint8_t)(value))
#define HIGH_BITS EACH_BYTE(0x80)

/* Returns eight bytes as a number; the first byte is the least significant. */
static inline uint64_t eight_bytes(const char *bytes)
{
    uint64_t eight;

    memcpy(&eight, bytes, sizeof eight);
    return le64toh(eight);
}

/* Marks the bytes below `least`, which must be at most 0x80. All high bits are set before the
 * subtraction, so that no byte borrows from the next. */
static inline uint64_t bytes_below(uint64_t eight, uint8_t least)
{
    return ~(((eight | HIGH_BITS) - EACH_BYTE(least)) | eight) & HIGH_BITS;
}

static inline uint64_t bytes_equal(uint64_t eight, char c)
{
    return bytes_below(eight ^ EACH_BYTE(c), 1);
}

static inline uint64_t bytes_beyond_ascii(uint64_t eight)
{
    return eight & HIGH_BITS;
}

/* The number of bytes before the first match; `found` must not be 0. */
static inline size_t bytes_before(uint64_t found)
{
    return (size_t)__builtin_ctzll(found) / 8;
}
