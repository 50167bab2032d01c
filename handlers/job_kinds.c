/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of jobs that the process runs, and the callbacks that each kind needs from other rooms
 * (top-level folders of the source). */

#include <string.h>

#include "base/json/json.h"
#include "bench/sweep/sweep.h"
#include "fleet/engine.h"
#include "fleet/managed/managed_apply.h"
#include "fleet/managed/managed_platform.h"
#include "fleet/scraper.h"
#include "fleet/server_monitor.h"
#include "handlers/answer.h"
#include "handlers/tool.h"

/* Jobs that apply a deployment plan have threads of their own: a sweep that takes hours must not
 * delay a plan that stops a server. */
#define APPLY_THREADS 4
/* How long a sweep that continues after a restart waits for a model server that does not answer:
 * large models take minutes to load. */
#define SERVER_PATIENCE_MS (10 * 60 * 1000)

static CHECKED bool resolve(void *context, const struct deployment *deployment,
                            struct endpoint *out, struct error *error)
{
    const struct services *services = context;

    return secret_access_endpoint(&services->access, deployment, out, error);
}

static CHECKED bool discover(void *context, const struct deployment *deployment,
                             const struct endpoint *endpoint, struct model_facts *out,
                             struct error *error)
{
    struct endpoint copy = *endpoint; /* engine_facts can write the model to it */
    enum failure ignored;
    bool done;

    (void)context;
    done = engine_facts(deployment, &copy, 0, out, &ignored, error);
    explicit_bzero(&copy, sizeof copy);
    return done;
}

static json_t *ask_platform(void *context, const struct deployment *deployment)
{
    const struct services *services = context;

    return services->fleet == NULL ? NULL : managed_platform(services->fleet, deployment);
}

static int64_t max_instances_of(const struct deployment *deployment)
{
    json_auto_t *limits = answer_json_stored(deployment->limits);

    return json_get_integer(limits, "max_instances", 0);
}

static void *begin_monitor(void *context, const struct deployment *deployment,
                           const struct endpoint *endpoint, const struct monitor_watch *watch)
{
    (void)context;
    return server_monitor_begin(endpoint, max_instances_of(deployment), watch);
}

static void end_monitor(void *context, void *monitor, const struct cell_result *result,
                        struct cross_check *out)
{
    (void)context;
    server_monitor_end(monitor, result, out);
}

static CHECKED enum job_end run_sweep(struct job_run *run, char **outcome_json, struct error *error)
{
    const struct services *services = run->services;
    const struct sweep_host host = {
        .context = run->services,
        .resolve = resolve,
        .discover = discover,
        .platform = ask_platform,
        .monitor_begin = begin_monitor,
        .monitor_end = end_monitor,
    };
    const struct sweep_job sweep = { .host = &host,
                                     .shards = services->sweep_shards,
                                     .calibration = services->calibration,
                                     .server_patience_ms = SERVER_PATIENCE_MS };

    return sweep_job_run(&sweep, run, outcome_json, error);
}

static CHECKED enum job_end run_apply(struct job_run *run, char **outcome_json, struct error *error)
{
    const struct services *services = run->services;
    enum job_end end;

    if (services->fleet == NULL) {
        error_set(error, ERROR_UNSUPPORTED,
                  "this server cannot deploy anything: it runs without the part that manages "
                  "deployments");
        return JOB_END_FAILED;
    }
    end = managed_apply_run(services->fleet, run, outcome_json, error);
    if (services->scraper != NULL)
        scraper_wake(services->scraper); /* the watched server may have changed */
    return end;
}

const struct job_kind job_kinds[] = {
    { JOB_KIND_APPLY, run_apply, .threads = APPLY_THREADS },
    { "sweep", run_sweep },
    { 0 },
};
