/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and latencies of requests. The labels come from tables, so the number of rows is bounded
 * no matter what clients send. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/core/text.h"

struct telemetry;
struct telemetry_row;

struct telemetry *telemetry_create(void);
void telemetry_destroy(struct telemetry *telemetry); /* NULL is fine */

/* Adds a row, which counts the requests with this method and tool (`tool` can be NULL). Call it
 * only at startup, before requests are counted. The row lives as long as the telemetry. */
struct telemetry_row *telemetry_add_row(struct telemetry *telemetry, const char *method,
                                        const char *tool);
/* Can be called by any thread. If the duration is negative, the request is counted without a
 * latency. */
void telemetry_record(struct telemetry_row *row, unsigned http_status, int64_t duration_ns);
void telemetry_record_tool_error(struct telemetry_row *row);
/* Appends the counts and latencies in the Prometheus text format, without rows that were never
 * used. */
void telemetry_write(const struct telemetry *telemetry, struct text *out);
