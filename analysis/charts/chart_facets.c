/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_facets.h"

#include <math.h>
#include <stdlib.h>

#define LEFT 58 /* width of an axis and its numbers */
#define NAMES_WIDTH (CHART_NAMES_ROOM + 14)
#define BELOW 44 /* height of the axis below a plot */
#define ABOVE 22 /* height of the heading above a plot */
#define PANEL_HEIGHT 190
#define NAME_HEIGHT 13
#define NAME_MARKER 14 /* width of a marker before a name */

static struct box area_of(const struct drawing *drawing, double top, size_t i, size_t columns,
                          double height)
{
    double width = (drawing->width - CHART_MARGIN) / (double)columns;

    return (struct box){ (double)(i % columns) * width + LEFT,
                         top + ABOVE + (double)(i / columns) * (height + ABOVE + BELOW),
                         width - LEFT - NAMES_WIDTH, height };
}

struct chart_facets chart_facets_lay_out(struct drawing *drawing, double top, size_t lines)
{
    size_t wanted = (lines + CHART_PANEL_SERIES - 1) / CHART_PANEL_SERIES;
    struct chart_facets facets = { .count = wanted < 1 ? 1 : wanted };
    size_t columns = facets.count == 1 ? 1 : facets.count <= 4 ? 2 : 3, first = 0;
    size_t rows = (facets.count + columns - 1) / columns;
    double height =
        rows == 1 ? CHART_HEIGHT - top - ABOVE - BELOW - CHART_MARGIN / 2.0 : PANEL_HEIGHT;

    if (columns == 3)
        drawing->width = CHART_WIDTH * 1.4;
    drawing->height =
        fmax(CHART_HEIGHT, top + (double)rows * (height + ABOVE + BELOW) + CHART_MARGIN / 2.0);
    for (size_t i = 0; i < facets.count; i++) {
        size_t end = lines * (i + 1) / facets.count;

        facets.panels[i] = (struct chart_panel_area){ area_of(drawing, top, i, columns, height),
                                                      first, end - first };
        first = end;
    }
    return facets;
}

/* ---- Loads ---- */

struct scale chart_scale_of_loads(const struct scale_range *loads, struct box plot, double inset)
{
    bool is_single = loads->low == loads->high;

    return (struct scale){ .is_log = true,
                           .low = is_single ? loads->low / 2 : loads->low,
                           .high = is_single ? loads->high * 2 : loads->high,
                           .from = plot.x + inset,
                           .to = plot.x + plot.width - inset };
}

void chart_axis_loads(struct drawing *drawing, const struct chart_grid *grid,
                      const struct scale *scale, struct box plot)
{
    double y = plot.y + plot.height;
    char number[SCALE_NUMBER_SIZE];

    drawing_line(drawing, (struct spot){ plot.x, y }, (struct spot){ plot.x + plot.width, y },
                 CHART_STROKE(PAINT_MUTED, 1));
    for (size_t i = 0; i < grid->load_count; i++) {
        /* draws the last load first, so that its number has precedence over the others */
        double load = grid->loads[i > 0 ? i - 1 : grid->load_count - 1];
        double x = scale_at(scale, load);

        if (load <= 0)
            continue;
        drawing_line(drawing, (struct spot){ x, y }, (struct spot){ x, y + 4 },
                     CHART_STROKE(PAINT_MUTED, 1));
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_TICK,
                                                       .x = x,
                                                       .y = y + 16,
                                                       .string = scale_exact(load, number),
                                                       .paint = PAINT_MUTED,
                                                       .anchor = ANCHOR_MIDDLE });
    }
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = plot.x + plot.width / 2,
                                           .y = y + 33,
                                           .string = chart_load_heading(grid),
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE });
}

/* ---- Names ---- */

static int compare(const void *a, const void *b)
{
    const struct chart_name_label *left = a, *right = b;

    return (left->y > right->y) - (left->y < right->y);
}

static double width_of(enum text_kind kind, const char *string)
{
    return font_measure(string, text_kind_size(kind), text_kind_weight(kind));
}

double chart_names_room(const char *heading, const struct chart_name_label *labels, size_t count,
                        double most)
{
    double room = width_of(TEXT_NOTE, heading);

    for (size_t i = 0; i < count; i++)
        room = fmax(room, NAME_MARKER + width_of(TEXT_NAME, labels[i].name));
    return fmin(most, ceil(room));
}

/* Moves names apart: first downwards from the uppermost, then upwards from the lower edge of the
 * plot. */
static void spread(struct chart_name_label *labels, size_t count, struct box plot)
{
    double lowest = plot.y + plot.height;

    for (size_t i = 0; i < count; i++)
        labels[i].y = fmax(labels[i].y, i > 0 ? labels[i - 1].y + NAME_HEIGHT : plot.y + 4);
    for (size_t i = count; i-- > 0; lowest = labels[i].y - NAME_HEIGHT)
        labels[i].y = fmin(labels[i].y, lowest);
}

/* The heading goes above the first name that has a marker. If a name without a marker is so close
 * above that name that the heading does not fit between them, the heading goes above both. If no
 * name has a marker, the heading goes above the plot. */
static double heading_y(const struct chart_name_label *labels, size_t count, struct box plot)
{
    size_t first = 0;

    while (first < count && labels[first].series == CHART_NO_MARKER)
        first++;
    while (first > 0 && first < count && labels[first].y - labels[first - 1].y < 2 * NAME_HEIGHT)
        first--;
    return first == count ? plot.y - 9 : labels[first].y - NAME_HEIGHT + 3.5;
}

void chart_names_write(struct drawing *drawing, struct box plot, const char *heading,
                       struct chart_name_label *labels, size_t count, double room)
{
    double x = plot.x + plot.width + CHART_NAMES_GAP;

    qsort(labels, count, sizeof *labels, compare);
    spread(labels, count, plot);
    drawing_text(drawing, &(struct label){ .kind = TEXT_NOTE,
                                           .x = x,
                                           .y = heading_y(labels, count, plot),
                                           .string = heading,
                                           .paint = PAINT_MUTED,
                                           .room = room });
    for (size_t i = 0; i < count; i++) {
        bool has_marker = labels[i].series != CHART_NO_MARKER;

        if (has_marker)
            chart_marker(drawing, labels[i].series, (struct spot){ x + 5, labels[i].y },
                         labels[i].paint, labels[i].is_hollow);
        drawing_text(drawing, &(struct label){ .kind = TEXT_NAME,
                                               .x = x + (has_marker ? NAME_MARKER : 0),
                                               .y = labels[i].y + 3.5,
                                               .string = labels[i].name,
                                               .paint = labels[i].paint,
                                               .room = room - (has_marker ? NAME_MARKER : 0) });
    }
}
