/* SPDX-License-Identifier: Apache-2.0 */
/* How the records are stored; only truth.c and summary.c include this header. */
#pragma once

#include "base/stats/histogram.h"
#include "tests/simserve/truth.h"

struct truth {
    struct truth_record *records; /* record n is at index n % capacity */
    size_t capacity;
    uint64_t first;            /* number of the oldest record */
    uint64_t last;             /* number of the newest record; first - 1 if there is none */
    uint64_t first_with_times; /* number of the oldest record that may have chunk times */
    size_t chunk_bytes, chunk_bytes_limit;
    struct histogram *lag;
};

static inline struct truth_record *truth_at(const struct truth *truth, uint64_t number)
{
    return &truth->records[number % truth->capacity];
}
