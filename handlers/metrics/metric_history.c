/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/metrics/metric_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/formats/promtext.h"
#include "base/json/json.h"
#include "fleet/engine_histograms.h"

#define LABEL_SIZE 256
#define NAMES_LISTED 8

const char *const metric_history_functions[] = { "value", "mean",     "min",        "max",
                                                 "rate",  "increase", "percentile", NULL };

enum kind {
    KIND_GAUGE = 1,
    KIND_COUNTER,
    KIND_RATIO, /* growth of one counter divided by the growth of another */
    KIND_HISTOGRAM,
};

/* The functions that apply to each kind of figure or series; the first is the default. */
static const struct {
    const char *description;
    enum metric_history_function functions[5];
    size_t count;
} kinds[] = {
    [KIND_GAUGE] = { "a gauge",
                     { METRIC_HISTORY_MEAN, METRIC_HISTORY_VALUE, METRIC_HISTORY_MIN,
                       METRIC_HISTORY_MAX },
                     4 },
    [KIND_COUNTER] = { "a counter",
                       { METRIC_HISTORY_RATE, METRIC_HISTORY_INCREASE, METRIC_HISTORY_VALUE },
                       3 },
    [KIND_RATIO] = { "a ratio of two counters", { METRIC_HISTORY_MEAN }, 1 },
    [KIND_HISTOGRAM] = { "a histogram", { METRIC_HISTORY_PERCENTILE, METRIC_HISTORY_MEAN }, 2 },
};

struct figure {
    enum kind kind;
    const char *series; /* name of a stored series */
    const char *per;    /* RATIO and HISTOGRAM: name of the series to divide by; otherwise NULL */
    double scale;       /* RATIO and HISTOGRAM: factor that converts to `unit` */
    const char *unit;   /* of the figure; COUNTER: of its rate */
    const char *unit_increase; /* COUNTER: the unit of its value and increase; otherwise NULL */
};

const char *const metric_history_names[] = {
    "requests_running",
    "requests_waiting",
    "kv_cache_use",
    "output_tokens_per_s",
    "input_tokens_per_s",
    "requests_per_s",
    "mean_ttft_ms",
    "mean_itl_ms",
    "mean_e2e_ms",
    "mean_queue_ms",
    "prefill_tokens_per_s",
    "preemptions_per_s",
    "prefix_hit_rate",
    "acceptance_rate",
    "ttft_ms",
    "itl_ms",
    "e2e_ms",
    "queue_ms",
    NULL,
};

/* In the order of metric_history_names. */
static const struct figure figures[] = {
    { KIND_GAUGE, "requests_running", NULL, 1, "requests", NULL },
    { KIND_GAUGE, "requests_waiting", NULL, 1, "requests", NULL },
    { KIND_GAUGE, "kv_cache_use", NULL, 1, "0 to 1", NULL },
    { KIND_COUNTER, "generation_tokens_total", NULL, 1, "tokens/s", "tokens" },
    { KIND_COUNTER, "prompt_tokens_total", NULL, 1, "tokens/s", "tokens" },
    { KIND_COUNTER, "requests_total", NULL, 1, "requests/s", "requests" },
    { KIND_RATIO, "ttft_sum_s", "ttft_count", 1000, "ms", NULL },
    { KIND_RATIO, "itl_sum_s", "itl_count", 1000, "ms", NULL },
    { KIND_RATIO, "e2e_sum_s", "e2e_count", 1000, "ms", NULL },
    { KIND_RATIO, "queue_sum_s", "queue_count", 1000, "ms", NULL },
    { KIND_RATIO, "prefill_tokens_total", "prefill_sum_s", 1, "tokens/s", NULL },
    { KIND_COUNTER, "preemptions_total", NULL, 1, "1/s", "preemptions" },
    { KIND_RATIO, "prefix_hits_total", "prefix_queries_total", 1, "0 to 1", NULL },
    { KIND_RATIO, "accepted_tokens_total", "draft_tokens_total", 1, "0 to 1", NULL },
    { KIND_HISTOGRAM, "ttft_sum_s", "ttft_count", 1000, "ms", NULL },
    { KIND_HISTOGRAM, "itl_sum_s", "itl_count", 1000, "ms", NULL },
    { KIND_HISTOGRAM, "e2e_sum_s", "e2e_count", 1000, "ms", NULL },
    { KIND_HISTOGRAM, "queue_sum_s", "queue_count", 1000, "ms", NULL },
};
const size_t metric_history_count = sizeof figures / sizeof figures[0];

