/* SPDX-License-Identifier: Apache-2.0 */
/* One figure of a point over its repetitions: mean and spread, and how far they can be trusted.
 * Private to analysis/. */
#pragma once

#include "analysis/report/cell_grid.h"
#include "base/core/text.h"

/* A quantity that a matrix shows. */
struct quantity {
    const char *name;       /* "ttft_p50_ms" */
    const char *title;      /* of a matrix: "TTFT p50, ms" */
    const char *heading;    /* of a column, without the unit of a latency: "TTFT p50" */
    size_t offset;          /* offset of the double in struct measurement */
    size_t censored_offset; /* offset of the bool that marks a censored figure; 0: never censored */
    size_t count_offset;    /* offset of a tail percentile's number of samples; 0: not a tail */
    bool of_decoding;       /* meaningless if there are fewer than DECODE_TOKENS output tokens */
};

enum quantity_id {
    QUANTITY_E2E_P50,
    QUANTITY_OUTPUT_TOKENS,
    QUANTITY_REQUESTS,
    QUANTITY_TTFT_P50,
    QUANTITY_TTFT_P99,
    QUANTITY_ITL_P50,
    QUANTITY_ITL_P99,
    QUANTITY_ICL_P50,
    QUANTITY_ICL_P99,
    QUANTITY_TPOT_P50,
    QUANTITY_E2E_P99,
    QUANTITY_GOODPUT,
    QUANTITIES,
};
extern const struct quantity quantities[QUANTITIES];

#define DECODE_TOKENS 16 /* fewer output tokens than this are too few to judge decoding speed */
#define TAIL_SAMPLES 100 /* fewer samples than this are too few for a 99th percentile */

struct repetition_stats {
    size_t count; /* repetitions included; 0: there is no figure */
    double mean;  /* NaN: there is no figure */
    double low;   /* the smallest value of any repetition; NaN: there is no figure */
    double high;  /* the largest value of any repetition; NaN: there is no figure */
    /* Half the width of the mean's 95 % confidence interval (Student's t); NaN: count < 2. */
    double half_width;
    /* In some repetition, a timeout or the cell's end cut the figure off: the true mean is at least
     * `mean`. */
    bool at_least;
    /* In some repetition, the figure is a tail percentile of fewer than TAIL_SAMPLES samples. */
    bool few;
};

/* The statistics of a quantity over the point's measured repetitions. */
struct repetition_stats repetition_stats_of(const struct grid_point *point, enum quantity_id id);
/* Only the mean; NaN: there is none. */
double repetition_stats_mean(const struct grid_point *point, enum quantity_id quantity);
/* Writes ">=123 ±4.00~": mean, half-width, and the marks for `at_least` and `few`. */
void repetition_stats_write(const struct repetition_stats *figure, struct text *out);
#define NUMBER_SIZE 32
/* Writes the number with two decimals if it is below 10, one if it is below 100, otherwise none;
 * "-" if it is 1e15 or more, or not finite. Returns `out`. */
const char *repetition_stats_number(double value, char out[NUMBER_SIZE]);
