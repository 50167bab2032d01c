/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_history: shows a server's figures over time, from stored scrapes. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/text.h"
#include "base/formats/table.h"
#include "base/json/json.h"
#include "fleet/metrics_page.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/metrics/metric_range.h"

#define POINTS_INITIAL 60
#define DEFAULT_PERCENTILE 99
#define FUNCTION_SIZE 24

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "metric", VALUE_CHOICE, .choices = metric_history_names,
      .help = "One figure step by step; default: a summary of all." },
    { "series", VALUE_TEXT, .low = 1, .high = 127,
      .help = "Instead: a series, by its name on the server, such as vllm:request_success_total.",
      .more =
          "Also a histogram, such as vllm:request_prefill_time_seconds. Label sets are added up." },
    { "labels", VALUE_TEXT_MAP, .low = 0, .high = 8, .item_low = 0, .item_high = 200, .rare = true,
      .help = "Only `series` with these labels, like [\"finished_reason=abort\"]." },
    { "function", VALUE_CHOICE, .choices = metric_history_functions, .rare = true,
      .help = "What each step shows.",
      .more = "Gauges: mean (the default), value (the last), min, max. Counters: rate (per second, "
              "the default), increase, value. Histograms (ttft_ms, itl_ms, e2e_ms, queue_ms): "
              "percentile (the default), mean." },
    { "percentile", VALUE_NUMBER, .low = 0, .high = 100, .initial = "99", .rare = true,
      .help = "Percentile of histograms: 50, 99, 99.9, ..." },
    { "minutes", VALUE_NUMBER, .low = 1, .high = METRIC_RANGE_MINUTES_MAX, .initial = "60",
      .help = "How far back: 1440 is a day, 10080 a week." },
    { "until_minutes_ago", VALUE_NUMBER, .low = 0, .high = METRIC_RANGE_MINUTES_MAX, .initial = "0",
      .rare = true, .help = "Ends this many minutes ago; 0: now." },
    { "step_s", VALUE_INTEGER, .low = 1, .high = 31536000,
      .help = "Seconds per step; default: the shortest that fits." },
    { "points", VALUE_INTEGER, .low = 2, .high = 500, .initial = "60", .rare = true,
      .help = "Maximum steps per page; the first page has the newest (see next_cursor)." },
    PARAM_CURSOR,
    { 0 },
};

static const struct field figure_fields[] = {
    { "metric", VALUE_TEXT, .help = "Name of the figure or series." },
    { "function", VALUE_TEXT, .help = "Function of each step: mean, rate, p99, ..." },
    { "unit", VALUE_TEXT, .help = "Its unit; empty: not known." },
    { "points", VALUE_INTEGER, .help = "How many steps it summarizes." },
    { "latest", VALUE_NUMBER, .optional = true, .help = "Value of the newest step." },
    { "low", VALUE_NUMBER, .optional = true, .help = "The lowest value." },
    { "mean", VALUE_NUMBER, .optional = true, .help = "The mean over the period." },
    { "high", VALUE_NUMBER, .optional = true, .help = "The highest value." },
    { 0 },
};

static const struct field point_fields[] = {
    { "at", VALUE_TEXT, .help = "Start of the step, UTC." },
    { "value", VALUE_NUMBER, .optional = true,
      .help = "The value; missing: the histogram's buckets give no percentile, `note` says why." },
    { "at_least", VALUE_NUMBER, .optional = true,
      .help =
          "For percentiles: the server's histogram says only that the value is between at_least "
          "and at_most; `value` assumes that observations are evenly spread in between." },
    { "at_most", VALUE_NUMBER, .optional = true,
      .help = "See at_least. If only at_most is missing, the value is above the histogram's last "
              "limit, and `value` is at_least." },
    { "partial", VALUE_BOOLEAN, .optional = true,
      .help = "True: the step is not over yet, so its value may change." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "The deployment." },
    { "from", VALUE_TEXT, .help = "Start, UTC." },
    { "to", VALUE_TEXT, .help = "End, UTC." },
    { "step_s", VALUE_INTEGER, .help = "Seconds in a step." },
    { "resolution", VALUE_TEXT,
      .help = "What the values come from: scrapes, or their rollups to 10 s, 1 min or 1 h." },
    { "figures", VALUE_LIST, .help = "A summary of each figure that has values.",
      .fields = figure_fields },
    { "points", VALUE_LIST,
      .help = "The steps of the requested figure, ascending. Steps without data are omitted.",
      .fields = point_fields },
    { "note", VALUE_TEXT, .optional = true,
      .help = "What is missing or differs from the request, and why." },
    FIELD_NEXT_CURSOR,
    FIELD_NEXT_STEP,
    { 0 },
};

