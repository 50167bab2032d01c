#include "handlers/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const char *const history_names[] = {
    "requests_running",   "requests_waiting",
    "kv_cache_use",       "output_tokens_per_s",
    "input_tokens_per_s", "requests_per_s",
    "mean_ttft_ms",       "mean_itl_ms",
    "mean_e2e_ms",        "mean_queue_ms",
    "preemptions_per_s",  "prefix_hit_rate",
    "acceptance_rate",    NULL,
};

/* In the order of history_names. */
static const struct history_figure figures[] = {
    { HISTORY_GAUGE, "requests_running", NULL, 1, "requests" },
    { HISTORY_GAUGE, "requests_waiting", NULL, 1, "requests" },
    { HISTORY_GAUGE, "kv_cache_use", NULL, 1, "0 to 1" },
    { HISTORY_RATE, "generation_tokens_total", NULL, 1, "tokens/s" },
    { HISTORY_RATE, "prompt_tokens_total", NULL, 1, "tokens/s" },
    { HISTORY_RATE, "requests_total", NULL, 1, "requests/s" },
    { HISTORY_RATIO, "ttft_sum_s", "ttft_count", 1000, "ms" },
    { HISTORY_RATIO, "itl_sum_s", "itl_count", 1000, "ms" },
    { HISTORY_RATIO, "e2e_sum_s", "e2e_count", 1000, "ms" },
    { HISTORY_RATIO, "queue_sum_s", "queue_count", 1000, "ms" },
    { HISTORY_RATE, "preemptions_total", NULL, 1, "1/s" },
    { HISTORY_RATIO, "prefix_hits_total", "prefix_queries_total", 1, "0 to 1" },
    { HISTORY_RATIO, "accepted_tokens_total", "draft_tokens_total", 1, "0 to 1" },
};

_Static_assert(sizeof figures / sizeof figures[0] + 1
                   == sizeof history_names / sizeof history_names[0],
               "a name for each figure");

const struct history_figure *history_find(const char *name)
{
    for (size_t i = 0; history_names[i] != NULL; i++)
        if (strcmp(history_names[i], name) == 0)
            return &figures[i];
    return NULL;
}

/* The points of one stored series, taken out of what the store gave. */
static bool read_series(struct store *store, const char *name, const struct history_span *span,
                        struct history *out, struct error *error)
{
    struct scrape_series *series;
    size_t count;

    if (!scrape_history(store, span->deployment_id, name, span->from_ms, span->to_ms,
                        span->max_points, &series, &count, error))
        return false;
    *out = (struct history){ 0 };
    if (count > 0) { /* ours have no labels: one series each */
        *out = (struct history){ series[0].points, series[0].count };
        series[0].points = NULL;
    }
    scrape_series_free(series, count);
    return true;
}

static void add(struct history *out, int64_t at_ms, double value)
{
    out->points[out->count++] = (struct scrape_point){ at_ms, value };
}

static struct history rates(const struct history *from, double scale)
{
    struct history out = { memory_zeroed(from->count + 1, sizeof *out.points), 0 };

    for (size_t i = 1; i < from->count; i++) {
        const struct scrape_point *a = &from->points[i - 1], *b = &from->points[i];
        double seconds = (double)(b->at_ms - a->at_ms) / 1000;

        if (seconds > 0 && b->value >= a->value)
            add(&out, b->at_ms, (b->value - a->value) / seconds * scale);
    }
    return out;
}

/* Both are of the same scrapes, but one may lack points the other has. */
static struct history ratios(const struct history *above, const struct history *below, double scale)
{
    struct history out = { memory_zeroed(above->count + 1, sizeof *out.points), 0 };
    const struct scrape_point *a = NULL, *b = NULL; /* the pair before */
    size_t j = 0;

    for (size_t i = 0; i < above->count; i++) {
        const struct scrape_point *top = &above->points[i], *bottom;

        while (j < below->count && below->points[j].at_ms < top->at_ms)
            j++;
        if (j == below->count || below->points[j].at_ms != top->at_ms)
            continue;
        bottom = &below->points[j];
        if (a != NULL && bottom->value > b->value && top->value >= a->value)
            add(&out, top->at_ms, (top->value - a->value) / (bottom->value - b->value) * scale);
        a = top;
        b = bottom;
    }
    return out;
}

bool history_read(struct store *store, const struct history_figure *figure,
                  const struct history_span *span, struct history *out, struct error *error)
{
    struct history series, per = { 0 };

    if (!read_series(store, figure->series, span, &series, error))
        return false;
    if (figure->kind == HISTORY_GAUGE) {
        *out = series;
        return true;
    }
    if (figure->kind == HISTORY_RATIO && !read_series(store, figure->per, span, &per, error)) {
        history_finish(&series);
        return false;
    }
    *out = figure->kind == HISTORY_RATE ? rates(&series, figure->scale)
                                        : ratios(&series, &per, figure->scale);
    history_finish(&series);
    history_finish(&per);
    return true;
}

void history_finish(struct history *history)
{
    free(history->points);
    *history = (struct history){ 0 };
}

void history_summarize(const struct history *history, struct history_summary *out)
{
    double sum = 0;

    *out = (struct history_summary){ NAN, NAN, NAN, NAN };
    for (size_t i = 0; i < history->count; i++) {
        double value = history->points[i].value;

        out->low = fmin(out->low, value); /* fmin and fmax pass over NaN */
        out->high = fmax(out->high, value);
        out->latest = value;
        sum += value;
    }
    if (history->count > 0)
        out->mean = sum / (double)history->count;
}
