/* SPDX-License-Identifier: Apache-2.0 */
/* Lays out a line chart as one panel, or as several if there are more than six lines. Each panel
 * has a column on the right for the names of its lines. Also draws the axis of loads and the names.
 * Private to analysis/charts/. */
#pragma once

#include "analysis/charts/chart_frame.h"

#define CHART_PANEL_SERIES PALETTE_SERIES
#define CHART_PANELS_MAX 9

struct chart_panel_area {
    struct box box; /* of the plot, without axes and names */
    size_t first;   /* the index of the panel's first line */
    size_t count;   /* the number of lines in the panel */
};

struct chart_facets {
    struct chart_panel_area panels[CHART_PANELS_MAX];
    size_t count;
};

#define CHART_LINES_MAX (CHART_PANELS_MAX * CHART_PANEL_SERIES)
/* Lays out the panels for this many lines (at most CHART_LINES_MAX) below `top`, and enlarges the
 * picture so that they fit. */
struct chart_facets chart_facets_lay_out(struct drawing *drawing, double top, size_t lines);

/* The scale of the loads on the x axis. `inset`: units left free at both ends, for markers. */
struct scale chart_scale_of_loads(const struct scale_range *loads, struct box plot, double inset);
/* Draws an axis below the plot with a tick at each positive load, and numbers at the last load and
 * at as many others as fit. */
void chart_axis_loads(struct drawing *drawing, const struct chart_grid *grid,
                      const struct scale *scale, struct box plot);

/* A name beside a plot, such as a line's, with its marker if it has one. */
struct chart_name_label {
    double y; /* its preferred place */
    char name[SCALE_NUMBER_SIZE + 40];
    size_t series; /* has the marker of this series; CHART_NO_MARKER: no marker */
    enum paint paint;
    bool is_hollow;
};
#define CHART_NO_MARKER 99
#define CHART_NAMES_ROOM 78 /* width of the names beside a panel */
#define CHART_NAMES_GAP 12  /* gap between the plot and its names */
/* The width that the names and their heading need beside a plot, at most `most`. */
double chart_names_room(const char *heading, const struct chart_name_label *labels, size_t count,
                        double most);
/* Writes the names and their heading to the right of the plot. Sorts the labels by place, and moves
 * apart those that would overlap. */
void chart_names_write(struct drawing *drawing, struct box plot, const char *heading,
                       struct chart_name_label *labels, size_t count, double room);
