/* SPDX-License-Identifier: Apache-2.0 */
/* GET /metrics: the server's own metrics, in the Prometheus text format. */
#pragma once

#include "base/core/text.h"

struct http;
struct services;
struct sessions;
struct telemetry;
struct workers;

/* The parts whose metrics are reported; borrowed. */
struct metrics_sources {
    const struct services *services;
    struct http *http;
    struct sessions *sessions;
    struct telemetry *telemetry;
    struct workers *workers, *waiting, *pages_workers, *pages_waiting;
};

/* Appends the metrics to `out`. Reads the store. */
void metrics_endpoint_write(const struct metrics_sources *sources, struct text *out);
