/* metrics_history: how a server's figures went, from stored scrapes. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "handlers/deployment_of.h"
#include "handlers/history.h"

#define POINTS_SHOWN 30

static const struct param params[] = {
    PARAM_DEPLOYMENT,
    { "metric", VALUE_CHOICE, .choices = history_names,
      .help = "One figure point by point; left out: a summary of all." },
    { "minutes", VALUE_NUMBER, .low = 1, .high = 525600, .initial = "60",
      .help = "How far back, in minutes." },
    { "until_minutes_ago", VALUE_NUMBER, .low = 0, .high = 525600, .initial = "0",
      .help = "Ends so many minutes ago; 0: now." },
    { "points", VALUE_INTEGER, .low = 2, .high = 500, .initial = "30",
      .help = "Points at most; where more were stored, every n-th scrape counts." },
    { 0 },
};

static const struct field figure_fields[] = {
    { "metric", VALUE_TEXT, .help = "Name of the figure." },
    { "unit", VALUE_TEXT, .help = "Its unit." },
    { "points", VALUE_INTEGER, .help = "How many values the summary is of." },
    { "latest", VALUE_NUMBER, .optional = true, .help = "The newest value." },
    { "low", VALUE_NUMBER, .optional = true, .help = "The lowest." },
    { "mean", VALUE_NUMBER, .optional = true, .help = "The mean of the values." },
    { "high", VALUE_NUMBER, .optional = true, .help = "The highest." },
    { 0 },
};

static const struct field point_fields[] = {
    { "at", VALUE_TEXT, .help = "When, UTC; of rates and means the end of the interval." },
    { "value", VALUE_NUMBER, .optional = true, .help = "The value." },
    { 0 },
};

static const struct field fields[] = {
    { "deployment", VALUE_TEXT, .help = "The deployment." },
    { "from", VALUE_TEXT, .help = "Start, UTC." },
    { "to", VALUE_TEXT, .help = "End, UTC." },
    { "figures", VALUE_LIST, .help = "A summary per figure that has values.",
      .fields = figure_fields },
    { "points", VALUE_LIST, .help = "The values of the figure that was asked for, ascending.",
      .fields = point_fields },
    { "next_step", VALUE_TEXT, .help = "What to call next." },
    { 0 },
};

/* What is asked for, and the answer as it grows. */
struct view {
    const struct call *call;
    struct deployment deployment;
    struct history_span span;
    json_t *summaries, *points;
    struct table *table;
};

static void add_summary(struct view *view, const char *name, const struct history_figure *figure,
                        const struct history *history)
{
    struct history_summary summary;

    history_summarize(history, &summary);
    json_array_append_new(view->summaries,
                          json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "metric", name, "unit",
                                    figure->unit, "points", (json_int_t)history->count, "latest",
                                    json_number_or_null(summary.latest), "low",
                                    json_number_or_null(summary.low), "mean",
                                    json_number_or_null(summary.mean), "high",
                                    json_number_or_null(summary.high)));
    table_cell(view->table, "%s", name);
    table_cell(view->table, "%s", figure->unit);
    table_cell(view->table, "%.4g", summary.latest);
    table_cell(view->table, "%.4g", summary.low);
    table_cell(view->table, "%.4g", summary.mean);
    table_cell(view->table, "%.4g", summary.high);
}

static void add_points(struct view *view, const struct history *history, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "At (UTC)", false);
    table_column(table, "Value", true);
    for (size_t i = 0; i < history->count; i++) {
        const struct scrape_point *point = &history->points[i];

        json_array_append_new(view->points, json_pack("{s:o, s:o}", "at", json_time(point->at_ms),
                                                      "value", json_number_or_null(point->value)));
        if (i + POINTS_SHOWN < history->count)
            continue;
        table_cell(table, "%s", time_show(point->at_ms, time));
        table_cell(table, "%.6g", point->value);
    }
    if (history->count > POINTS_SHOWN)
        text_addf(out, "The newest %d of %zu points:\n", POINTS_SHOWN, history->count);
    table_render(table, out);
    table_destroy(table);
    text_add_char(out, '\n');
}

