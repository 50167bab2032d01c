/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_frame.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"

#define DOT " \xc2\xb7 "
#define LINES_MAX 3
#define NAME_SIZE 40 /* of a file's name; a longer name is cut */
#define LINE_HEIGHT 16
#define BANNER_NAMES 4

void chart_finish(struct chart *chart)
{
    drawing_finish(&chart->drawing);
    chart_table_finish(&chart->table);
}

/* ---- Head ---- */

static void add_hardware(const struct evidence_facts *facts, struct text *out)
{
    char number[SCALE_NUMBER_SIZE];

    text_add(out, " on ");
    if (facts->chips > 1)
        text_addf(out, "%s \xc3\x97 ", scale_exact(facts->chips, number));
    text_add(out, facts->hardware);
}

void chart_name(const struct chart_runs *runs, struct text *out)
{
    const struct evidence *first = &runs->runs[0];

    text_add(out, first->facts.model[0] != '\0'        ? first->facts.model
                  : first->facts.deployment[0] != '\0' ? first->facts.deployment
                  : first->name[0] != '\0'             ? first->name
                                                       : first->id);
    if (first->facts.hardware[0] != '\0')
        add_hardware(&first->facts, out);
}

static double title_width(const char *string)
{
    return font_measure(string, text_kind_size(TEXT_TITLE), text_kind_weight(TEXT_TITLE));
}

void chart_start(struct chart *chart, double width, double height, const char *name,
                 const char *shown)
{
    double room = width - 2 * CHART_MARGIN - title_width(shown);
    TEXT_AUTO full = { 0 };
    TEXT_AUTO title = { 0 };

    text_addf(&full, "%s%s", name, shown);
    font_fit(name, text_kind_size(TEXT_TITLE), text_kind_weight(TEXT_TITLE), room, &title);
    text_add(&title, shown);
    drawing_init(&chart->drawing, width, height);
    drawing_set_title(&chart->drawing, text_string(&full));
    drawing_text(&chart->drawing, &(struct label){ .kind = TEXT_TITLE,
                                                   .x = CHART_MARGIN,
                                                   .y = CHART_TITLE_Y,
                                                   .string = text_string(&title),
                                                   .paint = PAINT_INK,
                                                   .room = width - 2 * CHART_MARGIN });
}

void chart_part(struct text *parts, const char *format, ...)
{
    FREE_AUTO char *part = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&part, format, arguments) < 0)
        part = NULL;
    va_end(arguments);
    if (part == NULL || part[0] == '\0')
        return;
    if (parts->length > 0)
        text_add(parts, DOT);
    text_add(parts, part);
}

static void write_line(struct drawing *drawing, enum text_kind kind, enum paint paint, double y,
                       const struct text *line)
{
    drawing_text(drawing, &(struct label){ .kind = kind,
                                           .x = CHART_MARGIN,
                                           .y = y,
                                           .string = text_string(line),
                                           .paint = paint,
                                           .room = drawing->width - 2 * CHART_MARGIN });
}

static bool fits(const struct drawing *drawing, enum text_kind kind, const struct text *line,
                 const char *part)
{
    TEXT_AUTO both = { 0 };

    text_addf(&both, "%s%s%s", text_string(line), DOT, part);
    return font_measure(text_string(&both), text_kind_size(kind), text_kind_weight(kind))
           <= drawing->width - 2 * CHART_MARGIN;
}

double chart_lines(struct drawing *drawing, enum text_kind kind, enum paint paint, double y,
                   const struct text *parts)
{
    TEXT_AUTO line = { 0 };
    FREE_AUTO char *copy = memory_copy_text(text_string(parts));
    size_t lines = 1;

    for (char *part = copy, *end; part != NULL; part = end) {
        end = strstr(part, DOT);
        if (end != NULL) {
            *end = '\0';
            end += strlen(DOT);
        }
        if (line.length > 0 && lines < LINES_MAX && !fits(drawing, kind, &line, part)) {
            write_line(drawing, kind, paint, y += LINE_HEIGHT, &line);
            text_clear(&line);
            lines++;
        }
        chart_part(&line, "%s", part);
    }
    if (line.length > 0)
        write_line(drawing, kind, paint, y += LINE_HEIGHT, &line);
    return y;
}

static void describe_samples(const struct chart_grid *grid, struct text *parts)
{
    struct scale_range samples = { 0 };
    char low[SCALE_NUMBER_SIZE], high[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        if (grid->points[i].state == CHART_MEASURED)
            scale_range_add(&samples, grid->points[i].samples);
    if (!samples.known)
        chart_part(parts, "n not stated");
    else if (samples.low == samples.high)
        chart_part(parts, "n = %s", scale_exact(samples.low, low));
    else
        chart_part(parts, "n = %s to %s", scale_exact(samples.low, low),
                   scale_exact(samples.high, high));
}

static void describe_counts(const struct chart_grid *grid, struct text *parts)
{
    static const struct {
        enum chart_state state;
        const char *word;
    } counted[] = { { CHART_FAILED, "failed" },
                    { CHART_INFEASIBLE, "too long" },
                    { CHART_INFERRED, "inferred" },
                    { CHART_SKIPPED, "skipped" } };

    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++) {
        size_t count = chart_grid_count(grid, counted[i].state);

        if (count > 0)
            chart_part(parts, "%zu %s", count, counted[i].word);
    }
    if (chart_grid_marked(grid) > 0)
        chart_part(parts, "%zu marked with a warning", chart_grid_marked(grid));
}

