/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the history of a deployment: what its server reported during a period, and the sweeps,
 * restarts and revisions in that period. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/charts/chart_request_parts.h"
#include "handlers/metrics/metric_range.h"

/* At most this many steps cover the period, before its ends are rounded to whole steps. */
#define STEPS_MAX 240
#define LINES_MAX 2
#define SWEEPS_MAX 200
#define REVISIONS_MAX 9
#define RESTARTS_MAX 50
#define PROCESS_START "process_start_s"

static const struct panel {
    const char *heading;
    bool is_log;
    double factor; /* the metric's values are multiplied by it: 100 turns a share into % */
    struct {
        const char *name, *metric;
        double percentile;
    } lines[LINES_MAX];
} panels[] = {
    { "requests",
      false,
      1,
      { { "running", "requests_running", 0 }, { "waiting", "requests_waiting", 0 } } },
    { "TTFT, ms", true, 1, { { "p50", "ttft_ms", 50 }, { "p99", "ttft_ms", 99 } } },
    { "output tokens/s", false, 1, { { "tokens/s", "output_tokens_per_s", 0 } } },
    { "KV cache in use, %", false, 100, { { "KV cache", "kv_cache_use", 0 } } },
};
#define PANELS (sizeof panels / sizeof panels[0])

struct history {
    struct store *store;
    struct deployment deployment;
    struct metric_history_request request;
    struct chart_history chart;
    struct chart_panel panels[PANELS];
    struct chart_series series[PANELS][LINES_MAX];
    struct chart_moment *moments[PANELS][LINES_MAX]; /* heap */
    struct chart_span *spans;                        /* heap */
    int64_t restarts_ms[RESTARTS_MAX];
    struct chart_note notes[REVISIONS_MAX];
    char words[REVISIONS_MAX][40];
    int64_t now_ms;
};

static void finish(struct history *history)
{
    for (size_t panel = 0; panel < PANELS; panel++)
        for (size_t line = 0; line < LINES_MAX; line++)
            free(history->moments[panel][line]);
    free(history->spans);
}

static CHECKED bool choose_range(const struct call *call, struct history *history,
                                 struct error *error)
{
    struct metric_history_request *request = &history->request;
    int64_t to_ms = history->now_ms - (int64_t)(call_number(call, "until_minutes_ago", 0) * 60000);
    int64_t from_ms = to_ms - (int64_t)(call_number(call, "minutes", 60) * 60000);

    from_ms = from_ms > 0 ? from_ms : 0;
    request->step_ms = metric_range_step_s(to_ms - from_ms, STEPS_MAX) * 1000;
    if (!metric_range_choose_level(history->store, from_ms, request, error))
        return false;
    request->from_ms = from_ms - from_ms % request->step_ms;
    request->to_ms = metric_range_round_up(to_ms, request->step_ms);
    if (request->to_ms <= request->from_ms)
        request->to_ms = request->from_ms + request->step_ms;
    history->chart.from_ms = request->from_ms;
    history->chart.to_ms = request->to_ms;
    history->chart.step_ms = request->step_ms;
    return true;
}

/* ---- Lines ---- */

static int figure_of(const char *name)
{
    int index = 0;

    while (strcmp(metric_history_names[index], name) != 0)
        index++;
    return index;
}

static CHECKED bool read_line(struct history *history, size_t panel, size_t line,
                              struct error *error)
{
    struct chart_series *series = &history->series[panel][line];
    struct metric_history read;

    history->request.figure = figure_of(panels[panel].lines[line].metric);
    history->request.percentile = panels[panel].lines[line].percentile;
    if (!metric_history_read(history->store, &history->request, &read, error))
        return false;
    history->moments[panel][line] = memory_zeroed(read.count + 1, sizeof(struct chart_moment));
    for (size_t i = 0; i < read.count; i++)
        history->moments[panel][line][i] =
            (struct chart_moment){ read.values[i].at_ms,
                                   read.values[i].value * panels[panel].factor };
    *series = (struct chart_series){ panels[panel].lines[line].name, history->moments[panel][line],
                                     read.count };
    metric_history_finish(&read);
    return true;
}

