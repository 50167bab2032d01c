/* SPDX-License-Identifier: Apache-2.0 */
/* Maps figures to places on an axis, and writes them as text. Numbers are written with integer
 * arithmetic, so that they look the same in every locale. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An axis: `low` is at the place `from`, and `high` at the place `to`. */
struct scale {
    bool is_log;
    double low, high;
    double from, to;
    /* The factors within a decade at which a log axis has ticks; ends with 0. NULL: they follow
     * from the number of decades. */
    const double *factors;
    bool is_ratio;    /* the values are ratios: scale_of_ratios() says which ticks they have */
    double ticks_end; /* no tick is above it; 0: `high` */
};

/* The smallest and the largest of the finite values; log axes take positive ones only. */
struct scale_range {
    double low, high;
    bool is_log, known; /* known: there was a value */
};
void scale_range_add(struct scale_range *range, double value);
/* Whether scale_range_add() takes the value into account. */
bool scale_range_takes(const struct scale_range *range, double value);

/* A scale that contains the range, except negative values. A linear one begins at 0, and ends at a
 * tick or halfway between two; a log one begins and ends at ticks, and is extended at both ends if
 * the figures hardly differ. An unknown range, or a linear one without a positive value, becomes 0
 * to 1 (log: 1 to 10). */
struct scale scale_fit(const struct scale_range *range, double from, double to);
/* Raises the upper bound so that the present one is `distance` away from `to`; ticks still end at
 * the present one. */
void scale_keep_clear(struct scale *scale, double distance);
/* A log scale from `low` to `high` for ratios. Its ticks are 0.9, 1, 1.1 and the like if the two
 * are close, else 0.5, 1, 2 and the like; those of any log scale if `high` is at least 10000 times
 * `low`. */
struct scale scale_of_ratios(double low, double high, double from, double to);
/* The place of the value. */
double scale_at(const struct scale *scale, double value);
/* Writes round values on the scale, ascending; returns how many. */
#define SCALE_TICKS_MAX 16
size_t scale_ticks(const struct scale *scale, double out[SCALE_TICKS_MAX]);

#define SCALE_NUMBER_SIZE 40
/* At least the first three digits of the value, or up to four decimals: "0", "0.0413", "22.7",
 * "1482", "14.8k", "1.20e-7"; "-" if it is not finite. This and the following functions return
 * `out`. */
const char *scale_number(double value, char out[SCALE_NUMBER_SIZE]);
/* For an axis, without trailing zeros: "0.5", "20", "10k". */
const char *scale_tick_name(double value, char out[SCALE_NUMBER_SIZE]);
/* A number with all its digits up to four decimals: "1024", "2.5"; above 1e11, as scale_number. */
const char *scale_exact(double value, char out[SCALE_NUMBER_SIZE]);
/* An amount in dollars, with two decimals or, below ten cents, four: "0.70", "0.0413"; above
 * 1e11, as scale_number. */
const char *scale_money(double value, char out[SCALE_NUMBER_SIZE]);
