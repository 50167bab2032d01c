/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what a server counted between two moments when it was idle with what was sent. Private
 * to fleet/. */
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
    double foreign;   /* the server counted at least this many for others; 0: none detectable */
};

struct reconciliation {
    struct count counts[COUNTS];
    bool has_foreign;  /* at least one count reveals other clients */
    bool is_shortfall; /* the server counted far less than it answered */
};

/* Compares what the server counted between two snapshots with what was sent. */
void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out);
/* Appends what the server counted for others, such as "4 requests, 120 input tokens". */
void reconcile_describe(const struct reconciliation *reconciliation, struct text *out);
/* Returns an object with server, ours, uncertain, ratio and foreign for each count.
 * New reference. */
json_t *reconcile_to_json(const struct reconciliation *reconciliation);
