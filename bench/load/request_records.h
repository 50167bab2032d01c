/* SPDX-License-Identifier: Apache-2.0 */
/* The raw records of a cell: one per request, stored in columns and compressed. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

/* Requests beyond this number are measured, but not recorded individually. */
#define REQUEST_RECORDS_LIMIT 500000

enum record_phase { RECORD_PROBE, RECORD_WARMUP, RECORD_WINDOW, RECORD_DRAIN };

struct record {
    uint64_t index;         /* of the request within the attempt, as in its X-Request-Id */
    int64_t sent_us;        /* relative to the window's start, negative before it; 0: not sent */
    uint32_t ttft_us;       /* from sent_us to the first chunk with output; 0: none arrived */
    uint32_t e2e_us;        /* from sent_us to the end of the request; 0: not sent */
    uint32_t output_tokens; /* tally_output_tokens */
    uint32_t chunks;
    uint32_t input_tokens, cached_tokens; /* UINT32_MAX: the server did not report it */
    uint8_t failure;                      /* enum failure */
    uint8_t phase;                        /* enum record_phase */
    /* When its user became free, or, in an open loop, its scheduled time; relative to the window's
     * start. */
    int64_t due_us;
};

struct request_records {
    struct record *rows;
    size_t count, capacity;
    /* The window's start on the monotonic clock; in a cell without a window, the time at which one
     * of the load threads ended. */
    int64_t origin_ns;
};

/* Does nothing once there are REQUEST_RECORDS_LIMIT records. */
void request_records_add(struct request_records *records, const struct record *record);
void request_records_merge(struct request_records *into, const struct request_records *from);
void request_records_finish(struct request_records *records);

/* Writes "OBR2", the count, the origin, then each member as a column of little-endian numbers, and
 * compresses all of it. The caller frees *out. */
CHECKED bool request_records_pack(const struct request_records *records, void **out, size_t *length,
                                  struct error *error);
/* Reads what request_records_pack wrote. INVALID if the data is damaged. Free with
 * request_records_finish. */
CHECKED bool request_records_unpack(const void *data, size_t length, struct request_records *out,
                                    struct error *error);
