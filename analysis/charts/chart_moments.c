/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/charts/chart_moments.h"

#include <math.h>
#include <time.h>

#include "analysis/charts/scale.h"

/* The first time after `after_ms` for which a figure is known; INT64_MAX: there is none. */
static int64_t next_time(const struct chart_history *input, int64_t after_ms)
{
    int64_t next = INT64_MAX;

    for (size_t p = 0; p < input->panel_count; p++)
        for (size_t s = 0; s < input->panels[p].series_count; s++) {
            const struct chart_series *series = &input->panels[p].series[s];

            for (size_t i = 0; i < series->count; i++)
                if (series->moments[i].at_ms > after_ms && series->moments[i].at_ms < next
                    && isfinite(series->moments[i].value))
                    next = series->moments[i].at_ms;
        }
    return next;
}

/* The value of the series at that time; NaN: not known. */
static double value_at(const struct chart_series *series, int64_t at_ms)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->moments[i].at_ms == at_ms)
            return series->moments[i].value;
    return NAN;
}

/* Writes "; requests: running 3, waiting 0". If the panel has only one series, omits the name
 * of the series. Writes nothing if no value is known. */
static void write_panel(const struct chart_panel *panel, int64_t at_ms, struct text *out)
{
    char number[SCALE_NUMBER_SIZE];
    const char *between = "";

    for (size_t i = 0; i < panel->series_count; i++) {
        double value = value_at(&panel->series[i], at_ms);

        if (!isfinite(value))
            continue;
        if (between[0] == '\0')
            text_addf(out, "; %s:", panel->heading);
        text_add(out, between);
        if (panel->series_count > 1)
            text_addf(out, " %s", panel->series[i].name);
        text_addf(out, " %s", scale_tick_name(value, number));
        between = ",";
    }
}

static void write_words(const struct chart_history *input, int64_t at_ms, struct text *out)
{
    time_t seconds = (time_t)(at_ms / 1000);
    char time[32];
    struct tm utc;

    gmtime_r(&seconds, &utc);
    strftime(time, sizeof time, "%Y-%m-%d %H:%M:%S UTC", &utc);
    text_add(out, time);
    for (size_t i = 0; i < input->panel_count; i++)
        write_panel(&input->panels[i], at_ms, out);
}

static void draw_moment(const struct chart_history *input, int64_t at_ms, struct box box,
                        struct drawing *drawing)
{
    TEXT_AUTO words = { 0 };

    write_words(input, at_ms, &words);
    drawing_group(drawing, "moment", at_ms, text_string(&words));
    drawing_rect(drawing, box, 0, (struct style){ PAINT_NONE, PAINT_NONE });
    drawing_group_end(drawing);
}

void chart_moments(const struct chart_history *input, struct box area, struct drawing *drawing)
{
    double units_per_ms = area.width / (double)(input->to_ms - input->from_ms), last = -INFINITY;
    double width = fmax(1, fmin(area.width, units_per_ms * (double)input->step_ms));

    for (int64_t at = next_time(input, input->from_ms - 1); at <= input->to_ms;
         at = next_time(input, at)) {
        double x = area.x + units_per_ms * (double)(at - input->from_ms);

        if (x - last < 1)
            continue;
        draw_moment(input, at, (struct box){ x - width / 2, area.y, width, area.height }, drawing);
        last = x;
    }
}