static const char *const resolutions[SCRAPE_LEVELS] = { "scrapes", "10 s", "1 min", "1 h" };

/* The request, and the answer while it is built. */
struct view {
    const struct call *call;
    struct deployment deployment;
    struct metric_history_request request;
    int64_t now_ms, older_ms; /* older_ms: where the page with older steps ends; 0: no such page */
    struct text note;
    bool is_watched; /* set only if there are no values */
    json_t *summaries, *points;
    struct table *table;
};

/* ---- Range and step ---- */

/* Chooses the level of detail. If the data is no longer stored in the requested detail, the steps
 * become longer than requested. */
static CHECKED bool choose_level(struct view *view, int64_t from_ms, struct error *error)
{
    struct metric_history_request *request = &view->request;
    int64_t wanted_ms = request->step_ms;

    if (!metric_range_choose_level(view->call->services->store, from_ms, request, error))
        return false;
    if (request->step_ms != wanted_ms)
        text_addf(&view->note,
                  "%sSteps of %" PRId64
                  " s are not kept that far back: the steps shown are %" PRId64 " s long.",
                  view->note.length > 0 ? " " : "", wanted_ms / 1000, request->step_ms / 1000);
    return true;
}

static bool is_summary(const struct view *view)
{
    return call_text(view->call, "metric") == NULL && call_text(view->call, "series") == NULL;
}

/* Chooses the step. If a summary would have more than `points` steps, the step is longer than
 * requested, because a summary has no pages. */
static void choose_step(struct view *view, int64_t range_ms, int64_t points)
{
    int64_t fitting_s = metric_range_step_s(range_ms, points);
    int64_t step_s = call_integer(view->call, "step_s", fitting_s);

    if (is_summary(view) && step_s < fitting_s && step_s * 1000 * points < range_ms) {
        text_addf(&view->note,
                  "The period has more steps of %" PRId64 " s than \"points\" allows (%" PRId64
                  "): the steps shown are %" PRId64 " s long.",
                  step_s, points, fitting_s);
        step_s = fitting_s;
    }
    view->request.step_ms = step_s * 1000;
}

static CHECKED bool read_cursor(const struct call *call, int64_t now_ms, int64_t *to_ms,
                                struct error *error)
{
    const char *cursor = call_text(call, "cursor");

    return cursor == NULL || text_to_integer(cursor, 1, now_ms, to_ms)
           || error_set(error, ERROR_INVALID,
                        "\"cursor\" is \"%.40s\": it must be the next_cursor of an earlier answer",
                        cursor);
}

/* Chooses the newest `points` steps of the range, which ends at the cursor if there is one. For a
 * summary, chooses all steps of the range. */
static CHECKED bool choose_range(struct view *view, struct error *error)
{
    const struct call *call = view->call;
    struct metric_history_request *request = &view->request;
    int64_t points = call_integer(call, "points", POINTS_INITIAL);
    int64_t end_ms = view->now_ms - (int64_t)(call_number(call, "until_minutes_ago", 0) * 60000);
    int64_t from_ms = end_ms - (int64_t)(call_number(call, "minutes", 60) * 60000), first_ms;

    from_ms = from_ms > 0 ? from_ms : 0;
    choose_step(view, end_ms - from_ms, points);
    if (!choose_level(view, from_ms, error) || !read_cursor(call, view->now_ms, &end_ms, error))
        return false;
    from_ms -= from_ms % request->step_ms;
    request->to_ms = metric_range_round_up(end_ms, request->step_ms);
    first_ms = request->to_ms - points * request->step_ms;
    request->from_ms = first_ms > from_ms && !is_summary(view) ? first_ms : from_ms;
    if (request->to_ms <= request->from_ms)
        request->to_ms = request->from_ms + request->step_ms;
    /* A range that begins and ends in the middle of a step may have one step more than `points`:
     * that step is shown, too. */
    if (request->from_ms - from_ms == request->step_ms && call_text(call, "step_s") == NULL)
        request->from_ms = from_ms;
    view->older_ms = request->from_ms > from_ms ? request->from_ms : 0;
    return true;
}

