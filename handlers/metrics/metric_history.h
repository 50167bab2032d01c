/* SPDX-License-Identifier: Apache-2.0 */
/* Computes figures over time, step by step, from stored scrapes. Gauges give values, the growth of
 * counters gives rates and means, and the growth of histogram buckets gives percentiles. */
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

/* A request for one of our figures, by its position in metric_history_names, or for a stored
 * series, by its name. */
struct metric_history_request {
    int64_t deployment_id;
    int figure;           /* -1: `series` is requested */
    const char *series;   /* for a histogram, its family's name */
    const json_t *labels; /* name to value: only series with all of these; NULL: any series */
    int function; /* of enum metric_history_function; -1: the default of the figure or series */
    double percentile;               /* above 0 and below 100 */
    int64_t from_ms, to_ms, step_ms; /* from_ms and to_ms - from_ms are multiples of step_ms */
    enum scrape_level level;
};

struct metric_history_value {
    int64_t at_ms; /* the step's start */
    /* low and high: if `value` is the mean, minimum or maximum of a gauge, the gauge's range within
     * the step; otherwise both are `value`. */
    double value, low, high;
    double weight; /* weight of the value in a mean over steps */
    /* For percentiles: the limits of the bucket that contains the value; the server reports
     * nothing more exact. at_most INFINITY: the value is beyond the last finite limit. */
    double at_least, at_most;
};
struct metric_history {
    struct metric_history_value *values; /* sorted by time, heap; only of steps with a value */
    size_t count;
    enum metric_history_function function;
    const char *unit; /* static; "": not known */
    const char *why;  /* static: why the values of some steps are NaN; NULL: none are */
};
/* Reads the steps. The label sets of a series are summed, and so are their low and high values.
 * INVALID: the function does not apply to the figure or series. NOT_FOUND: the series is not
 * stored; the message names some that are. Free with metric_history_finish. */
CHECKED bool metric_history_read(struct store *store, const struct metric_history_request *request,
                                 struct metric_history *out, struct error *error);
void metric_history_finish(struct metric_history *history);

struct metric_history_summary {
    double latest;          /* the last value; NaN if that is NaN, or if there is none */
    double low, mean, high; /* of the values that are not NaN; NaN: there are none */
};
void metric_history_summarize(const struct metric_history *history,
                              struct metric_history_summary *out);

/* Computes the percentile of each step (in the histogram's unit times `scale`) from the growth of
 * the buckets of the histograms named `family` whose labels match. *found: whether these histograms
 * have scrapes in the range. Values are assumed to be evenly spread within a bucket, as
 * histogram_quantile of Prometheus assumes; beyond the last finite limit the result is that limit.
 * The result is NaN, and out->why gives the reason, if label sets with different buckets would be
 * added up, if the buckets changed within the step, if the bucket +Inf is missing, or if it is the
 * only bucket. Private to handlers/metrics/. */
CHECKED bool metric_history_percentile(struct store *store,
                                       const struct metric_history_request *request,
                                       const char *family, double scale, struct metric_history *out,
                                       bool *found, struct error *error);
/* Returns true if the series has all of the labels. */
bool metric_history_matches(const struct scrape_series *series, const json_t *labels);
/* Returns the number of steps from from_ms to to_ms. */
size_t metric_history_steps(const struct metric_history_request *request);
