/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the heat map. chart_heat.c draws the cells, or chart_heat_dense.c if there are many.
 * chart_heat_legend.c draws the legend, and the symbols that both the legend and the cells of
 * chart_heat.c show. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart_frame.h"

#define CHART_HEAT_LEGEND_HEIGHT 84

struct chart_heat {
    struct chart *chart;
    const struct chart_grid *grid;
    const struct chart_quantity *quantity;
    struct scale_range range; /* of measured figures */
    double left, top, cell_width, cell_height;
    bool is_dense; /* the cells are too small for figures */
    /* what the legend must explain */
    bool has_saturation;   /* a cell has the outline for saturation */
    bool has_failed_share; /* a cell has the bar for failed requests */
    bool has_unknown;      /* a measured cell does not have this figure */
};

/* Radius of the dot for CHART_ABSENT in the legend and in a map that is not dense. */
#define CHART_HEAT_DOT 2
#define CHART_HEAT_DENSE_GAP 0.5 /* between the cells of a dense map */

/* The box of a cell, without the gap to the next cell. */
struct box chart_heat_box(const struct chart_heat *heat, size_t row, size_t load);
/* The box, smaller by `by` on each side. */
struct box chart_heat_inset(struct box box, double by);
/* The step of the colour ramp for a figure. */
int chart_heat_step(const struct chart_heat *heat, double value);
/* Draws all cells of a dense map. */
void chart_heat_dense(const struct chart_heat *heat);
/* Draws diagonal lines in the box: the cell failed. */
void chart_heat_hatch(struct drawing *drawing, struct box box);
/* Draws a mark in the box's upper right corner: the cell has a warning. */
void chart_heat_corner(struct drawing *drawing, struct box box, double size);
/* Draws a bar along the box's lower edge: the share of the cell's requests that failed. */
void chart_heat_failed_share(struct drawing *drawing, struct box box, double share);
/* Explains the colours and the symbols of the picture. `y`: the baseline of the title above the
 * colours. */
void chart_heat_legend(const struct chart_heat *heat, double y);