/* If the run was imported, says so, and names the file if the title names the model instead. */
static void describe_origin(const struct evidence *evidence, struct text *parts)
{
    char name[NAME_SIZE];

    text_copy(name, sizeof name, evidence->name);
    if (evidence->imported && evidence->facts.model[0] != '\0')
        chart_part(parts, "imported %s%s", name,
                   strlen(name) < strlen(evidence->name) ? "\xe2\x80\xa6" : "");
    else if (evidence->imported)
        chart_part(parts, "imported");
}

void chart_describe(const struct chart_grid *grid, struct text *parts)
{
    double averaged_runs = grid->runs->runs[0].facts.repetitions;
    size_t points = 0;
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < grid->load_count * grid->row_count; i++)
        points += grid->points[i].entry_count > 0;
    describe_origin(&grid->runs->runs[0], parts);
    if (grid->variant[0] != '\0')
        chart_part(parts, "%s", grid->variant);
    if (isfinite(grid->output_tokens))
        chart_part(parts, "%s output tokens", scale_exact(grid->output_tokens, number));
    chart_part(parts, "%zu cell%s", points, points == 1 ? "" : "s");
    if (grid->repetitions > 1)
        chart_part(parts, "mean of up to %zu repetitions", grid->repetitions);
    else if (averaged_runs > 1)
        chart_part(parts, "mean of %s runs, no spread", scale_exact(averaged_runs, number));
    else
        chart_part(parts, "1 repetition, spread unknown");
    describe_samples(grid, parts);
    describe_counts(grid, parts);
    if (grid->other_cells > 0)
        chart_part(parts, "%zu cell%s with other %s not shown", grid->other_cells,
                   grid->other_cells == 1 ? "" : "s",
                   grid->by_output ? "variants" : "output lengths or variants");
    if (grid->unplaced_cells > 0)
        chart_part(parts, "%zu cell%s without a load, or outside the grid", grid->unplaced_cells,
                   grid->unplaced_cells == 1 ? "" : "s");
}

void chart_banner(const struct chart_grid *grid, struct text *parts)
{
    size_t common = 0;

    for (size_t i = 0; i < grid->mark_count; i++) {
        if (!grid->marks[i].is_common)
            continue;
        if (++common <= BANNER_NAMES)
            chart_part(parts, "%s%s in %zu of %zu cells", common == 1 ? "Warnings: " : "",
                       grid->marks[i].name, grid->marks[i].cells, grid->entry_count);
    }
    if (common > BANNER_NAMES)
        chart_part(parts, "%zu more", common - BANNER_NAMES);
}

double chart_head(struct chart *chart, const struct chart_grid *grid, const char *more)
{
    TEXT_AUTO parts = { 0 };
    TEXT_AUTO banner = { 0 };
    double y;

    chart_describe(grid, &parts);
    chart_part(&parts, "%s", more);
    y = chart_lines(&chart->drawing, TEXT_SUBTITLE, PAINT_MUTED, CHART_TITLE_Y + 3, &parts);
    chart_banner(grid, &banner);
    if (banner.length > 0)
        y = chart_lines(&chart->drawing, TEXT_BANNER, PAINT_MARK, y, &banner);
    return y + 14;
}

void chart_empty(struct chart *chart, double top, const char *why)
{
    const struct box box = { CHART_MARGIN, top + 10, chart->drawing.width - 2 * CHART_MARGIN,
                             chart->drawing.height - top - 10 - CHART_MARGIN };

    chart->is_empty = true;
    drawing_rect(&chart->drawing, box, 4,
                 (struct style){ PAINT_SHADE, PAINT_RULE, .width = 1, .dashed = true });
    drawing_text(&chart->drawing, &(struct label){ .kind = TEXT_HEADING,
                                                   .x = box.x + box.width / 2,
                                                   .y = box.y + box.height / 2,
                                                   .string = why,
                                                   .paint = PAINT_MUTED,
                                                   .anchor = ANCHOR_MIDDLE,
                                                   .room = box.width - 20 });
}

/* ---- Axes ---- */

