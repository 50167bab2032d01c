/* SPDX-License-Identifier: Apache-2.0 */
/* A server's counters between two idle points, held against what was sent. Private to fleet/. */
#pragma once

#include "base/core/text.h"
#include "base/measure/cross_check.h"
#include "fleet/engine_metrics.h"

enum { COUNT_REQUESTS, COUNT_INPUT, COUNT_OUTPUT, COUNTS };

struct count {
    const char *name; /* "requests", "input_tokens", "output_tokens" */
    double server;    /* NaN: it does not tell */
    double ours;      /* answered whole */
    double more;      /* that it may have counted on top */
    double foreign;   /* at least so many were of others; 0: none that can be told */
};

struct reconciliation {
    struct count counts[COUNTS];
    bool foreign; /* of one of them at least */
    bool short_;  /* the server counted by far fewer than ours: not all of it was counted there */
};

void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out);
/* "4 requests, 120 input tokens": what was of others. */
void reconcile_describe(const struct reconciliation *reconciliation, struct text *out);
/* Object of the counts: server, ours, uncertain, ratio. New reference. */
json_t *reconcile_to_json(const struct reconciliation *reconciliation);
