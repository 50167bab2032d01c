/* SPDX-License-Identifier: Apache-2.0 */
/* The job kind `sweep`: runs a plan cell by cell through the load generator and stores the results.
 */
#pragma once

#include "base/net/endpoint.h"
#include "bench/cell/calibration.h"
#include "jobs/job_pool.h"
#include "store/ledger/deployments.h"
#include "store/ledger/sweeps.h"

/* The functions of other rooms that a sweep needs; handlers/ provides them. Each may be called from
 * the sweep's thread. */
struct sweep_host {
    void *context;
    /* Address, model and credential of a revision, resolved now. */
    CHECKED bool (*resolve)(void *context, const struct deployment *deployment,
                            struct endpoint *out, struct error *error);
    /* The facts that the server reports about itself now. */
    CHECKED bool (*discover)(void *context, const struct deployment *deployment,
                             const struct endpoint *endpoint, struct model_facts *out,
                             struct error *error);
    /* The server monitor of an attempt (base/measure/cross_check.h): begin waits a while for the
     * server to be idle, and watches its metrics until end, which compares them with what was sent.
     * Both ask `watch` whether to stop. End's result is NULL if the attempt was interrupted. */
    void *(*monitor_begin)(void *context, const struct deployment *deployment,
                           const struct endpoint *endpoint, const struct monitor_watch *watch);
    void (*monitor_end)(void *context, void *monitor, const struct cell_result *result,
                        struct cross_check *out);
    /* What the platform shows of a server that opsbrain deployed, such as image and machine: new
     * reference, NULL for any other server. NULL: opsbrain deploys none. */
    json_t *(*platform)(void *context, const struct deployment *deployment);
};

struct sweep_job {
    const struct sweep_host *host;
    unsigned shards;                 /* load threads per cell at most */
    struct calibration *calibration; /* of this process; NULL: cells are not compared with it */
    int64_t server_patience_ms; /* how long a sweep that another process began waits for its server
                                   to answer */
};

/* job_kind.run of kind "sweep"; run->services points to the struct sweep_job through the member
 * that `job_pool_create` received: handlers/ wraps this with its own services. */
CHECKED enum job_end sweep_job_run(const struct sweep_job *sweep, struct job_run *run,
                                   char **outcome_json, struct error *error);