/* ---- The answer ---- */

static const char *function_show(const struct metric_history *history, double percentile,
                                 char out[FUNCTION_SIZE])
{
    if (history->function == METRIC_HISTORY_PERCENTILE)
        snprintf(out, FUNCTION_SIZE, "p%g", percentile);
    else
        snprintf(out, FUNCTION_SIZE, "%s", metric_history_functions[history->function]);
    return out;
}

static void add_cell(struct table *table, double value)
{
    if (isnan(value))
        table_cell(table, "-");
    else
        table_cell(table, "%.4g", value);
}

static void add_summary(struct view *view, const char *name, const struct metric_history *history)
{
    struct metric_history_summary summary;
    char function[FUNCTION_SIZE];

    metric_history_summarize(history, &summary);
    function_show(history, view->request.percentile, function);
    json_array_append_new(
        view->summaries,
        json_pack("{s:s, s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "metric", name, "function", function,
                  "unit", history->unit, "points", (json_int_t)history->count, "latest",
                  json_number_or_null(summary.latest), "low", json_number_or_null(summary.low),
                  "mean", json_number_or_null(summary.mean), "high",
                  json_number_or_null(summary.high)));
    table_cell(view->table, "%s", name);
    table_cell(view->table, "%s", function);
    table_cell(view->table, "%s", history->unit);
    add_cell(view->table, summary.latest);
    add_cell(view->table, summary.low);
    add_cell(view->table, summary.mean);
    add_cell(view->table, summary.high);
}

/* Adds the limits of the bucket that contains a percentile. */
static void add_limits(const struct metric_history_value *value, json_t *point, struct table *table)
{
    json_object_set_new(point, "at_least", json_number_or_null(value->at_least));
    json_object_set_new(point, "at_most", json_number_or_null(value->at_most));
    if (isnan(value->value))
        table_cell(table, "-");
    else if (isinf(value->at_most))
        table_cell(table, "above %.6g", value->at_least);
    else
        table_cell(table, "%.6g to %.6g", value->at_least, value->at_most);
}

static void add_points(struct view *view, const struct metric_history *history, struct text *out)
{
    bool has_limits = history->function == METRIC_HISTORY_PERCENTILE;
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "From (UTC)", false);
    table_column(table, "Value", true);
    if (has_limits)
        table_column(table, "Bucket", true);
    table_column(table, "", false);
    for (size_t i = 0; i < history->count; i++) {
        const struct metric_history_value *value = &history->values[i];
        bool partial = value->at_ms + view->request.step_ms > view->now_ms;
        json_t *point = json_pack("{s:o, s:o}", "at", answer_json_time(value->at_ms), "value",
                                  json_number_or_null(value->value));

        if (partial)
            json_object_set_new(point, "partial", json_true());
        json_array_append_new(view->points, point);
        table_cell(table, "%s", answer_time(value->at_ms, time));
        if (isnan(value->value))
            table_cell(table, "-");
        else
            table_cell(table, "%.6g", value->value);
        if (has_limits)
            add_limits(value, point, table);
        table_cell(table, "%s", partial ? "not over yet" : "");
    }
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
}

static CHECKED bool add_figure(struct view *view, int figure, struct text *points_text,
                               struct error *error)
{
    struct metric_history_request *request = &view->request;
    struct metric_history history;

