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
    int64_t instances;    /* how many the deployment's settings state; 0: not known */
    int64_t counted;      /* number of instances whose counters are added up; 0: none are */
    enum idle_wait begin; /* how the wait before the first request ended */
    enum idle_wait end;   /* how the wait after the last request ended */
    /* The counters before the first request; all NaN if `counted` is above 0. */
    struct engine_metrics_snapshot first;
    /* The counters after the last request or, if `counted` is above 0, what all instances together
     * counted from the first request to the last one. */
    struct engine_metrics_snapshot last;
    char scrape_problem[256]; /* why the most recent failed scrape failed; "": none failed */
    char served_first[256];   /* the model listed before the first request; "": not known */
    char served_last[256];    /* the model listed after the last request; "": not known */
};

/* Fills *out with the verdict, the sentence that explains it, the JSON and the series. Depends only
 * on its arguments. Free with cross_check_finish. */
void monitor_report_write(const struct monitor_observations *observations,
                          const struct cell_result *result, struct cross_check *out);
