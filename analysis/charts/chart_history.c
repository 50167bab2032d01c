/* SPDX-License-Identifier: Apache-2.0 */
/* What happened when? Small panels over one axis of time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/charts/chart_facets.h"
#include "analysis/charts/chart_moments.h"
#include "base/core/memory.h"

#define LEFT 58
#define RIGHT 100
#define PANEL_MIN 56
#define PANEL_GAP 34
#define GAP_STEPS 2.5 /* a line breaks between values that are more steps apart than this */
#define TIME_TICKS 7
#define NOTE_WIDTH 18 /* if its place is taken, a note's number moves right by this */
#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

struct history {
    struct chart *chart;
    const struct chart_history *input;
    double left, right;
};

static double x_of(const struct history *history, int64_t at_ms)
{
    double share = (double)(at_ms - history->input->from_ms)
                   / (double)(history->input->to_ms - history->input->from_ms);

    return history->left + share * (history->right - history->left);
}

static bool is_within(const struct history *history, int64_t at_ms)
{
    return at_ms >= history->input->from_ms && at_ms <= history->input->to_ms;
}

/* ---- Time ---- */

/* The time between two ticks of the time axis. */
static int64_t tick_step_of(int64_t span_ms)
{
    static const int64_t steps[] = { SECOND,     5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE,
                                     2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR,
                                     2 * HOUR,   3 * HOUR,   6 * HOUR,    12 * HOUR,   DAY,
                                     2 * DAY,    7 * DAY,    14 * DAY,    30 * DAY,    90 * DAY };

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (span_ms / steps[i] <= TIME_TICKS)
            return steps[i];
    return span_ms / TIME_TICKS + 1;
}

