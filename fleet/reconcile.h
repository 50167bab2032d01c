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
    double ours;      /* of requests answered in full */
    double more;      /* what it may have counted in addition */
    double foreign;   /* at least this many were sent by others; 0: none detectable */
};

struct reconciliation {
    struct count counts[COUNTS];
    bool foreign; /* true for at least one of them */
    bool short_;  /* the server counted far fewer than ours: not all of our requests were counted
                   * there */
};

void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out);
/* "4 requests, 120 input tokens": the amount sent by others. */
void reconcile_describe(const struct reconciliation *reconciliation, struct text *out);
/* Object of the counts: server, ours, uncertain, ratio. New reference. */
json_t *reconcile_to_json(const struct reconciliation *reconciliation);
