/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histograms of non-negative integers (mostly nanoseconds): 128 buckets per power of
 * two, so that a value is within 0.4 % of its bucket's middle; count, sum, min and max are exact.
 * Values above 2^44 (4.8 hours in nanoseconds) share the last bucket. The layout is HdrHistogram's;
 * one takes 39 KB. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

struct histogram; /* opaque; one thread at a time */

struct histogram *histogram_create(void);
void histogram_destroy(struct histogram *histogram);
void histogram_clear(struct histogram *histogram);
void histogram_record(struct histogram *histogram, uint64_t value);
void histogram_record_many(struct histogram *histogram, uint64_t value, uint64_t count);
/* A value that was cut off at `value` (a timeout): the true one is at least that. */
void histogram_record_censored(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t histogram_count(const struct histogram *histogram); /* censored ones included */
uint64_t histogram_censored(const struct histogram *histogram);
uint64_t histogram_min(const struct histogram *histogram); /* 0 when empty */
uint64_t histogram_max(const struct histogram *histogram);
double histogram_mean(const struct histogram *histogram);      /* NaN when empty */
double histogram_deviation(const struct histogram *histogram); /* of a sample, NaN below 2 values */
/* Nearest-rank quantile, 0 <= q <= 1, as the bucket's middle clamped to [min, max] (the lowest and
 * the highest rank are exact); 0 when empty. *censored (may be NULL): the true quantile is at least
 * this. */
uint64_t histogram_quantile(const struct histogram *histogram, double q, bool *censored);

/* Sparse varint encoding with a version; *out is heap memory. Decoding refuses malformed bytes. */
void histogram_encode(const struct histogram *histogram, void **out, size_t *out_length);
CHECKED bool histogram_decode(const void *data, size_t length, struct histogram **out,
                              struct error *error);
