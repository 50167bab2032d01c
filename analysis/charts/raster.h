/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings as PNG, by cairo with the embedded fonts, so that the machine's fonts do not
 * matter. With a palette, the file is a third as large as with 24-bit colour. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

/* 720 x 480 units become 1200 x 800 pixels. A larger drawing gets at most RASTER_PIXELS_MAX pixels
 * in width and height. A picture gets fewer pixels if its file would have more than
 * RASTER_BYTES_MAX bytes, since chat programs truncate or refuse large responses; after three such
 * reductions, its file is written even if it has more. */
#define RASTER_PIXELS_MAX 2400
#define RASTER_BYTES_MAX 65536

/* Appends the bytes of the file. INTERNAL if cairo lacks memory, or if FreeType cannot open the
 * fonts. */
CHECKED bool raster_write(const struct drawing *drawing, enum theme theme, struct text *out,
                          struct error *error);
