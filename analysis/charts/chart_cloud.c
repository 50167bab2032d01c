/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_cloud.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/charts/chart_frame.h"
#include "base/core/memory.h"

void chart_cloud_init(struct chart_cloud *cloud, struct box box, double side)
{
    *cloud = (struct chart_cloud){ .box = box,
                                   .columns = (size_t)fmax(1, floor(box.width / side)),
                                   .rows = (size_t)fmax(1, floor(box.height / side)) };
    cloud->width = box.width / (double)cloud->columns;
    cloud->height = box.height / (double)cloud->rows;
    cloud->filled = memory_zeroed(cloud->columns * cloud->rows, sizeof *cloud->filled);
}

void chart_cloud_finish(struct chart_cloud *cloud)
{
    free(cloud->filled);
    *cloud = (struct chart_cloud){ 0 };
}

/* The rectangle that contains the point; NULL: the point is outside the box. Points on the right or
 * lower edge belong to the last column or row. */
static bool *rectangle_of(const struct chart_cloud *cloud, struct spot spot)
{
    double column = (spot.x - cloud->box.x) / cloud->width;
    double row = (spot.y - cloud->box.y) / cloud->height;

    if (!(column >= 0 && column <= (double)cloud->columns && row >= 0
          && row <= (double)cloud->rows))
        return NULL;
    return &cloud->filled[(size_t)fmin(row, (double)cloud->rows - 1) * cloud->columns
                          + (size_t)fmin(column, (double)cloud->columns - 1)];
}

bool chart_cloud_add(struct chart_cloud *cloud, struct spot spot)
{
    bool *rectangle = rectangle_of(cloud, spot);
    bool is_new = rectangle != NULL && !*rectangle;

    if (is_new)
        *rectangle = true;
    return is_new;
}

/* Draws neighbouring filled rectangles of a row with one stroke. */
void chart_cloud_draw(const struct chart_cloud *cloud, enum paint paint, struct drawing *drawing)
{
    FREE_AUTO struct spot *ends = memory_zeroed(2 * cloud->columns * cloud->rows, sizeof *ends);
    size_t count = 0;

    for (size_t row = 0; row < cloud->rows; row++)
        for (size_t first = 0, last; first < cloud->columns; first = last + 1) {
            const bool *filled = cloud->filled + row * cloud->columns;
            double y = cloud->box.y + ((double)row + 0.5) * cloud->height;

            for (last = first; last < cloud->columns && filled[last];)
                last++;
            if (last == first)
                continue;
            ends[count++] = (struct spot){ cloud->box.x + (double)first * cloud->width, y };
            ends[count++] = (struct spot){ cloud->box.x + (double)last * cloud->width, y };
        }
    drawing_segments(drawing, ends, count, CHART_STROKE(paint, cloud->height));
}
