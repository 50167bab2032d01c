/* SPDX-License-Identifier: Apache-2.0 */
/* Figures over time, step by step, made from stored scrapes: gauges as they were, rates and means
 * from the growth of counters, percentiles from the growth of histograms' buckets. */
#pragma once

#include <jansson.h>

#include "store/series/scrapes.h"

enum metric_history_function {
    METRIC_HISTORY_VALUE, /* the last value of each step */
    METRIC_HISTORY_MEAN,
    METRIC_HISTORY_MIN,
    METRIC_HISTORY_MAX,
    METRIC_HISTORY_RATE, /* growth per second */
    METRIC_HISTORY_INCREASE,
    METRIC_HISTORY_PERCENTILE,
};
extern const char *const metric_history_functions[]; /* in that order; ends with NULL */

extern const char *const metric_history_names[]; /* of figures; ends with NULL */
extern const size_t metric_history_count;

/* The request: one of our figures by its position in metric_history_names, or a stored series by
 * its name. */
struct metric_history_ask {
    int64_t deployment_id;
    int figure;           /* -1: the series */
    const char *series;   /* for a histogram, its family's name */
    const json_t *labels; /* of the series: name to value, which all must match; NULL: any */
    int function;         /* -1: the figure's own */
    double percentile;
    int64_t from_ms, to_ms, step_ms; /* from_ms and to_ms - from_ms are multiples of step_ms */
    enum scrape_level level;
};

struct metric_history_value {
    int64_t at_ms; /* the step's start */
    double value, low, high;
    double weight;            /* weight of the value in a mean over steps */
    double at_least, at_most; /* for percentiles: the limits of the bucket that contains the value,
                               * which is all that the server reports; INFINITY: beyond the last
                               * limit */
};
struct metric_history {
    struct metric_history_value *values; /* ascending, heap; steps without values are omitted */
    size_t count;
    enum metric_history_function function;
    const char *unit; /* static; "" if it is only in the series' name */
    const char *why;  /* static: why the values of some steps are NaN; NULL: none are */
};
/* Several label sets of one series are summed (low and high are the extremes of any). INVALID: the
 * function does not apply to the figure; NOT_FOUND names existing series. */
CHECKED bool metric_history_read(struct store *store, const struct metric_history_ask *ask,
                                 struct metric_history *out, struct error *error);
void metric_history_finish(struct metric_history *history);

struct metric_history_summary {
    double latest, low, mean, high; /* NaN: there are no values */
};
void metric_history_summarize(const struct metric_history *history,
                              struct metric_history_summary *out);

/* The growth of the buckets of histograms named `family`, whose labels match, becomes the
 * percentile (in the histogram's unit times `scale`) of each step. *found: there are such series.
 * Within a bucket values are taken as evenly spread, as histogram_quantile of Prometheus does;
 * beyond the last finite limit the answer is that limit. NaN, and out->why, where label sets of
 * different buckets would be added up, or there is no bucket but +Inf. Private to
 * handlers/metrics/. */
CHECKED bool metric_history_percentile(struct store *store, const struct metric_history_ask *ask,
                                       const char *family, double scale, struct metric_history *out,
                                       bool *found, struct error *error);
/* Whether the series has all requested labels. */
bool metric_history_matches(const struct scrape_series *series, const json_t *labels);
size_t metric_history_steps(const struct metric_history_ask *ask);
