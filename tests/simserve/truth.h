/* SPDX-License-Identifier: Apache-2.0 */
/* What really happened: a record of each request for generation, and the lag of the server's
 * writes. Times are nanoseconds of CLOCK_MONOTONIC, or 0 if the event did not happen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/text.h"

enum outcome {
    OUTCOME_OK,
    OUTCOME_REFUSED, /* an error status instead of an answer */
    OUTCOME_RESET,
    OUTCOME_STREAM_ERROR,
    OUTCOME_TRUNCATED,
    OUTCOME_CLIENT_CLOSED,
};

/* When content chunks were written, in microseconds after the first. */
struct chunk_times {
    uint32_t *offset_us;
    uint32_t count;
    uint32_t capacity;
};

struct truth_record {
    int64_t planned_first_ns, first_write_ns;
    int64_t planned_last_ns, last_write_ns;
    int64_t chunks;
    int64_t lag_max_ns;
    struct chunk_times times;

    int64_t read_ns;     /* when the request had been read completely */
    int64_t admitted_ns; /* when it began to run */
    int64_t end_ns;
    int64_t prompt_tokens, cached_tokens, output_tokens;
    int64_t running_at_admission; /* requests running, including this one */
    uint64_t sequence;            /* 1, 2, ... in the order in which requests ended */
    uint64_t faults;              /* FAULT_BIT of each fault that the request has */
    enum outcome outcome;
    int status;
    bool chat, stream;
    char request_id[80];
};

struct truth;

/* Keeps the last `requests` records. Their chunk times take up at most `chunk_bytes` bytes: those
 * of the oldest records are dropped first. */
struct truth *truth_create(size_t requests, size_t chunk_bytes);
void truth_destroy(struct truth *truth);
void truth_clear(struct truth *truth);

/* Records that a content chunk planned for planned_ns is sent at now_ns. */
void truth_chunk(struct truth *truth, struct truth_record *record, int64_t planned_ns,
                 int64_t now_ns);
/* Stores the record, and moves the chunk times out of *record. */
void truth_add_take(struct truth *truth, struct truth_record *record);

/* Appends up to `limit` records with a sequence number above `since`, as JSON lines. */
void truth_write_lines(const struct truth *truth, uint64_t since, size_t limit, bool with_chunks,
                       struct text *out);
/* Appends the lag of the content chunks since the last truth_clear, as {"count", "p50_us",
 * "p99_us", "max_us"}. The lag is the actual minus the planned time, or 0 for an early chunk. */
void truth_write_lag(const struct truth *truth, struct text *out);
