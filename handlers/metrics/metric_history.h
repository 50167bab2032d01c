/* SPDX-License-Identifier: Apache-2.0 */
/* Computes figures over time, step by step, from stored scrapes: values from gauges, rates and
 * means from the growth of counters, and percentiles from the growth of histogram buckets. */
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
extern const char *const metric_history_functions[]; /* in the order of the enum; ends with NULL */

extern const char *const metric_history_names[]; /* names of figures; ends with NULL */
extern const size_t metric_history_count;        /* the number of figures */

/* A request for one of our figures or for a stored series. */
struct metric_history_request {
    int64_t deployment_id;
    int figure;           /* index in metric_history_names, from 0; -1: `series` is requested */
    const char *series;   /* the name of a stored series, or of a histogram's family */
    const json_t *labels; /* name to value: only series with all of these; NULL: any series */
    int function; /* of enum metric_history_function; -1: the default of the figure or series */
    double percentile; /* above 0 and below 100 */
    int64_t from_ms;   /* UTC; a multiple of step_ms */
    int64_t to_ms;     /* UTC, exclusive; to_ms - from_ms is a multiple of step_ms */
    int64_t step_ms;
    enum scrape_level level;
};

struct metric_history_value {
    int64_t at_ms; /* the step's start */
    /* low and high: if `value` is the mean, minimum or maximum of a gauge, the gauge's range within
     * the step; otherwise both are `value`. */
    double value, low, high;
    double weight; /* weight of the value in a mean over steps */
    /* Only for percentiles: the limits of the bucket that contains the value, since the server
     * reports nothing more exact. at_most INFINITY: the value is beyond the last finite limit. Both
     * are NaN if `value` is. */
    double at_least, at_most;
};
struct metric_history {
    struct metric_history_value *values; /* heap; sorted by time; steps without data are omitted */
    size_t count;
    enum metric_history_function function;
    const char *unit; /* static; "": not known */
    const char *why;  /* why the values of some steps are NaN; static; NULL: no value is NaN */
};
/* Reads the requested steps. The values of a series' label sets are added up, and so are their low
 * and high values. INVALID: the function does not apply to the figure or series. NOT_FOUND: the
 * series is not stored; the message names some that are. Free with metric_history_finish. */
CHECKED bool metric_history_read(struct store *store, const struct metric_history_request *request,
                                 struct metric_history *out, struct error *error);
void metric_history_finish(struct metric_history *history);

struct metric_history_summary {
    double latest; /* the last value, which can be NaN; NaN also if there are no values */
    /* These ignore values that are NaN. If there are no others, they are NaN. */
    double low;  /* the lowest metric_history_value.low */
    double mean; /* weighted by metric_history_value.weight */
    double high; /* the highest metric_history_value.high */
};
void metric_history_summarize(const struct metric_history *history,
                              struct metric_history_summary *out);

/* Computes the percentile of each step (in the histogram's unit times `scale`) from the growth of
 * the buckets of the histograms named `family` whose labels match. *found: whether these histograms
 * have scrapes in the range. Like histogram_quantile in Prometheus, this assumes that values are
 * evenly spread within a bucket. If the percentile is beyond the last finite limit, the result is
 * that limit. The result is NaN, and out->why gives the reason, if label sets with different
 * buckets would be added up, if the buckets changed within the step, if the bucket +Inf is missing,
 * or if it is the only bucket. Private to handlers/metrics/. */
CHECKED bool metric_history_percentile(struct store *store,
                                       const struct metric_history_request *request,
                                       const char *family, double scale, struct metric_history *out,
                                       bool *found, struct error *error);
/* Returns true if the series has all of the labels. */
bool metric_history_matches(const struct scrape_series *series, const json_t *labels);
/* Returns the number of steps from from_ms to to_ms. */
size_t metric_history_steps(const struct metric_history_request *request);
