/* SPDX-License-Identifier: Apache-2.0 */
/* What a monitor observed of the server while a cell was measured, and its report on that. Private
 * to fleet/. */
#pragma once

#include "fleet/monitor_log.h"
#include "fleet/reconcile.h"
#include "store/ledger/sweeps.h"

/* How the wait for an idle server ended. */
enum idle_wait {
    POINT_IDLE,
    POINT_BUSY,   /* the server was still working when the time was up */
    POINT_SILENT, /* the server's metrics could not be scraped */
    POINT_STOPPED /* the caller cancelled the wait */
};

struct monitor_observations {
    struct monitor_log log;
    int64_t instances; /* from the deployment's settings; 0: not known */
    int64_t counted;   /* number of instances whose counters are added up; 0: none are */
    enum idle_wait begin, end;
    /* The counters at the two idle points: before the first request and after the last one. If the
     * counters of several instances are added up, `first` has no counters, and `last` has the total
     * growth of all of them. */
    struct engine_metrics_snapshot first, last;
    char scrape_problem[256];                 /* why the last failed scrape failed */
    char served_first[256], served_last[256]; /* the model before and after; "" if not reported */
};

/* Fills *out with the verdict, the sentence that explains it, the JSON and the series. A pure
 * function of its arguments. Free with cross_check_finish. */
void monitor_report_write(const struct monitor_observations *observations,
                          const struct cell_result *result, struct cross_check *out);
