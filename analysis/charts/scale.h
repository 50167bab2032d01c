/* SPDX-License-Identifier: Apache-2.0 */
/* Maps figures to positions on an axis, and formats figures as text. The formatting uses integer
 * arithmetic, so that numbers look the same in every locale. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* An axis: the value `low` is at the position `from`, and the value `high` at `to`. */
struct scale {
    bool is_log;
    double low, high;
    double from, to;
    /* The factors within a decade at which a log axis has ticks, followed by 0. NULL: they follow
     * from the number of decades. */
    const double *factors;
    bool is_ratio;    /* the values are ratios: scale_of_ratios() says which ticks they have */
    double ticks_end; /* the largest value that can have a tick; 0: `high` */
};

/* The smallest and the largest of the values that were added. */
struct scale_range {
    double low, high;
    bool is_log; /* for a log axis: only positive values are added */
    bool known;  /* at least one value was added; if not, `low` and `high` mean nothing */
};
void scale_range_add(struct scale_range *range, double value);
/* Whether scale_range_add() adds the value: it ignores values that are not finite, and, for a log
 * axis, those that are not positive. */
bool scale_range_takes(const struct scale_range *range, double value);

/* Returns a scale that contains the range, except negative values. A linear scale begins at 0, and
 * ends at a tick or halfway between two ticks. A log scale begins and ends at ticks, and is
 * extended at both ends if the figures hardly differ. If the range is unknown, or is linear and has
 * no positive value, the scale is 0 to 1 (log: 1 to 10). */
struct scale scale_fit(const struct scale_range *range, double from, double to);
/* Raises the upper bound so that the previous one is `distance` away from `to`. The ticks still end
 * at the previous one. */
void scale_keep_clear(struct scale *scale, double distance);
/* Returns a log scale from `low` to `high` for ratios. Its ticks are 0.9, 1, 1.1 and the like if
 * the bounds are close, else 0.5, 1, 2 and the like; if `high` is at least 10000 times `low`, they
 * are the same as on any other log scale. */
struct scale scale_of_ratios(double low, double high, double from, double to);
/* The position of the value on the axis. */
double scale_at(const struct scale *scale, double value);
/* Writes the ticks, which are round values in ascending order; returns how many there are. */
#define SCALE_TICKS_MAX 16
size_t scale_ticks(const struct scale *scale, double out[SCALE_TICKS_MAX]);

#define SCALE_NUMBER_SIZE 40
/* Writes a value with at least three significant digits, but at most four decimals: "0", "0.0413",
 * "22.7", "1482", "14.8k", "1.20e-7"; "-" if it is not finite. This and the following functions
 * return `out`. */
const char *scale_number(double value, char out[SCALE_NUMBER_SIZE]);
/* The same for the ticks of an axis, without trailing zeros: "0.5", "20", "10k". */
const char *scale_tick_name(double value, char out[SCALE_NUMBER_SIZE]);
/* Writes all digits of a number, with at most four decimals: "1024", "2.5"; above 1e11, the same as
 * scale_number(). */
const char *scale_exact(double value, char out[SCALE_NUMBER_SIZE]);
/* Writes an amount in dollars, with two decimals or, below ten cents, four: "0.70", "0.0413"; above
 * 1e11, the same as scale_number(). */
const char *scale_money(double value, char out[SCALE_NUMBER_SIZE]);
