/* SPDX-License-Identifier: Apache-2.0 */
/* Drawings as PNG: drawn by cairo with the embedded fonts, so that the machine's fonts do not
 * matter, and written with a palette in 8 bits, a third of the size of 24. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

/* 720 x 480 units become 1200 x 800 pixels; a larger drawing is at most RASTER_PIXELS_MAX wide and
 * high. */
#define RASTER_PIXELS_MAX 2400

/* Appends the bytes of the file. Fails where memory or the fonts do. */
CHECKED bool raster_write(const struct drawing *drawing, enum theme theme, struct text *out,
                          struct error *error);
