/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a column of numbers as the errors of a prediction. A right prediction takes almost no
 * space. For a wrong one, the difference is stored if values, predictions and differences are whole
 * numbers in the entire column, or else the XOR of value and prediction, without the zero bytes
 * at both ends. Private to store/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

/* How value i is predicted: base[i] (0 if `base` is NULL), plus value i - 1 if `chained` is set (0
 * before the first value). */
struct prediction {
    const double *base;
    bool chained;
};

/* Appends the column to the bytes in `out`. Unpacking with the same prediction restores
 * every double, bit for bit. */
void column_codec_pack(struct text *out, const double *values, size_t count,
                       const struct prediction *prediction);
/* Reads `count` values and moves *in after them. Returns false if the bytes are damaged. */
bool column_codec_unpack(const uint8_t **in, const uint8_t *end, double *values, size_t count,
                         const struct prediction *prediction);