_Static_assert(sizeof figures / sizeof figures[0] + 1
                   == sizeof metric_history_names / sizeof metric_history_names[0],
               "each figure needs a name");

size_t metric_history_steps(const struct metric_history_request *request)
{
    return (size_t)((request->to_ms - request->from_ms) / request->step_ms);
}

bool metric_history_matches(const struct scrape_series *series, const json_t *labels)
{
    const struct promtext_sample sample = { .labels = series->labels,
                                            .labels_length = strlen(series->labels) };
    char found[LABEL_SIZE];
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(labels), name, value) {
        if (!promtext_label(&sample, name, found, sizeof found)
            || strcmp(found, json_string_value(value)) != 0)
            return false;
    }
    return true;
}

/* ---- One step of one series ---- */

/* Applies the function to one step. Returns false if the step has no value. */
static bool value_of(enum metric_history_function function, const struct scrape_point *point,
                     struct metric_history_value *out)
{
    double seconds = point->covered_ms / 1000, value = point->last;
    double low = point->min, high = point->max, weight = point->count;

    if (function == METRIC_HISTORY_VALUE)
        low = high = value;
    if (function == METRIC_HISTORY_MEAN)
        value = point->sum / point->count;
    if (function == METRIC_HISTORY_MIN)
        value = point->min;
    if (function == METRIC_HISTORY_MAX)
        value = point->max;
    if (function == METRIC_HISTORY_RATE || function == METRIC_HISTORY_INCREASE) {
        if (seconds <= 0)
            return false;
        value = low = high =
            function == METRIC_HISTORY_RATE ? point->increase / seconds : point->increase;
        weight = function == METRIC_HISTORY_RATE ? seconds : 1;
    }
    *out = (struct metric_history_value){ point->at_ms, value, low, high, weight };
    return true;
}

/* ---- The steps of all label sets ---- */

/* Adds the value and the bounds of another label set to `sum`. Added bounds are bounds of the sum,
 * which was never below the sum of the lowest values or above that of the highest. */
static void add_value(struct metric_history_value *sum, const struct metric_history_value *more)
{
    if (sum->weight == 0) {
        *sum = *more;
        return;
    }
    sum->low += more->low;
    sum->high += more->high;
    sum->value += more->value;
}

/* What the callbacks of scrape_visit need. */
struct filling {
    const struct metric_history_request *request;
    enum metric_history_function function;
    struct metric_history_value *steps;
};

static bool choose_series(void *context, const struct scrape_series *series, size_t *tag)
{
    const struct filling *filling = context;

    *tag = 0; /* all label sets fill the same steps */
    return metric_history_matches(series, filling->request->labels);
}

static void add_point(void *context, size_t tag, const struct scrape_point *point)
{
    const struct filling *filling = context;
    const struct metric_history_request *request = filling->request;
    struct metric_history_value value;

    (void)tag;
    if (value_of(filling->function, point, &value))
        add_value(&filling->steps[(point->at_ms - request->from_ms) / request->step_ms], &value);
}

/* Removes the steps without a value from `steps`, which becomes out->values. */
static void values_take(struct metric_history_value *steps, size_t count,
                        struct metric_history *out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (steps[i].weight > 0)
            steps[kept++] = steps[i];
    out->values = steps;
    out->count = kept;
}

static struct scrape_range range_of(const struct metric_history_request *request, const char *name)
{
    return (struct scrape_range){ request->deployment_id, name, request->from_ms, request->to_ms,
                                  request->step_ms };
}

/* Applies the function, step by step, to the series called `name`. The caller provides
 * metric_history_steps(request) zeroed `steps`. */
static CHECKED bool read_steps(struct store *store, const struct metric_history_request *request,
                               const char *name, enum metric_history_function function,
                               struct metric_history_value *steps, struct error *error)
{
    const struct scrape_range range = range_of(request, name);
    struct filling filling = { request, function, steps };
    const struct scrape_visitor visitor = { choose_series, add_point, &filling };

    return scrape_visit(store, &range, request->level, &visitor, error);
}

