/* SPDX-License-Identifier: Apache-2.0 */
/* The job kind `sweep`: runs a plan cell by cell through the load generator and stores the
 * results. */
#pragma once

#include "base/net/endpoint.h"
#include "bench/cell/calibration.h"
#include "jobs/job_pool.h"
#include "store/ledger/deployments.h"
#include "store/ledger/sweeps.h"

/* The functions from other rooms (top-level folders of the source) that a sweep needs; handlers/
 * provides them. All are called on the thread that runs the job. */
struct sweep_host {
    void *context;
    /* Finds the current address, model and credential of a deployment's revision. */
    CHECKED bool (*resolve)(void *context, const struct deployment *deployment,
                            struct endpoint *out, struct error *error);
    /* Requests the facts that the server reports about itself. */
    CHECKED bool (*discover)(void *context, const struct deployment *deployment,
                             const struct endpoint *endpoint, struct model_facts *out,
                             struct error *error);
    /* The server monitor of an attempt (base/measure/cross_check.h). monitor_begin waits a while
     * for the server to be idle, and then watches the server's metrics until monitor_end is called.
     * monitor_end compares the metrics with what was sent, and frees the monitor. Both call `watch`
     * to find out whether to stop waiting. `result` is NULL if the attempt was interrupted: then
     * nothing is compared. Free *out with cross_check_finish. Both members may be NULL. */
    void *(*monitor_begin)(void *context, const struct deployment *deployment,
                           const struct endpoint *endpoint, const struct monitor_watch *watch);
    void (*monitor_end)(void *context, void *monitor, const struct cell_result *result,
                        struct cross_check *out);
    /* Returns what the platform reports about a server that opsbrain deployed, such as its image
     * and machine, as a new reference. Returns NULL for any other server, or if nothing is known.
     * The member may be NULL. */
    json_t *(*platform)(void *context, const struct deployment *deployment);
};

struct sweep_job {
    const struct sweep_host *host;
    unsigned shards;                 /* maximum number of load threads per cell */
    struct calibration *calibration; /* NULL: cells are not compared with a ceiling */
    /* How long a job that was claimed before (for example, before a restart) waits for each server
     * to answer. */
    int64_t server_patience_ms;
};

/* Runs the job of a sweep: the job kind "sweep" in handlers/job_kinds.c calls this. The caller
 * frees *outcome_json, which is set unless the job failed or yielded. */
CHECKED enum job_end sweep_job_run(const struct sweep_job *sweep, struct job_run *run,
                                   char **outcome_json, struct error *error);