    request->figure = figure;
    if (!metric_history_read(view->call->services->store, request, &history, error))
        return false;
    if (history.why != NULL)
        text_addf(&view->note, "%sSome steps have no %s: %s.", view->note.length > 0 ? " " : "",
                  figure < 0 ? request->series : metric_history_names[figure], history.why);
    if (history.count > 0)
        add_summary(view, figure < 0 ? request->series : metric_history_names[figure], &history);
    if (history.count > 0 && points_text != NULL)
        add_points(view, &history, points_text);
    metric_history_finish(&history);
    return true;
}

/* Returns the index of `name` in the list, or -1 if `name` is NULL or not in the list. */
static int index_of(const char *name, const char *const *names)
{
    for (int i = 0; name != NULL && names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static CHECKED bool note_left_out(struct view *view, struct error *error)
{
    const struct metric_history_request *request = &view->request;
    const struct scrape_range range = { request->deployment_id, NULL, request->from_ms,
                                        request->to_ms, request->step_ms };
    struct scrape_left_out left_out;
    TEXT_AUTO sentence = { 0 };

    if (!scrape_left_out_read(view->call->services->store, &range, request->level, &left_out,
                              error))
        return false;
    metrics_page_describe_left_out(&left_out, &sentence);
    if (sentence.length > 0)
        text_addf(&view->note, "%s%s.", view->note.length > 0 ? " " : "", sentence.data);
    return true;
}

static CHECKED bool add_figures(struct view *view, struct text *out, struct error *error)
{
    if (!note_left_out(view, error))
        return false;
    if (!is_summary(view))
        return add_figure(view, index_of(call_text(view->call, "metric"), metric_history_names),
                          out, error);
    for (size_t i = 0; i < metric_history_count; i++)
        if (!add_figure(view, (int)i, NULL, error))
            return false;
    return true;
}

static struct table *summary_table(void)
{
    static const char *const headings[] = { "Latest", "Low", "Mean", "High" };
    struct table *table = table_create();

    table_column(table, "Figure", false);
    table_column(table, "Per step", false);
    table_column(table, "Unit", false);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        table_column(table, headings[i], true);
    return table;
}

/* Adds to the note whether the deployment is scraped and how the last scrape went, which may
 * explain why there are no values. */
static CHECKED bool note_nothing(struct view *view, struct error *error)
{
    struct scrape_target target;
    char time[TIME_SHOWN_SIZE];

    if (!scrape_target_find(view->call->services->store, view->deployment.id, &target, error))
        return false;
    view->is_watched = target.interval_ms > 0;
    text_add(&view->note, view->note.length > 0 ? " " : "");
    if (!view->is_watched)
        text_add(&view->note, "The deployment is not watched.");
    else if (target.last_ms == 0)
        text_add(&view->note, "The deployment is watched, but has not been scraped yet.");
    else if (target.last_error[0] != '\0')
        text_addf(&view->note,
                  "The deployment is watched, but the last scrape (%s UTC) failed: %s.",
                  answer_time(target.last_ms, time), target.last_error);
    else
        text_addf(
            &view->note,
            "The deployment is watched, and was last scraped at %s UTC: ask for a period before "
            "then, or for a figure that the server reports.",
            answer_time(target.last_ms, time));
    return true;
}

static const char *next_step(const struct view *view)
{
    if (json_array_size(view->summaries) == 0 && view->is_watched)
        return "metrics_show: it says why if the server cannot be scraped now";
    if (json_array_size(view->summaries) == 0)
        return "metrics_watch to store metrics from now on; metrics_show for current values";
    if (is_summary(view))
        return "the same call with `metric` for one figure step by step";
    if (view->older_ms > 0)
        return "the same call with `cursor` set to next_cursor for earlier steps, or with a longer "
               "`step_s`";
    return "the same call without `metric` and `series` for a summary of all figures";
}

static json_t *cursor_of(const struct view *view)
{
    char cursor[24];

    if (view->older_ms == 0 || is_summary(view))
        return json_null();
    snprintf(cursor, sizeof cursor, "%" PRId64, view->older_ms);
    return json_string(cursor);
}

static void write_answer(struct view *view, const struct text *points_text, struct answer *answer)
{
    const struct metric_history_request *request = &view->request;
    char from[TIME_SHOWN_SIZE], to[TIME_SHOWN_SIZE];

    answer->structured = json_pack(
        "{s:s, s:o, s:o, s:I, s:s, s:O, s:O, s:o, s:o}", "deployment", view->deployment.name,
        "from", answer_json_time(request->from_ms), "to", answer_json_time(request->to_ms),
        "step_s", (json_int_t)(request->step_ms / 1000), "resolution", resolutions[request->level],
        "figures", view->summaries, "points", view->points, "note",
        answer_json_text(text_string(&view->note)), "next_cursor", cursor_of(view));
    text_addf(&answer->text,
              "%s from %s to %s (UTC), in steps of %" PRId64 " s, computed from %s%s\n\n",
              view->deployment.name, answer_time(request->from_ms, from),
              answer_time(request->to_ms, to), request->step_ms / 1000,
              request->level == SCRAPE_RAW ? "" : "the rollup to ", resolutions[request->level]);
    if (view->note.length > 0)
        text_addf(&answer->text, "%s\n\n", view->note.data);
    text_add(&answer->text, text_string(points_text));
    if (json_array_size(view->summaries) > 0)
        table_render(view->table, &answer->text);
    else
        text_add(&answer->text, "There are no values for this period.\n");
    text_add_char(&answer->text, '\n');
    answer_next(answer, next_step(view));
    answer_shows(answer, "/history?deployment=%s", view->deployment.name);
}

/* Refuses arguments that do not go together, and percentiles that are out of range. */
static CHECKED bool check(const struct call *call, struct error *error)
{
    const char *metric = call_text(call, "metric"), *series = call_text(call, "series");
    const char *function = call_text(call, "function");
    double percentile = call_number(call, "percentile", DEFAULT_PERCENTILE);

    if (metric != NULL && series != NULL)
        return error_set(error, ERROR_INVALID,
                         "\"metric\" and \"series\" are both set: omit one of them");
    if (metric == NULL && series == NULL && function != NULL)
        return error_set(error, ERROR_INVALID,
                         "\"function\" is \"%s\" but neither \"metric\" nor \"series\" is set: set "
                         "one of them",
                         function);
    if (series == NULL && json_object_size(json_object_get(call->arguments, "labels")) > 0)
        return error_set(error, ERROR_INVALID,
                         "\"labels\" are set without \"series\": set \"series\" to the series "
                         "from which they select label sets");
    if (percentile <= 0 || percentile >= 100)
        return error_set(error, ERROR_INVALID,
                         "\"percentile\" is %g: it must be above 0 and below 100", percentile);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    TEXT_AUTO points_text = { 0 };
    struct view view = { .call = call, .now_ms = clock_utc_ms() };
    bool done;

    if (!check(call, error) || !deployment_argument(call, &view.deployment, error))
        return false;
    view.request = (struct metric_history_request){
        .deployment_id = view.deployment.id,
        .series = call_text(call, "series"),
        .labels = json_object_get(call->arguments, "labels"),
        .function = index_of(call_text(call, "function"), metric_history_functions),
        .percentile = call_number(call, "percentile", DEFAULT_PERCENTILE),
    };
    view.summaries = json_array();
    view.points = json_array();
    view.table = summary_table();
    done = choose_range(&view, error) && add_figures(&view, &points_text, error)
           && (json_array_size(view.summaries) > 0 || note_nothing(&view, error));
    if (done)
        write_answer(&view, &points_text, answer);
    json_decref(view.summaries);
    json_decref(view.points);
    table_destroy(view.table);
    text_finish(&view.note);
    return done;
}

const struct tool tool_metrics_history = {
    .name = "metrics_history",
    .title = "Show a server's metrics over time",
    .help = "A deployment's figures over time, as metrics_watch stored them: a summary, or one "
            "figure step by step.",
    .more = "Running and waiting requests, tokens per second, percentiles of TTFT and ITL, cache "
            "use, or any series of the server under its own name. Rates and increases survive "
            "restarts; what a label set counted before its first scrape is ignored. "
            "Steps without data are omitted; a step that is not over is marked.",
    .sets = SET_FLEET,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
