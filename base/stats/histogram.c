/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stats/histogram.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"

/* Values below 256 have one bucket each; from 256 on, there are 128 buckets for each power of
 * two. */
#define BUCKETS_PER_POWER ((size_t)128)
#define POWER_BITS 7
#define TOP_BITS 44 /* values of 2^44 (as ns, 4.9 hours) and more count in the last bucket */
#define BUCKETS ((TOP_BITS - POWER_BITS + 1) * BUCKETS_PER_POWER)

struct histogram {
    uint64_t count, censored;
    uint64_t min, max;
    uint64_t censored_min; /* the lowest censored value */
    unsigned __int128 sum; /* exact */
    double squares;        /* sum of squared distances from the mean */
    uint64_t bucket[BUCKETS];
};

struct histogram *histogram_create(void)
{
    return memory_zeroed(1, sizeof(struct histogram));
}

void histogram_destroy(struct histogram *histogram)
{
    free(histogram);
}

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

static size_t bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < 2 * BUCKETS_PER_POWER)
        return value;
    if (value >> TOP_BITS != 0)
        return BUCKETS - 1;
    shift = 63 - (unsigned)__builtin_clzll(value) - POWER_BITS;
    return (size_t)shift * BUCKETS_PER_POWER + (value >> shift);
}

static uint64_t bucket_middle(size_t bucket)
{
    size_t shift = bucket / BUCKETS_PER_POWER;
    uint64_t low;

    if (bucket < 2 * BUCKETS_PER_POWER)
        return bucket;
    shift--;
    low = (uint64_t)(bucket % BUCKETS_PER_POWER + BUCKETS_PER_POWER) << shift;
    return low + ((UINT64_C(1) << shift) >> 1);
}

/* The sum of squared distances from the mean for two samples together (Chan, Golub, LeVeque
 * 1983). */
static double joined_squares(const struct histogram *a, double b_mean, double b_squares,
                             uint64_t b_count)
{
    double distance = b_mean - histogram_mean(a);
    double a_count = (double)a->count, count = a_count + (double)b_count;

    if (a->count == 0)
        return b_squares;
    return a->squares + b_squares + distance * distance * (a_count / count) * (double)b_count;
}

void histogram_record(struct histogram *histogram, uint64_t value)
{
    histogram_record_many(histogram, value, 1);
}

void histogram_record_many(struct histogram *histogram, uint64_t value, uint64_t count)
{
    if (count == 0)
        return;
    histogram->squares = joined_squares(histogram, (double)value, 0, count);
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count += count;
    histogram->sum += (unsigned __int128)value * count;
    histogram->bucket[bucket_of(value)] += count;
}

static void add_censored(struct histogram *histogram, uint64_t lowest, uint64_t count)
{
    if (histogram->censored == 0 || lowest < histogram->censored_min)
        histogram->censored_min = lowest;
    histogram->censored += count;
}

void histogram_record_censored(struct histogram *histogram, uint64_t value)
{
    histogram_record(histogram, value);
    add_censored(histogram, value, 1);
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    into->squares = joined_squares(into, histogram_mean(from), from->squares, from->count);
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    if (from->censored > 0)
        add_censored(into, from->censored_min, from->censored);
    into->count += from->count;
    into->sum += from->sum;
    for (size_t i = 0; i < BUCKETS; i++)
        into->bucket[i] += from->bucket[i];
}

uint64_t histogram_count(const struct histogram *histogram)
{
    return histogram->count;
}

uint64_t histogram_censored(const struct histogram *histogram)
{
    return histogram->censored;
}

uint64_t histogram_min(const struct histogram *histogram)
{
    return histogram->min;
}

uint64_t histogram_max(const struct histogram *histogram)
{
    return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : NAN;
}

double histogram_deviation(const struct histogram *histogram)
{
    if (histogram->count < 2)
        return NAN;
    return sqrt(histogram->squares / (double)(histogram->count - 1));
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The nearest rank, counted from 1. The factor allows for rounding errors: without it, the quantile
 * 0.07 of 100 values would have rank 8. */
static uint64_t rank_of(double q, uint64_t count)
{
    double position = ceil(q * (double)count * (1 - 4 * DBL_EPSILON));

    if (!(position > 1))
        return 1;
    return position < (double)count ? (uint64_t)position : count;
}

uint64_t histogram_quantile(const struct histogram *histogram, double q, bool *censored)
{
    uint64_t rank = rank_of(q, histogram->count), seen = 0;
    size_t bucket = bucket_of(histogram->min);

    if (censored != NULL)
        *censored = false;
    if (histogram->count == 0)
        return 0;
    while (bucket < BUCKETS - 1 && (seen += histogram->bucket[bucket]) < rank)
        bucket++;
    /* The true value behind a censored one is not known: it may be above the quantile. */
    if (censored != NULL)
        *censored = histogram->censored > 0 && bucket_of(histogram->censored_min) <= bucket;
    if (rank == 1)
        return histogram->min;
    if (rank == histogram->count)
        return histogram->max;
    return clamp(bucket_middle(bucket), histogram->min, histogram->max);
}

/* The encoding begins with one byte for the version. The next seven numbers are varints (LEB128):
 * count, censored, censored_min, min, max, and the low and the high half of sum. Then comes squares
 * as a little-endian double. At the end, there are two varints for each bucket that is not empty:
 * its distance from the previous such bucket (for the first, from bucket 0), and its count. */
#define VERSION 1
#define COUNT_LIMIT (UINT64_C(1) << 48)

static void put(struct text *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        text_add_char(out, (char)(value | 0x80));
    text_add_char(out, (char)value);
}

static void put_double(struct text *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 8; i++)
        text_add_char(out, (char)(bits >> (8 * i)));
}

