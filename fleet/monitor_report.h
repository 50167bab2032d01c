/* SPDX-License-Identifier: Apache-2.0 */
/* A monitor's observations of a cell, and its report on them. Private to fleet/. */
#pragma once

#include "fleet/monitor_log.h"
#include "fleet/reconcile.h"
#include "store/ledger/sweeps.h"

/* How the wait for an idle server ended. */
enum idle_wait { POINT_IDLE, POINT_BUSY, POINT_SILENT, POINT_STOPPED };

struct monitor_observations {
    struct monitor_log log;
    int64_t instances; /* from the deployment's settings; 0: not known */
    int64_t counted;   /* if several answer in turns, the number of those whose counters are all
                        * known; 0: not known */
    enum idle_wait begin, end;
    struct engine_metrics_snapshot first,
        last;         /* at the idle points; for several instances: their counters */
    char silent[256]; /* the reason why it could not be scraped */
    char served_first[256], served_last[256];
};

/* A pure function of its arguments: the verdict, its sentence, the JSON and the series. */
void monitor_report_write(const struct monitor_observations *observations,
                          const struct cell_result *result, struct cross_check *out);