static CHECKED bool read_panels(struct history *history, struct error *error)
{
    for (size_t i = 0; i < PANELS; i++) {
        struct chart_panel *out = &history->panels[i];

        *out = (struct chart_panel){ panels[i].heading, panels[i].is_log, history->series[i], 0 };
        while (out->series_count < LINES_MAX && panels[i].lines[out->series_count].name != NULL)
            if (!read_line(history, i, out->series_count++, error))
                return false;
    }
    history->chart.panels = history->panels;
    history->chart.panel_count = PANELS;
    return true;
}

/* ---- Sweeps, restarts and revisions ---- */

static CHECKED bool read_sweeps(struct history *history, struct error *error)
{
    struct sweep_row *rows;
    size_t count;

    if (!sweep_list(history->store, history->deployment.name, 0, SWEEPS_MAX, &rows, &count, error))
        return false;
    history->spans = memory_zeroed(count + 1, sizeof *history->spans);
    history->chart.spans = history->spans;
    for (size_t i = 0; i < count; i++) {
        int64_t to_ms = rows[i].finished_ms > 0 ? rows[i].finished_ms : history->now_ms;

        if (rows[i].started_ms > 0 && rows[i].started_ms < history->chart.to_ms
            && to_ms > history->chart.from_ms)
            history->spans[history->chart.span_count++] =
                (struct chart_span){ rows[i].started_ms, to_ms };
    }
    sweep_answer_rows_free(rows, count);
    return true;
}

/* The server reports when its process started. If it reports a later time than before, it was
 * restarted. */
static void find_restarts(struct history *history, const struct metric_history *starts)
{
    for (size_t i = 1; i < starts->count && history->chart.restart_count < RESTARTS_MAX; i++)
        if (starts->values[i].value > starts->values[i - 1].value + 1)
            history->restarts_ms[history->chart.restart_count++] =
                (int64_t)(starts->values[i].value * 1000);
    history->chart.restarts_ms = history->restarts_ms;
}

static CHECKED bool read_restarts(struct history *history, struct error *error)
{
    struct metric_history_request request = history->request;
    struct metric_history starts;
    char type[16];

    if (!scrape_type(history->store, request.deployment_id, PROCESS_START, type, error))
        return false;
    if (type[0] == '\0')
        return true;
    request.figure = -1;
    request.series = PROCESS_START;
    request.function = METRIC_HISTORY_MAX;
    if (!metric_history_read(history->store, &request, &starts, error))
        return false;
    find_restarts(history, &starts);
    metric_history_finish(&starts);
    return true;
}

static void add_note(struct history *history, const struct deployment *revision)
{
    size_t index = history->chart.note_count++;

    snprintf(history->words[index], sizeof history->words[index], "revision %lld",
             (long long)revision->revision);
    history->notes[index] = (struct chart_note){ revision->changed_ms, history->words[index] };
    history->chart.notes = history->notes;
}

/* Adds the revisions made in the period, newest first, at most REVISIONS_MAX of them. */
static CHECKED bool read_revisions(struct history *history, struct error *error)
{
    struct deployment revision = history->deployment;

    while (revision.changed_ms >= history->chart.from_ms
           && history->chart.note_count < REVISIONS_MAX) {
        if (revision.changed_ms < history->chart.to_ms)
            add_note(history, &revision);
        if (revision.revision <= 1)
            return true;
        if (!deployment_find_revision(history->store, revision.id, revision.revision - 1, &revision,
                                      error))
            return false;
    }
    return true;
}

bool chart_request_history(struct call *call, struct chart *out, struct error *error)
{
    struct history history = { .store = call->services->store, .now_ms = clock_utc_ms() };
    bool read;

    if (!deployment_argument(call, &history.deployment, error))
        return false;
    history.request =
        (struct metric_history_request){ .deployment_id = history.deployment.id, .function = -1 };
    read = choose_range(call, &history, error) && read_panels(&history, error)
           && read_sweeps(&history, error) && read_restarts(&history, error)
           && read_revisions(&history, error);
    if (read)
        chart_history(history.deployment.name, &history.chart, out);
    finish(&history);
    return read;
}
