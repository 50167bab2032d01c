/* SPDX-License-Identifier: Apache-2.0 */
/* Writes drawings as SVG. */
#pragma once

#include "analysis/charts/drawing.h"

enum svg_colours {
    SVG_LIGHT,   /* for a file: it contains the colours of the light theme */
    SVG_DARK,    /* for a file: it contains the colours of the dark theme */
    SVG_CLASSES, /* classes instead of colours: for a page that includes web/assets/chart.css */
};

/* Appends the SVG to `out`. The same drawing gives the same bytes in every locale. */
void svg_write(const struct drawing *drawing, enum svg_colours colours, struct text *out);
