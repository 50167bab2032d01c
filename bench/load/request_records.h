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
    uint64_t index;                       /* of the request within the attempt: its X-Request-Id */
    int64_t sent_us;                      /* relative to the window's start; negative before it */
    uint32_t ttft_us, e2e_us;             /* 0: it did not get that far */
    uint32_t output_tokens, chunks;       /* tokens by usage, else chunks */
    uint32_t input_tokens, cached_tokens; /* UINT32_MAX: the server did not report it */
    uint8_t failure;                      /* enum failure */
    uint8_t phase;                        /* enum record_phase */
    int64_t due_us; /* when its user was free, or the schedule said; relative to the window's start
                     */
};

struct request_records {
    struct record *rows;
    size_t count, capacity;
    int64_t origin_ns; /* the window's start on the monotonic clock: sent_us is relative to it */
};

void request_records_add(struct request_records *records, const struct record *record);
void request_records_merge(struct request_records *into, const struct request_records *from);
void request_records_finish(struct request_records *records);

/* "OBR2", the count, the origin, then each member as a column of little-endian numbers; all of it
 * compressed. *out is heap memory. */
CHECKED bool request_records_pack(const struct request_records *records, void **out, size_t *length,
                                  struct error *error);
/* The reverse. */
CHECKED bool request_records_unpack(const void *data, size_t length, struct request_records *out,
                                    struct error *error);
