/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what was sent with what the server counted meanwhile. Private to fleet/. */
#pragma once

#include "base/core/text.h"
#include "base/measure/cross_check.h"
#include "fleet/engine_metrics.h"

enum { COUNT_REQUESTS, COUNT_INPUT, COUNT_OUTPUT, COUNTS };

struct count {
    const char *name; /* "requests", "input_tokens", "output_tokens" */
    double server;    /* NaN: not reported */
    double ours;      /* what we counted for the requests that were answered completely */
    double more;      /* what the server may also have counted for us (struct sent) */
    double foreign;   /* about how many were for other clients; 0: none detected */
};

struct reconciliation {
    struct count counts[COUNTS];
    bool has_foreign; /* at least one count reveals other clients */
    /* The server counted far fewer requests than it answered; if it does not count requests, far
     * fewer output tokens. */
    bool is_shortfall;
};

/* Compares what was sent between two snapshots with what the server counted between them. */
void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out);
/* Appends what the server counted for other clients: "4 requests, 120 input tokens". */
void reconcile_describe(const struct reconciliation *reconciliation, struct text *out);
/* Returns an object with server, ours, uncertain, ratio and foreign for each count.
 * New reference. */
json_t *reconcile_to_json(const struct reconciliation *reconciliation);
