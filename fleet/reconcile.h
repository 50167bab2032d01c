/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a server's counters between two idle points with what was sent. Private to fleet/. */
#pragma once

#include "base/core/text.h"
#include "base/measure/cross_check.h"
#include "fleet/engine_metrics.h"

enum { COUNT_REQUESTS, COUNT_INPUT, COUNT_OUTPUT, COUNTS };

struct count {
    const char *name; /* "requests", "input_tokens", "output_tokens" */
    double server;    /* NaN: not reported */
    double ours;      /* of requests answered completely */
    double more;      /* what the server may have counted in addition */
    double foreign;   /* at least this many were sent by others; 0: none detectable */
};

struct reconciliation {
    struct count counts[COUNTS];
    bool foreign; /* at least one count reveals other clients */
    /* the server counted far less than we sent: some requests did not reach it */
    bool is_shortfall;
};

/* Compares what the server counted between two snapshots with what was sent. */
void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out);
/* Appends what others sent, such as "4 requests, 120 input tokens". */
void reconcile_describe(const struct reconciliation *reconciliation, struct text *out);
/* Returns an object with server, ours, uncertain, ratio and foreign for each count.
 * New reference. */
json_t *reconcile_to_json(const struct reconciliation *reconciliation);
