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

/* Lines from below left to above right, cut at the box: it failed. */
void chart_heat_hatch(struct drawing *drawing, struct box box);
/* The box's upper right corner: it has a warning. */
void chart_heat_corner(struct drawing *drawing, struct box box, double size);
/* A bar at the box's lower end: so many of its requests failed. */
void chart_heat_failed_share(struct drawing *drawing, struct box box, double share);
/* The ramp of colours, and what else the picture has; its first line of text at `y`. */
void chart_heat_legend(const struct chart_heat *heat, double y);