static CHECKED bool read_plain(struct store *store, const struct metric_history_request *request,
                               const char *name, struct metric_history *out, struct error *error)
{
    size_t count = metric_history_steps(request);
    struct metric_history_value *steps = memory_zeroed(count, sizeof *steps);

    if (!read_steps(store, request, name, out->function, steps, error)) {
        free(steps);
        return false;
    }
    values_take(steps, count, out);
    return true;
}

/* Computes the growth of `series` divided by that of `per`, times `scale`. A step in which `per`
 * did not grow has no value. */
static CHECKED bool read_ratio(struct store *store, const struct metric_history_request *request,
                               const char *series, const char *per, double scale,
                               struct metric_history *out, struct error *error)
{
    size_t count = metric_history_steps(request);
    struct metric_history_value *steps = memory_zeroed(count, sizeof *steps);
    FREE_AUTO struct metric_history_value *divisors = memory_zeroed(count, sizeof *divisors);

    if (!read_steps(store, request, series, METRIC_HISTORY_INCREASE, steps, error)
        || !read_steps(store, request, per, METRIC_HISTORY_INCREASE, divisors, error)) {
        free(steps);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        double grown = divisors[i].weight > 0 ? divisors[i].value : 0;
        double value = grown > 0 ? steps[i].value / grown * scale : 0;

        steps[i] = (struct metric_history_value){ steps[i].at_ms, value, value, value,
                                                  steps[i].weight > 0 ? grown : 0 };
    }
    values_take(steps, count, out);
    return true;
}

/* ---- One of our figures ---- */

/* `requested` -1: the kind's default. */
static CHECKED bool choose_function(const char *name, enum kind kind, int requested,
                                    enum metric_history_function *out, struct error *error)
{
    TEXT_AUTO applicable = { 0 };

    *out = requested < 0 ? kinds[kind].functions[0] : (enum metric_history_function)requested;
    for (size_t i = 0; i < kinds[kind].count; i++) {
        if (kinds[kind].functions[i] == *out)
            return true;
        text_addf(&applicable, "%s\"%s\"", i == 0 ? "" : ", ",
                  metric_history_functions[kinds[kind].functions[i]]);
    }
    return error_set(
        error, ERROR_INVALID, "\"function\" is \"%s\", but \"%.100s\" is %s: ask for %s%s",
        metric_history_functions[*out], name, kinds[kind].description, text_string(&applicable),
        kind == KIND_RATIO ? " (for percentiles: the metrics ttft_ms, itl_ms, e2e_ms, queue_ms)"
                           : "");
}

static CHECKED bool read_figure_percentile(struct store *store,
                                           const struct metric_history_request *request,
                                           struct metric_history *out, struct error *error)
{
    const char *const *families = engine_histogram_families(figures[request->figure].per);
    bool found = false;

    for (size_t i = 0; families[i] != NULL && !found; i++)
        if (!metric_history_percentile(store, request, families[i], figures[request->figure].scale,
                                       out, &found, error))
            return false;
    return true;
}

static CHECKED bool read_figure(struct store *store, const struct metric_history_request *request,
                                struct metric_history *out, struct error *error)
{
    const struct figure *figure = &figures[request->figure];

    if (!choose_function(metric_history_names[request->figure], figure->kind, request->function,
                         &out->function, error))
        return false;
    out->unit = out->function == METRIC_HISTORY_INCREASE || out->function == METRIC_HISTORY_VALUE
                    ? (figure->unit_increase != NULL ? figure->unit_increase : figure->unit)
                    : figure->unit;
    if (out->function == METRIC_HISTORY_PERCENTILE)
        return read_figure_percentile(store, request, out, error);
    if (figure->per != NULL)
        return read_ratio(store, request, figure->series, figure->per, figure->scale, out, error);
    return read_plain(store, request, figure->series, out, error);
}

/* ---- A stored series ---- */

/* Refuses a series that is not stored. The message names existing series, beginning with those
 * whose names contain the requested name. */
static CHECKED bool refuse_series(struct store *store, const struct metric_history_request *request,
                                  struct error *error)
{
    FREE_AUTO char(*names)[128] = NULL;
    TEXT_AUTO list = { 0 };
    size_t count, shown = 0;

