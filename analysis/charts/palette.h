/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of the charts. A drawing names paints; svg.h and raster.h give them colours, for
 * light or dark paper. Every text has a contrast of at least 4.5 with its background, every faint
 * marker at least 3 (test_palette computes them). */
#pragma once

#include <stdint.h>

#include "base/core/text.h"

#define PALETTE_STEPS 9
#define PALETTE_SERIES 6

enum paint {
    PAINT_NONE,
    PAINT_PAPER,
    PAINT_INK,   /* text */
    PAINT_MUTED, /* less important text, axes */
    PAINT_RULE,  /* grid lines */
    PAINT_FAINT, /* points that another load beats, the frame of a panel without figures */
    PAINT_SHADE, /* the background of a part of a chart */
    PAINT_FAIL,
    PAINT_FAIL_PALE,                            /* the background of a failed cell */
    PAINT_MARK,                                 /* warnings, the numbers of notes */
    PAINT_STEP,                                 /* the first of PALETTE_STEPS, from low to high */
    PAINT_ON_STEP = PAINT_STEP + PALETTE_STEPS, /* text on each step */
    PAINT_SERIES = PAINT_ON_STEP + PALETTE_STEPS,
    PAINT_COUNT = PAINT_SERIES + PALETTE_SERIES,
};

enum theme { THEME_LIGHT, THEME_DARK, THEMES };

/* 0xRRGGBB */
uint32_t palette_colour(enum theme theme, enum paint paint);
/* Writes the paint's name, such as "ink" or "step3". With SVG_CLASSES, a shape has the classes
 * f-NAME (fill) and s-NAME (stroke), whose colours are in web/assets/chart.css. Returns `out`. */
#define PALETTE_NAME_SIZE 20
const char *palette_name(enum paint paint, char out[PALETTE_NAME_SIZE]);
