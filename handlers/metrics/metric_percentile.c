/* SPDX-License-Identifier: Apache-2.0 */
/* Computes percentiles over time from the buckets of histograms. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/promtext.h"
#include "handlers/metrics/metric_history.h"

/* One bucket of the histogram. `grown` and `scrapes` have an entry for each step. */
struct bucket {
    double limit;    /* upper limit, inclusive; INFINITY: the bucket +Inf */
    double *grown;   /* growth of the count of observations up to the limit */
    double *scrapes; /* number of scrapes, over all label sets, that had the bucket */
};

struct buckets {
    const struct metric_history_request *request;
    struct bucket *rows;
    size_t count, steps;
    bool has_points;
    const char *why; /* why values are NaN (the last of several reasons); NULL: no value is NaN */
};

static bool limit_of(const struct scrape_series *series, double *out)
{
    const struct promtext_sample sample = { .labels = series->labels,
                                            .labels_length = strlen(series->labels) };
    char text[64], *end;

    if (!promtext_label(&sample, "le", text, sizeof text))
        return false;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && !isnan(*out);
}

static size_t bucket_at(struct buckets *buckets, double limit)
{
    for (size_t i = 0; i < buckets->count; i++)
        if (buckets->rows[i].limit == limit)
            return i;
    buckets->rows = memory_resize(buckets->rows, buckets->count + 1, sizeof *buckets->rows);
    buckets->rows[buckets->count] =
        (struct bucket){ limit, memory_zeroed(buckets->steps, sizeof(double)),
                         memory_zeroed(buckets->steps, sizeof(double)) };
    return buckets->count++;
}

/* The tag of a series is the index of its bucket, so that a bucket's counts are summed over all
 * label sets (engines, replicas). */
static bool choose_series(void *context, const struct scrape_series *series, size_t *tag)
{
    struct buckets *buckets = context;
    double limit;

    if (!limit_of(series, &limit) || !metric_history_matches(series, buckets->request->labels))
        return false;
    *tag = bucket_at(buckets, limit);
    return true;
}

static void add_point(void *context, size_t tag, const struct scrape_point *point)
{
    struct buckets *buckets = context;
    const struct metric_history_request *request = buckets->request;
    size_t step = (size_t)((point->at_ms - request->from_ms) / request->step_ms);

    buckets->has_points = true;
    buckets->rows[tag].grown[step] += point->increase;
    buckets->rows[tag].scrapes[step] += point->count;
}

static int by_limit(const void *a, const void *b)
{
    const struct bucket *x = a, *y = b;

    return x->limit < y->limit ? -1 : x->limit > y->limit;
}

/* Returns why the step's buckets give no percentile, or NULL if they give one. If all label sets
 * have the same buckets, every bucket is in the same number of scrapes. */
static const char *problem_of(const struct buckets *buckets, size_t step)
{
    const struct bucket *last = &buckets->rows[buckets->count - 1];
    double scrapes = last->scrapes[step];
    size_t present = 0;

    if (!isinf(last->limit) || scrapes == 0)
        return "the histogram's bucket +Inf is not stored";
    for (size_t i = 0; i < buckets->count; i++) {
        const struct bucket *bucket = &buckets->rows[i];

        if (bucket->scrapes[step] > 0 && bucket->scrapes[step] != scrapes)
            return "the label sets have different buckets, or the buckets changed within a step: "
                   "select one label set with `series` and `labels`";
        present += bucket->scrapes[step] > 0;
    }
    return present > 1 ? NULL : "the histogram has no bucket except +Inf";
}

/* Computes the percentile of one step; it is NaN if the buckets give none. Returns false if nothing
 * was observed in the step. `share`: the percentile as a share, 0 to 1. Counts of buckets are
 * cumulative, but the count of a bucket that was read slightly earlier can lag behind that of a
 * lower bucket: hence the running maximum. */
static bool percentile_of(const struct buckets *buckets, size_t step, double share,
                          struct metric_history_value *out)
{
    double total = 0, below = 0, lower = 0, up_to = 0;
    size_t i = 0;

    for (size_t j = 0; j < buckets->count; j++)
        total = fmax(total, buckets->rows[j].grown[step]);
    if (total <= 0)
        return false;
    out->value = out->at_least = out->at_most = NAN;
    if (problem_of(buckets, step) != NULL)
        return true;
    for (; i < buckets->count; i++) {
        if (buckets->rows[i].scrapes[step] == 0)
            continue; /* this step's histogram does not have the bucket */
        up_to = fmax(below, buckets->rows[i].grown[step]);
        if (up_to >= share * total && up_to > below)
            break;
        below = up_to;
        lower = buckets->rows[i].limit;
    }
    double limit = buckets->rows[i].limit;
    if (lower == 0 && limit <= 0)
        lower = limit;
    out->at_least = lower;
    out->at_most = limit;
    out->value =
        isinf(limit) ? lower : lower + (limit - lower) * (share * total - below) / (up_to - below);
    return true;
}

static void write_values(struct buckets *buckets, const struct metric_history_request *request,
                         double scale, struct metric_history *out)
{
    out->values = memory_zeroed(buckets->steps, sizeof *out->values);
    for (size_t i = 0; i < buckets->steps; i++) {
        struct metric_history_value *value = &out->values[out->count];

        if (!percentile_of(buckets, i, request->percentile / 100, value))
            continue;
        if (isnan(value->value))
            buckets->why = problem_of(buckets, i);
        value->at_ms = request->from_ms + (int64_t)i * request->step_ms;
        value->value *= scale;
        value->at_least *= scale;
        value->at_most *= scale;
        value->low = value->high = value->value;
        value->weight = 1;
        out->count++;
    }
}

bool metric_history_percentile(struct store *store, const struct metric_history_request *request,
                               const char *family, double scale, struct metric_history *out,
                               bool *found, struct error *error)
{
    char name[160];
    const struct scrape_range range = { request->deployment_id, name, request->from_ms,
                                        request->to_ms, request->step_ms };
    struct buckets buckets = { .request = request, .steps = metric_history_steps(request) };
    const struct scrape_visitor visitor = { choose_series, add_point, &buckets };
    bool ok;

    snprintf(name, sizeof name, "%s_bucket", family);
    ok = scrape_visit(store, &range, request->level, &visitor, error);
    if (buckets.count > 0)
        qsort(buckets.rows, buckets.count, sizeof *buckets.rows, by_limit);
    *found = buckets.has_points;
    if (ok && buckets.has_points)
        write_values(&buckets, request, scale, out);
    out->why = buckets.why;
    for (size_t i = 0; i < buckets.count; i++) {
        free(buckets.rows[i].grown);
        free(buckets.rows[i].scrapes);
    }
    free(buckets.rows);
    return ok;
}