    if (!scrape_names(store, request->deployment_id, &names, &count, error))
        return false;
    for (int alike = 1; alike >= 0; alike--)
        for (size_t i = 0; i < count && shown < NAMES_LISTED; i++)
            if ((strstr(names[i], request->series) != NULL) == (alike == 1))
                text_addf(&list, "%s%s", shown++ == 0 ? "" : ", ", names[i]);
    return error_set(error, ERROR_NOT_FOUND,
                     "no series \"%.100s\" is stored for this deployment (series stored: %zu)%s%s",
                     request->series, count,
                     count == 0 ? ": metrics_watch starts storing them"
                                : ": use one of them, such as: ",
                     text_string(&list));
}

static const char *unit_of(const char *name, enum metric_history_function function)
{
    static const struct {
        const char *suffix, *unit, *rate;
    } suffixes[] = {
        { "_seconds", "s", "s" },
        { "_seconds_sum", "s", "s/s" },
        { "_bytes", "bytes", "bytes" },
        { "_bytes_total", "bytes", "bytes/s" },
        { "tokens_total", "tokens", "tokens/s" },
        { "_seconds_total", "s", "s/s" },
        { "_seconds_count", "", "1/s" },
    };
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t end = strlen(suffixes[i].suffix);

        if (length >= end && strcmp(name + length - end, suffixes[i].suffix) == 0)
            return function == METRIC_HISTORY_RATE ? suffixes[i].rate : suffixes[i].unit;
    }
    return function == METRIC_HISTORY_RATE ? "1/s" : "";
}

/* Finds the kind of the requested series from its type. If there is no such series, the name is a
 * histogram's if that histogram's buckets are stored. */
static CHECKED bool find_kind(struct store *store, const struct metric_history_request *request,
                              enum kind *out, struct error *error)
{
    char type[16], bucket[160];

    if (!scrape_type(store, request->deployment_id, request->series, type, error))
        return false;
    *out = strcmp(type, "counter") == 0 ? KIND_COUNTER : KIND_GAUGE;
    if (type[0] != '\0')
        return true;
    snprintf(bucket, sizeof bucket, "%s_bucket", request->series);
    if (!scrape_type(store, request->deployment_id, bucket, type, error))
        return false;
    *out = KIND_HISTOGRAM;
    return type[0] != '\0' || refuse_series(store, request, error);
}

static CHECKED bool read_histogram(struct store *store,
                                   const struct metric_history_request *request,
                                   struct metric_history *out, struct error *error)
{
    char sum[160], per[160];
    bool found;

    snprintf(sum, sizeof sum, "%s_sum", request->series);
    snprintf(per, sizeof per, "%s_count", request->series);
    if (out->function == METRIC_HISTORY_PERCENTILE)
        return metric_history_percentile(store, request, request->series, 1, out, &found, error);
    return read_ratio(store, request, sum, per, 1, out, error);
}

static CHECKED bool read_series(struct store *store, const struct metric_history_request *request,
                                struct metric_history *out, struct error *error)
{
    enum kind kind;

    if (!find_kind(store, request, &kind, error)
        || !choose_function(request->series, kind, request->function, &out->function, error))
        return false;
    out->unit = unit_of(request->series, out->function);
    return kind == KIND_HISTOGRAM ? read_histogram(store, request, out, error)
                                  : read_plain(store, request, request->series, out, error);
}

bool metric_history_read(struct store *store, const struct metric_history_request *request,
                         struct metric_history *out, struct error *error)
{
    struct metric_history history = { 0 };

    if (request->figure >= 0 ? !read_figure(store, request, &history, error)
                             : !read_series(store, request, &history, error))
        return false;
    *out = history;
    return true;
}

void metric_history_finish(struct metric_history *history)
{
    free(history->values);
    *history = (struct metric_history){ 0 };
}

void metric_history_summarize(const struct metric_history *history,
                              struct metric_history_summary *out)
{
    double sum = 0, weight = 0;

    *out = (struct metric_history_summary){ NAN, NAN, NAN, NAN };
    for (size_t i = 0; i < history->count; i++) {
        const struct metric_history_value *value = &history->values[i];

        out->low = fmin(out->low, value->low); /* fmin and fmax ignore NaN */
        out->high = fmax(out->high, value->high);
        out->latest = value->value;
        if (isnan(value->value))
            continue;
        sum += value->value * value->weight;
        weight += value->weight;
    }
    if (weight > 0)
        out->mean = sum / weight;
}
