/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histograms of non-negative integers (mostly nanoseconds): 128 buckets per power of
 * two, so that a value is within 0.4 % of its bucket's middle. Values from 2^44 on (4.9 hours in
 * nanoseconds) count in the last bucket. Count, sum, min and max are exact. The layout of the
 * buckets is that of HdrHistogram; a histogram takes 39 KB. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct histogram; /* not thread-safe */

struct histogram *histogram_create(void);
void histogram_destroy(struct histogram *histogram);
void histogram_clear(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value);
/* Records the same value `count` times. */
void histogram_record_many(struct histogram *histogram, uint64_t value, uint64_t count);
/* Records a measurement that was cut off at `value`: the true value is at least that. */
void histogram_record_censored(struct histogram *histogram, uint64_t value);
/* Adds all values in `from` to `into`. */
void histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t histogram_count(const struct histogram *histogram); /* including censored values */
uint64_t histogram_censored(const struct histogram *histogram);
uint64_t histogram_min(const struct histogram *histogram); /* 0 when empty */
uint64_t histogram_max(const struct histogram *histogram); /* 0 when empty */
double histogram_mean(const struct histogram *histogram);  /* NaN when empty */
/* The standard deviation of a sample; NaN if there are fewer than 2 values. */
double histogram_deviation(const struct histogram *histogram);
/* Nearest-rank quantile, 0 <= q <= 1, as the bucket's middle clamped to [min, max] (the lowest and
 * the highest rank are exact); 0 when empty. *censored (may be NULL): whether a censored value is
 * in the result's bucket or in a lower one, so that the true quantile may be higher. */
uint64_t histogram_quantile(const struct histogram *histogram, double q, bool *censored);

/* Encodes the histogram without its empty buckets. The caller frees *out. */
void histogram_encode(const struct histogram *histogram, void **out, size_t *out_length);
/* INVALID if the bytes are malformed or have another version. Free with histogram_destroy. */
CHECKED bool histogram_decode(const void *data, size_t length, struct histogram **out,
                              struct error *error);
