/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a column of numbers as the errors of a prediction. A right prediction takes almost no
 * space. If all values, predictions and differences in the column are whole numbers, the difference
 * is stored for each wrong prediction. Otherwise, the XOR of value and prediction is stored,
 * without its leading and trailing zero bytes. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

/* The prediction for value i is base[i] (0 if `base` is NULL). If `chained` is set, value i - 1 (0
 * for the first value) is added to it. */
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
