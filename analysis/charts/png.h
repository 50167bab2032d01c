/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pixels as a PNG with a palette. Private to analysis/charts/. */
#pragma once

#include <stdint.h>

#include "base/core/text.h"

/* Appends the file. `pixels`: 0xXXRRGGBB, row by row; `stride`: the pixels from the start of a row
 * to that of the next. The palette has at most 128 colours: colours that differ little may become
 * one, and a colour that the palette lacks becomes the nearest that it has. */
void png_write(const uint32_t *pixels, size_t width, size_t height, size_t stride,
               struct text *out);