void chart_axis_x(struct drawing *drawing, const struct scale *scale, double y, double top,
                  const char *heading)
{
    double ticks[SCALE_TICKS_MAX];
    size_t count = scale_ticks(scale, ticks);
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < count; i++) {
        double x = scale_at(scale, ticks[i]);

        drawing_line(drawing, (struct spot){ x, y }, (struct spot){ x, top },
                     CHART_STROKE(PAINT_RULE, 1));
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_TICK,
                                                       .x = x,
                                                       .y = y + 16,
                                                       .string = scale_tick_name(ticks[i], number),
                                                       .paint = PAINT_MUTED,
                                                       .anchor = ANCHOR_MIDDLE });
    }
    drawing_line(drawing, (struct spot){ scale->from, y }, (struct spot){ scale->to, y },
                 CHART_STROKE(PAINT_MUTED, 1));
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = (scale->from + scale->to) / 2,
                                           .y = y + 34,
                                           .string = heading,
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE });
}

void chart_axis_y(struct drawing *drawing, const struct scale *scale, double x, double right,
                  const char *heading)
{
    double ticks[SCALE_TICKS_MAX];
    size_t count = scale_ticks(scale, ticks);
    char number[SCALE_NUMBER_SIZE];

    for (size_t i = 0; i < count; i++) {
        double y = scale_at(scale, ticks[i]);

        drawing_line(drawing, (struct spot){ x, y }, (struct spot){ right, y },
                     CHART_STROKE(PAINT_RULE, 1));
        drawing_text_if_free(drawing, &(struct label){ .kind = TEXT_TICK,
                                                       .x = x - 6,
                                                       .y = y + 3.5,
                                                       .string = scale_tick_name(ticks[i], number),
                                                       .paint = PAINT_MUTED,
                                                       .anchor = ANCHOR_END });
    }
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = x - 34,
                                           .y = scale->to - 10,
                                           .string = heading,
                                           .paint = PAINT_MUTED });
}

const char *chart_load_heading(const struct chart_grid *grid)
{
    return grid->is_rate ? "requests/s planned" : "users";
}

const char *chart_row_heading(const struct chart_grid *grid)
{
    static const char *const names[LENGTH_UNITS] = { "input length", "context, tokens",
                                                     "input, words" };

    return grid->by_output ? "output tokens" : names[grid->runs->runs[0].input_unit];
}

const char *chart_row_name(double row, char out[SCALE_NUMBER_SIZE])
{
    return isnan(row) ? strcpy(out, "not stated") : scale_exact(row, out);
}

void chart_write_place(const struct chart_grid *grid, double load, double row, struct text *out)
{
    char number[SCALE_NUMBER_SIZE];

    text_addf(out, "%s %s, ", scale_exact(load, number),
              !grid->is_rate && load == 1 ? "user" : chart_load_heading(grid));
    text_addf(out, "%s %s", grid->by_output ? "output" : "context", chart_row_name(row, number));
}

const char *chart_load_column(const struct chart_grid *grid)
{
    return grid->is_rate ? "request_rate" : "users";
}

const char *chart_row_column(const struct chart_grid *grid)
{
    return grid->by_output ? "output_tokens" : "context";
}

/* ---- Markers ---- */

enum paint chart_series_paint(size_t series)
{
    return PAINT_SERIES + (enum paint)(series % PALETTE_SERIES);
}

#define MARKER_CORNERS_MAX 4

/* The corners of each marker, in units of its radius. The first marker is a circle. */
static const struct {
    size_t count;
    struct spot corners[MARKER_CORNERS_MAX];
} markers[PALETTE_SERIES] = {
    { 0 },
    { 4, { { -0.9, -0.9 }, { 0.9, -0.9 }, { 0.9, 0.9 }, { -0.9, 0.9 } } },
    { 3, { { 0, -1.15 }, { 1.1, 0.85 }, { -1.1, 0.85 } } },
    { 4, { { 0, -1.3 }, { 1.3, 0 }, { 0, 1.3 }, { -1.3, 0 } } },
    { 3, { { 0, 1.15 }, { 1.1, -0.85 }, { -1.1, -0.85 } } },
    { 4, { { -0.6, -1.3 }, { 0.6, -1.3 }, { 0.6, 1.3 }, { -0.6, 1.3 } } },
};
#define MARKER_RADIUS 4

void chart_marker(struct drawing *drawing, size_t series, struct spot at, enum paint paint,
                  bool is_hollow)
{
    const struct style style = { is_hollow ? PAINT_PAPER : paint, is_hollow ? paint : PAINT_PAPER,
                                 .width = is_hollow ? 1.6 : 1 };
    size_t kind = series % PALETTE_SERIES;
    struct spot corners[MARKER_CORNERS_MAX];

    for (size_t i = 0; i < markers[kind].count; i++)
        corners[i] = (struct spot){ at.x + MARKER_RADIUS * markers[kind].corners[i].x,
                                    at.y + MARKER_RADIUS * markers[kind].corners[i].y };
    if (markers[kind].count == 0)
        drawing_circle(drawing, at, MARKER_RADIUS, style);
    else
        drawing_path(drawing, corners, markers[kind].count, true, style);
}
