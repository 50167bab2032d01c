/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings as SVG. */
#pragma once

#include "analysis/charts/drawing.h"

enum svg_colours {
    SVG_LIGHT,   /* for a file: the colours are written into it */
    SVG_DARK,    /* the same, with the colours of the dark theme */
    SVG_CLASSES, /* classes instead of colours: for a page that includes web/assets/chart.css */
};

/* Writes the same bytes for the same drawing, in every locale. */
void svg_write(const struct drawing *drawing, enum svg_colours colours, struct text *out);