static bool add_figure(struct view *view, const char *name, struct text *points_text,
                       struct error *error)
{
    const struct history_figure *figure = history_find(name);
    struct history history;

    if (!history_read(view->call->services->store, figure, &view->span, &history, error))
        return false;
    if (history.count > 0)
        add_summary(view, name, figure, &history);
    if (history.count > 0 && points_text != NULL)
        add_points(view, &history, points_text);
    history_finish(&history);
    return true;
}

static bool add_figures(struct view *view, struct text *out, struct error *error)
{
    const char *metric = call_text(view->call, "metric");

    if (metric != NULL)
        return add_figure(view, metric, out, error);
    for (size_t i = 0; history_names[i] != NULL; i++)
        if (!add_figure(view, history_names[i], NULL, error))
            return false;
    return true;
}

static struct table *summary_table(void)
{
    static const char *const headings[] = { "Latest", "Low", "Mean", "High" };
    struct table *table = table_create();

    table_column(table, "Figure", false);
    table_column(table, "Unit", false);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        table_column(table, headings[i], true);
    return table;
}

static void write_answer(struct view *view, const struct text *points_text, struct answer *answer)
{
    bool any = json_array_size(view->summaries) > 0;
    bool one = call_text(view->call, "metric") != NULL;
    const char *next =
        any && one ? "the same without `metric` for a summary of all figures"
        : any      ? "the same with `metric` for one figure point by point"
                   : "metrics_watch to have them stored from here on; metrics_show for this moment";
    char from[TIME_SHOWN_SIZE], to[TIME_SHOWN_SIZE];

    answer->structured =
        json_pack("{s:s, s:o, s:o, s:O, s:O, s:s}", "deployment", view->deployment.name, "from",
                  json_time(view->span.from_ms), "to", json_time(view->span.to_ms), "figures",
                  view->summaries, "points", view->points, "next_step", next);
    text_addf(&answer->text, "%s from %s to %s (UTC)\n\n", view->deployment.name,
              time_show(view->span.from_ms, from), time_show(view->span.to_ms, to));
    text_add(&answer->text, text_string(points_text));
    if (any)
        table_render(view->table, &answer->text);
    else
        text_add(&answer->text, "Nothing was stored in this time.\n");
    text_addf(&answer->text, "\nNext: %s.\n", next);
}

static struct history_span span_of(const struct call *call, const struct deployment *deployment)
{
    int64_t to_ms = clock_utc_ms() - (int64_t)(call_number(call, "until_minutes_ago", 0) * 60000);

    return (struct history_span){
        .deployment_id = deployment->id,
        .from_ms = to_ms - (int64_t)(call_number(call, "minutes", 60) * 60000),
        .to_ms = to_ms,
        .max_points = (size_t)call_integer(call, "points", 30) + 1,
    };
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    TEXT_AUTO points_text = { 0 };
    struct view view = { .call = call };
    bool done;

    if (!deployment_of(call, &view.deployment, error))
        return false;
    view.span = span_of(call, &view.deployment);
    view.summaries = json_array();
    view.points = json_array();
    view.table = summary_table();
    done = add_figures(&view, &points_text, error);
    if (done)
        write_answer(&view, &points_text, answer);
    json_decref(view.summaries);
    json_decref(view.points);
    table_destroy(view.table);
    return done;
}

const struct tool tool_metrics_history = {
    .name = "metrics_history",
    .title = "Show how a server's metrics went",
    .help = "Tells how a deployment's figures went over time, from the scrapes that metrics_watch "
            "has stored: a summary of all, or one figure point by point (running and waiting "
            "requests, tokens per second, mean latencies, cache use, ...). Nothing is there before "
            "metrics_watch was called once.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
