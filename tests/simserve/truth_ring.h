/* SPDX-License-Identifier: Apache-2.0 */
/* How the records are stored; only for truth*.c. */
#pragma once

#include "base/stats/histogram.h"
#include "tests/simserve/truth.h"

struct truth {
    struct truth_record *records; /* record n at n % capacity */
    size_t capacity;
    uint64_t first; /* oldest kept */
    uint64_t last;  /* newest; first - 1 when empty */
    uint64_t first_with_times;
    size_t chunk_bytes, chunk_bytes_limit;
    struct histogram *lag;
};

static inline struct truth_record *truth_at(const struct truth *truth, uint64_t number)
{
    return &truth->records[number % truth->capacity];
}
