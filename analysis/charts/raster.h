/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings as PNG, by cairo with the embedded fonts, so that the machine's fonts do not
 * matter. A palette of 8 bits makes the file a third of the size of 24-bit colour. */
#pragma once

#include "analysis/charts/drawing.h"
#include "base/core/error.h"

/* 720 x 480 units become 1200 x 800 pixels; a larger drawing is at most RASTER_PIXELS_MAX wide and
 * high, and has fewer pixels where its file would be larger than RASTER_BYTES_MAX, since chats cut
 * off or refuse long answers. */
#define RASTER_PIXELS_MAX 2400
#define RASTER_BYTES_MAX 65536

/* Appends the bytes of the file. Fails if memory or the fonts do. */
CHECKED bool raster_write(const struct drawing *drawing, enum theme theme, struct text *out,
                          struct error *error);
