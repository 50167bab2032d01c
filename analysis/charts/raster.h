/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings as PNG. cairo draws them with the embedded fonts, so that the machine's fonts do
 * not matter. The files have a palette, which makes them a third as large as with 24-bit colour. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

/* A drawing of 720 x 480 units becomes 1200 x 800 pixels. Neither the width nor the height exceeds
 * RASTER_PIXELS_MAX pixels. If the file would have more than RASTER_BYTES_MAX bytes, the picture is
 * drawn with fewer pixels, since chat programs truncate or refuse large responses. After three such
 * reductions, the file is written even if it is still too large. */
#define RASTER_PIXELS_MAX 2400
#define RASTER_BYTES_MAX 65536

/* Appends the PNG file to `out`. Fails with INTERNAL if cairo runs out of memory, or if FreeType
 * cannot open the fonts. */
CHECKED bool raster_write(const struct drawing *drawing, enum theme theme, struct text *out,
                          struct error *error);
