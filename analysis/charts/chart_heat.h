/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the heat map: its cells (chart_heat.c), and the marks on them with the legend that
 * explains them (chart_heat_legend.c). Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart_frame.h"

#define CHART_HEAT_LEGEND_HEIGHT 84

struct chart_heat {
    struct chart *chart;
    const struct chart_grid *grid;
    const struct chart_quantity *quantity;
    struct scale_range range; /* of measured figures */
    double left, top, cell_width, cell_height;
    bool is_dense;
    bool has_saturation, has_marks, has_failed_share;
};

/* Diagonal lines, clipped to the box: the cell failed. */
void chart_heat_hatch(struct drawing *drawing, struct box box);
/* A mark in the box's upper right corner: the cell has a warning. */
void chart_heat_corner(struct drawing *drawing, struct box box, double size);
/* A bar along the box's lower edge: the share of its requests that failed. */
void chart_heat_failed_share(struct drawing *drawing, struct box box, double share);
/* The colour ramp, and the other signs that the picture has; the first line of text is at `y`. */
void chart_heat_legend(const struct chart_heat *heat, double y);