/* Writes "14:30", "14:30:15" for steps below a minute, or "2026-11-22" for steps of days. */
static void write_time(int64_t at_ms, int64_t step_ms, char out[32])
{
    time_t seconds = (time_t)(at_ms / SECOND);
    struct tm utc;

    gmtime_r(&seconds, &utc);
    if (step_ms >= DAY)
        snprintf(out, 32, "%04d-%02d-%02d", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
    else if (step_ms >= MINUTE)
        snprintf(out, 32, "%02d:%02d", utc.tm_hour, utc.tm_min);
    else
        snprintf(out, 32, "%02d:%02d:%02d", utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/* The ticks of the time axis. */
struct ticks {
    int64_t first_ms, step_ms;
};

static struct ticks ticks_of(const struct chart_history *input)
{
    int64_t step = tick_step_of(input->to_ms - input->from_ms);

    return (struct ticks){ (input->from_ms + step - 1) / step * step, step };
}

/* Draws the time axis's vertical lines within one panel, so that they do not cross the next panel's
 * heading. */
static void draw_time_rules(const struct history *history, struct box box)
{
    const struct ticks ticks = ticks_of(history->input);

    for (int64_t at = ticks.first_ms; at <= history->input->to_ms; at += ticks.step_ms)
        drawing_line(&history->chart->drawing, (struct spot){ x_of(history, at), box.y },
                     (struct spot){ x_of(history, at), box.y + box.height },
                     CHART_STROKE(PAINT_RULE, 1));
}

static void draw_time_names(const struct history *history, double y)
{
    const struct ticks ticks = ticks_of(history->input);
    char name[32];

    for (int64_t at = ticks.first_ms; at <= history->input->to_ms; at += ticks.step_ms) {
        write_time(at, ticks.step_ms, name);
        drawing_text_if_free(&history->chart->drawing, &(struct label){ .kind = TEXT_TICK,
                                                                        .x = x_of(history, at),
                                                                        .y = y + 16,
                                                                        .string = name,
                                                                        .paint = PAINT_MUTED,
                                                                        .anchor = ANCHOR_MIDDLE });
    }
}

/* ---- Events ---- */

static void draw_spans(const struct history *history, double top, double bottom)
{
    const struct chart_history *input = history->input;

    for (size_t i = 0; i < input->span_count; i++) {
        double from = fmax(history->left, x_of(history, input->spans[i].from_ms));
        double to = fmin(history->right, x_of(history, input->spans[i].to_ms));

        drawing_rect(&history->chart->drawing, (struct box){ from, top, to - from, bottom - top },
                     0, CHART_FILL(PAINT_SHADE));
    }
}

static void draw_restarts(const struct history *history, double top, double bottom)
{
    const struct chart_history *input = history->input;

    for (size_t i = 0; i < input->restart_count; i++)
        if (is_within(history, input->restarts_ms[i]))
            drawing_line(&history->chart->drawing,
                         (struct spot){ x_of(history, input->restarts_ms[i]), top },
                         (struct spot){ x_of(history, input->restarts_ms[i]), bottom },
                         (struct style){ PAINT_NONE, PAINT_FAIL, .width = 1.3, .dashed = true });
}

/* Draws a number in a circle above the panels for each note in the range, as far as there is room;
 * the subtitle says what the numbers mean. */
static void draw_notes(const struct history *history, double y)
{
    struct drawing *drawing = &history->chart->drawing;
    double shown = 0;

    for (size_t i = 0; i < history->input->note_count; i++) {
        double x = x_of(history, history->input->notes[i].at_ms);
        char number[SCALE_NUMBER_SIZE];
        struct label label = { .kind = TEXT_NOTE,
                               .x = x,
                               .y = y + 3.5,
                               .string = number,
                               .paint = PAINT_MARK,
                               .anchor = ANCHOR_MIDDLE };

        if (!is_within(history, history->input->notes[i].at_ms))
            continue;
        scale_exact(++shown, number);
        while (label.x < history->right + NOTE_WIDTH && !drawing_text_if_free(drawing, &label))
            label.x += NOTE_WIDTH; /* beside an earlier note */
        if (label.x < history->right + NOTE_WIDTH)
            drawing_circle(drawing, (struct spot){ label.x, y }, 7,
                           (struct style){ PAINT_NONE, PAINT_MARK, .width = 1.2 });
    }
}

/* ---- Panels ---- */

/* Draws the values between two gaps: a line, or a dot for a single value. */
static void draw_between_gaps(const struct history *history, size_t series,
                              const struct spot *spots, size_t count)
{
    if (count > 1)
        drawing_path(&history->chart->drawing, spots, count, false,
                     CHART_STROKE(chart_series_paint(series), 1.4));
    else if (count == 1)
        drawing_circle(&history->chart->drawing, spots[0], 1.6,
                       CHART_FILL(chart_series_paint(series)));
}

static bool is_shown(const struct history *history, const struct scale *y,
                     const struct chart_moment *moment)
{
    return isfinite(moment->value) && is_within(history, moment->at_ms)
           && (!y->is_log || moment->value > 0);
}

static void draw_series(const struct history *history, const struct scale *y, size_t series,
                        const struct chart_series *line)
{
    FREE_AUTO struct spot *spots = memory_zeroed(line->count + 1, sizeof *spots);
    double longest_ms = GAP_STEPS * (double)history->input->step_ms;
    int64_t last_ms = 0;
    size_t count = 0;

    for (size_t i = 0; i < line->count; i++) {
        const struct chart_moment *moment = &line->moments[i];

        if (!is_shown(history, y, moment) || (double)(moment->at_ms - last_ms) > longest_ms) {
            draw_between_gaps(history, series, spots, count);
            count = 0;
        }
        if (!is_shown(history, y, moment))
            continue;
        last_ms = moment->at_ms;
        spots[count++] = (struct spot){ x_of(history, moment->at_ms), scale_at(y, moment->value) };
    }
    draw_between_gaps(history, series, spots, count);
}

/* The y coordinate at which the line ends; NaN: the line has no point. */
static double end_of(const struct history *history, const struct chart_series *line,
                     const struct scale *y)
{
    for (size_t i = line->count; i-- > 0;)
        if (is_shown(history, y, &line->moments[i]))
            return scale_at(y, line->moments[i].value);
    return NAN;
}

/* Writes each name beside the end of its line, or beside the lower edge if the line has no
 * point. */
static void draw_panel_names(const struct history *history, const struct chart_panel *panel,
                             const struct scale *y, struct box box)
{
    struct chart_name_label labels[PALETTE_SERIES];
    size_t count = 0;

    for (size_t i = 0; i < panel->series_count && i < PALETTE_SERIES; i++) {
        double end = end_of(history, &panel->series[i], y);

        labels[count] = (struct chart_name_label){ .y = isnan(end) ? box.y + box.height : end,
                                                   .series = CHART_NO_MARKER,
                                                   .paint = chart_series_paint(i) };
        text_copy(labels[count].name, sizeof labels[count].name, panel->series[i].name);
        count++;
    }
    chart_names_write(&history->chart->drawing, box, "", labels, count,
                      RIGHT - CHART_NAMES_GAP - CHART_MARGIN);
}

static void draw_empty_panel(const struct history *history, const struct chart_panel *panel,
                             struct box box)
{
    struct drawing *drawing = &history->chart->drawing;

    drawing_rect(drawing, box, 3,
                 (struct style){ PAINT_NONE, PAINT_FAINT, .width = 1, .dashed = true });
    drawing_text(drawing, &(struct label){ .kind = TEXT_HEADING,
                                           .x = box.x - 34,
                                           .y = box.y - 8,
                                           .string = panel->heading,
                                           .paint = PAINT_MUTED });
    /* keeps a restart's line from crossing the text */
    drawing_rect(drawing,
                 (struct box){ box.x + box.width / 2 - 80, box.y + box.height / 2 - 9, 160, 18 }, 3,
                 CHART_FILL(PAINT_PAPER));
    drawing_text(drawing, &(struct label){ .kind = TEXT_NOTE,
                                           .x = box.x + box.width / 2,
                                           .y = box.y + box.height / 2 + 3.5,
                                           .string = "no values to show in this period",
                                           .paint = PAINT_MUTED,
                                           .anchor = ANCHOR_MIDDLE });
}

static void draw_panel(const struct history *history, const struct chart_panel *panel,
                       struct box box)
{
    struct scale_range range = { .is_log = panel->is_log };
    struct scale y;

    draw_time_rules(history, box);
    for (size_t s = 0; s < panel->series_count; s++)
        for (size_t i = 0; i < panel->series[s].count; i++)
            scale_range_add(&range, panel->series[s].moments[i].value);
    if (!range.known) {
        draw_restarts(history, box.y, box.y + box.height);
        draw_empty_panel(history, panel, box);
        return;
    }
    y = scale_fit(&range, box.y + box.height, box.y);
    chart_axis_y(&history->chart->drawing, &y, box.x, box.x + box.width, panel->heading);
    draw_restarts(history, box.y, box.y + box.height);
    for (size_t s = 0; s < panel->series_count; s++)
        draw_series(history, &y, s, &panel->series[s]);
    draw_panel_names(history, panel, &y, box);
}

/* ---- The chart ---- */

static void fill_table(const struct history *history)
{
    static const char *const names[] = { "at_ms", "panel", "series", "value", NULL };
    struct chart_table *table = &history->chart->table;

    chart_table_init(table, names);
    for (size_t p = 0; p < history->input->panel_count; p++)
        for (size_t s = 0; s < history->input->panels[p].series_count; s++) {
            const struct chart_series *series = &history->input->panels[p].series[s];

            for (size_t i = 0; i < series->count; i++) {
                chart_table_number(table, (double)series->moments[i].at_ms);
                chart_table_text(table, history->input->panels[p].heading);
                chart_table_text(table, series->name);
                chart_table_number(table, series->moments[i].value);
            }
        }
}

static void describe(const struct history *history, struct text *parts)
{
    const struct chart_history *input = history->input;
    char from[32], to[32], number[SCALE_NUMBER_SIZE];
    size_t spans = 0, restarts = 0;

    for (size_t i = 0; i < input->span_count; i++)
        spans += input->spans[i].from_ms < input->to_ms && input->spans[i].to_ms > input->from_ms;
    for (size_t i = 0; i < input->restart_count; i++)
        restarts += is_within(history, input->restarts_ms[i]);
    write_time(input->from_ms, DAY, from);
    write_time(input->to_ms, DAY, to);
    chart_part(parts, "%s%s%s, UTC", from, strcmp(from, to) == 0 ? "" : " to ",
               strcmp(from, to) == 0 ? "" : to);
    chart_part(parts, "a value every %s s", scale_exact((double)input->step_ms / SECOND, number));
    chart_part(parts, "gaps: no values");
    if (spans > 0)
        chart_part(parts, "shaded: %zu sweep%s", spans, spans == 1 ? "" : "s");
    if (restarts > 0)
        chart_part(parts, "dashed line: %zu restart%s", restarts, restarts == 1 ? "" : "s");
    for (size_t i = 0, number_shown = 0; i < input->note_count; i++)
        if (is_within(history, input->notes[i].at_ms))
            chart_part(parts, "%zu: %s", ++number_shown, input->notes[i].words);
}

static void draw(const struct history *history, double top)
{
    struct drawing *drawing = &history->chart->drawing;
    double panels = (double)history->input->panel_count, first = top + 36;
    double height =
        fmax(PANEL_MIN, (CHART_HEIGHT - first - 26 - (panels - 1) * PANEL_GAP) / panels);
    double bottom = first + panels * height + (panels - 1) * PANEL_GAP;

    drawing->height = fmax(CHART_HEIGHT, bottom + 26);
    draw_spans(history, first, bottom);
    draw_time_names(history, bottom);
    draw_notes(history, first - 29);
    for (size_t i = 0; i < history->input->panel_count; i++)
        draw_panel(history, &history->input->panels[i],
                   (struct box){ history->left, first + (double)i * (height + PANEL_GAP),
                                 history->right - history->left, height });
    chart_moments(
        history->input,
        (struct box){ history->left, first, history->right - history->left, bottom - first },
        drawing);
}

void chart_history(const char *name, const struct chart_history *input, struct chart *out)
{
    struct history history = { out, input, LEFT, CHART_WIDTH - RIGHT };
    TEXT_AUTO parts = { 0 };
    double top;

    chart_start(out, CHART_WIDTH, CHART_HEIGHT, name, ": what happened when");
    fill_table(&history);
    describe(&history, &parts);
    top = chart_lines(&out->drawing, TEXT_SUBTITLE, PAINT_MUTED, CHART_TITLE_Y + 3, &parts) + 8;
    if (input->to_ms > input->from_ms && input->panel_count > 0)
        draw(&history, top);
    else
        chart_empty(out, top, "The time range is empty");
}
