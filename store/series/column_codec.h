/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a column of numbers as the errors of a prediction. A right prediction takes almost no
 * space. If all values in the column, their predictions, and the differences between the two are
 * whole numbers, each wrong prediction is stored as the difference. Otherwise, each is stored as
 * the XOR of the bits of value and prediction, without the leading and trailing zero bytes. Private
 * to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

/* The prediction for value i is base[i], or 0 if `base` is NULL. If `chained` is set, value i - 1
 * is added to the prediction, except for the first value. */
struct prediction {
    const double *base;
    bool chained;
};

/* Appends the packed column to `out`. Unpacking with the same prediction restores every double, bit
 * for bit. */
void column_codec_pack(struct text *out, const double *values, size_t count,
                       const struct prediction *prediction);
/* Reads `count` values and moves *in past them. Returns false if the bytes are damaged. */
bool column_codec_unpack(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                         const struct prediction *prediction);
