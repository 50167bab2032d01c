/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pixels as a PNG with a palette. Private to analysis/charts/. */
#pragma once

#include <stdint.h>

#include "base/core/text.h"

/* Appends the PNG file to `out`. `pixels`: 0xXXRRGGBB (XX is ignored), row by row. `stride`: the
 * distance between the starts of consecutive rows, in pixels. The palette has at most 128 colours:
 * similar colours can be merged, and a colour that is not in the palette is replaced with the
 * nearest one that is. */
void png_write(const uint32_t *pixels, size_t width, size_t height, size_t stride,
               struct text *out);
