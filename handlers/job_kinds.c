/* The kinds of jobs that the process runs, and what each needs of the rooms beside it. */

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "bench/sweep.h"
#include "fleet/engine.h"
#include "fleet/metrics.h"
#include "handlers/tool.h"

static bool resolve(void *context, const struct deployment *deployment, struct endpoint *out,
                    struct error *error)
{
    const struct services *services = context;

    return endpoint_resolve(deployment, services->secrets_folder, out, error);
}

static bool discover(void *context, const struct deployment *deployment,
                     const struct endpoint *endpoint, struct model_facts *out, struct error *error)
{
    struct endpoint copy = *endpoint; /* its model may be filled in */
    bool done;

    (void)context;
    done = engine_facts(deployment, &copy, out, error);
    explicit_bzero(&copy, sizeof copy);
    return done;
}

/* The second witness: the server's own metrics before and after a cell. */
struct witness {
    struct endpoint endpoint;
    struct metrics_snapshot first;
};

static void witness_destroy(struct witness *witness)
{
    explicit_bzero(witness, sizeof *witness);
    free(witness);
}

/* NULL where the server tells no metrics. */
static void *witness_begin(void *context, const struct endpoint *endpoint)
{
    struct witness *witness = memory_zeroed(1, sizeof *witness);
    struct error ignored;

    (void)context;
    witness->endpoint = *endpoint;
    if (metrics_scrape(endpoint, &witness->first, &ignored))
        return witness;
    witness_destroy(witness);
    return NULL;
}

static char *witness_end(void *context, void *begun)
{
    struct witness *witness = begun;
    struct metrics_snapshot last;
    struct error ignored;
    char *told = NULL;

    (void)context;
    if (witness == NULL)
        return NULL;
    if (metrics_scrape(&witness->endpoint, &last, &ignored)) {
        json_auto_t *between = metrics_between(&witness->first, &last);

        told = json_write(between);
    }
    witness_destroy(witness);
    return told;
}

static enum job_end run_sweep(struct job_run *run, char **outcome_json, struct error *error)
{
    const struct services *services = run->services;
    const struct sweep_host host = {
        .context = run->services,
        .resolve = resolve,
        .discover = discover,
        .witness_begin = witness_begin,
        .witness_end = witness_end,
    };
    const struct sweep_job sweep = { .host = &host, .shards = services->sweep_shards };

    return sweep_job_run(&sweep, run, outcome_json, error);
}

const struct job_kind job_kinds[] = {
    { "sweep", run_sweep },
    { 0 },
};
