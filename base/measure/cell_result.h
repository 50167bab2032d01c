/* SPDX-License-Identifier: Apache-2.0 */
/* The result of one attempt to measure a cell (one combination of deployment, load and lengths).
 * bench/ fills it in, a server monitor (fleet/) checks it against the server's own counters, and
 * store/ stores it. */
#pragma once

#include "base/measure/cross_check.h"
#include "base/measure/measurement.h"

enum cell_state {
    CELL_PENDING,
    CELL_MEASURED,
    CELL_INFEASIBLE,
    CELL_FAILED,
    CELL_SKIPPED,
    CELL_INFERRED, /* not measured, because the results of other cells made it unnecessary */
    CELL_STATES
};
const char *cell_state_name(enum cell_state state);
enum cell_state cell_state_find(const char *name); /* CELL_PENDING if no state has this name */

struct cell_result {
    enum cell_state state;
    char reason[256];
    char workload_digest[65];
    struct measurement measurement;
    struct histogram *histograms[METRIC_COUNT]; /* NULL: none */
    const void *records;                        /* packed by request_records_pack; NULL: none */
    size_t records_length;
    int64_t records_count;
    struct sent sent;         /* what the whole attempt sent, for the server monitor; not stored */
    const char *witness_json; /* the server monitor's check; NULL: none */
    const void *series;       /* the server monitor's scrapes, packed; NULL: none */
    size_t series_length;
    int64_t series_scrapes;
};