void histogram_encode(const struct histogram *histogram, void **out, size_t *out_length)
{
    struct text encoded = { 0 };
    size_t last = 0;

    text_add_char(&encoded, VERSION);
    put(&encoded, histogram->count);
    put(&encoded, histogram->censored);
    put(&encoded, histogram->censored_min);
    put(&encoded, histogram->min);
    put(&encoded, histogram->max);
    put(&encoded, (uint64_t)histogram->sum);
    put(&encoded, (uint64_t)(histogram->sum >> 64));
    put_double(&encoded, histogram->squares);
    for (size_t i = 0; i < BUCKETS; i++) {
        if (histogram->bucket[i] == 0)
            continue;
        put(&encoded, i - last);
        put(&encoded, histogram->bucket[i]);
        last = i;
    }
    *out_length = encoded.length;
    *out = text_take(&encoded);
}

struct reader {
    const uint8_t *next, *end;
    bool failed;
};

static uint64_t get(struct reader *reader)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64 && reader->next < reader->end; shift += 7) {
        uint8_t byte = *reader->next++;

        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    reader->failed = true;
    return 0;
}

static double get_double(struct reader *reader)
{
    uint64_t bits = 0;
    double value;

    if (reader->end - reader->next < 8) {
        reader->failed = true;
        return 0;
    }
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)*reader->next++ << (8 * i);
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void get_head(struct reader *reader, struct histogram *out)
{
    uint64_t low;

    out->count = get(reader);
    out->censored = get(reader);
    out->censored_min = get(reader);
    out->min = get(reader);
    out->max = get(reader);
    low = get(reader);
    out->sum = (unsigned __int128)get(reader) << 64 | low;
    out->squares = get_double(reader);
}

/* Fills the buckets and verifies that they contain `count` values from min to max. */
static bool get_buckets(struct reader *reader, struct histogram *out)
{
    uint64_t total = 0;
    size_t bucket = 0, lowest = BUCKETS;

    while (reader->next < reader->end) {
        uint64_t distance = get(reader), count = get(reader);

        if (reader->failed || distance >= BUCKETS - bucket || (distance == 0 && total > 0)
            || count == 0 || count > out->count - total)
            return false;
        bucket += distance;
        if (total == 0)
            lowest = bucket;
        out->bucket[bucket] = count;
        total += count;
    }
    return total == out->count
           && (total == 0 || (lowest == bucket_of(out->min) && bucket == bucket_of(out->max)));
}

static bool head_is_consistent(const struct histogram *h)
{
    if (h->count == 0)
        return h->censored == 0 && h->censored_min == 0 && h->min == 0 && h->max == 0 && h->sum == 0
               && h->squares == 0;
    if (h->count > COUNT_LIMIT || h->min > h->max || h->censored > h->count)
        return false;
    if (h->censored == 0 ? h->censored_min != 0
                         : h->censored_min < h->min || h->censored_min > h->max)
        return false;
    return h->sum >= (unsigned __int128)h->min * h->count
           && h->sum <= (unsigned __int128)h->max * h->count && isfinite(h->squares)
           && h->squares >= 0;
}

bool histogram_decode(const void *data, size_t length, struct histogram **out, struct error *error)
{
    struct reader reader = { .next = data, .end = (const uint8_t *)data + length };
    struct histogram *decoded;

    if (length == 0 || *reader.next++ != VERSION)
        return error_set(error, ERROR_INVALID, "the histogram's version is not %d", VERSION);
    decoded = histogram_create();
    get_head(&reader, decoded);
    if (reader.failed || !head_is_consistent(decoded) || !get_buckets(&reader, decoded)) {
        histogram_destroy(decoded);
        return error_set(error, ERROR_INVALID, "the histogram of %zu bytes is malformed", length);
    }
    *out = decoded;
    return true;
}
