/* SPDX-License-Identifier: Apache-2.0 */
/* The widths of characters in the charts' font, so that a label's box is known before it is drawn.
 * The font is a subset of Inter (analysis/charts/font/). A character that the font lacks is
 * measured as the box that a PNG shows for it or, if it is probably as wide as it is high, as one
 * em. An SVG leaves such a character to the viewer's fonts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

enum font_weight { FONT_REGULAR, FONT_SEMIBOLD, FONT_WEIGHTS };

struct font_width {
    uint32_t character;
    uint16_t widths[FONT_WEIGHTS]; /* thousandths of the font's size */
};
extern const struct font_width font_widths[]; /* ascending */
extern const size_t font_width_count;

#define FONT_FALLBACK 0x25A1 /* shown for a character that the font lacks: a box */
#define FONT_ASCENT 0.76     /* height of a label's box above the baseline, in font sizes */
#define FONT_DESCENT 0.22    /* depth of that box below the baseline, in font sizes */

/* Returns the first character of the text `*at`, or FONT_INVISIBLE if that character is invisible,
 * and moves `*at` past it. The text must not be empty. */
#define FONT_INVISIBLE 0
uint32_t font_next(const char **at);
bool font_has(uint32_t character);
/* The width of UTF-8 text, in the unit of `size`. */
double font_measure(const char *string, double size, enum font_weight weight);
/* The width of the text's first character. */
double font_measure_character(const char *string, double size, enum font_weight weight);
/* Appends the text. If it does not fit into `width`, appends as much of it as fits, and an
 * ellipsis; if nothing fits, only the ellipsis. */
void font_fit(const char *string, double size, enum font_weight weight, double width,
              struct text *out);
