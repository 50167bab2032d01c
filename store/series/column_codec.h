/* SPDX-License-Identifier: Apache-2.0 */
/* A column of numbers, packed as the errors of a prediction: nothing if it was right, whole numbers
 * as differences, other ones as the bytes that differ. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

/* How value i is predicted: base[i] (0 if `base` is NULL), plus the value before it if `chained` is
 * set (0 before the first value). */
struct prediction {
    const double *base;
    bool chained;
};

/* Appends the column to the bytes in `out`. Unpacking restores every double bit by bit. */
void column_codec_pack(struct text *out, const double *values, size_t count,
                       const struct prediction *prediction);
/* Reads `count` values and moves *in after them. False: damaged. */
bool column_codec_unpack(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                         const struct prediction *prediction);
