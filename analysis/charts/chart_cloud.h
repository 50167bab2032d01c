/* SPDX-License-Identifier: Apache-2.0 */
/* Finds which parts of an area contain points, for charts with too many points to draw each of
 * them. Private to analysis/charts/. */
#pragma once

#include "analysis/charts/drawing.h"

/* A box, divided into rectangles that are roughly square. */
struct chart_cloud {
    struct box box;
    size_t columns, rows;
    double width, height; /* of a rectangle */
    bool *filled;         /* row by row: whether the rectangle contains a point; heap */
};
#define CHART_CLOUD_AUTO __attribute__((cleanup(chart_cloud_finish))) struct chart_cloud
/* `side`: the approximate width and height of a rectangle. */
void chart_cloud_init(struct chart_cloud *cloud, struct box box, double side);
void chart_cloud_finish(struct chart_cloud *cloud);
/* Adds a point. False: its rectangle already has one, or it is outside the box. */
bool chart_cloud_add(struct chart_cloud *cloud, struct spot spot);
void chart_cloud_draw(const struct chart_cloud *cloud, enum paint paint, struct drawing *drawing);
