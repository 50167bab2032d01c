/* SPDX-License-Identifier: Apache-2.0 */
/* Stores sweeps as a worker would leave them, with made-up figures. */
#pragma once

#include "base/core/clock.h"
#include "store/ledger/sweeps.h"
#include "tests/unit/support/tool_world.h"

#define SMALL_GRID                                                                                 \
    "\"concurrency\":[1,4],\"input_tokens\":[16,64],\"output_tokens\":[16],\"window_s\":1,"        \
    "\"warmup_limit_s\":1"

#define BOTH_DEPLOYMENTS "\"deployment\":\"demo\",\"candidate\":\"new\""

#define assert_stored(world, call)                                                                 \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (world)->error.message);                                                \
    } while (0)

/* Starts a sweep of the small grid (4 cells for each deployment). `more` is added to the arguments.
 * Writes the sweep's id into `out`. */
static inline void sweep_started(struct world *world, const char *more, char out[ID_SIZE])
{
    TEXT_AUTO arguments = { 0 };
    json_auto_t *answer = NULL;

    text_addf(&arguments, "{" SMALL_GRID "%s}", more);
    answer = world_ok(world, "sweep_start", text_string(&arguments));
    snprintf(out, ID_SIZE, "%s", json_get_text(json_object_get(answer, "sweep"), "id", ""));
}

/* Claims the sweep's job, which must be next in the queue, and begins the sweep. */
static inline struct claim sweep_claimed(struct world *world, const char *sweep_id)
{
    static const char *const kinds[] = { "sweep", NULL };
    struct claim claim = { 0 };
    struct job job;
    bool found = false;

    assert_stored(world, job_claim(world->services.store, "test", kinds, clock_utc_ms(), 60000,
                                   &job, &found, &world->error));
    assert_true(found);
    assert_string_equal(job.subject, sweep_id);
    snprintf(claim.job_id, sizeof claim.job_id, "%s", job.id);
    claim.fence = job.fence;
    assert_stored(
        world, sweep_begin(world->services.store, &claim, sweep_id, clock_utc_ms(), &world->error));
    return claim;
}

/* Stores a measured cell. `estimated`: the server reported no token counts. */
static inline void cell_stored(struct world *world, const struct claim *claim,
                               const struct cell_row *cell, bool estimated)
{
    struct cell_result result = { .state = CELL_MEASURED, .workload_digest = "abc" };
    struct measurement *measurement = &result.measurement;
    int64_t attempt;

    measurement->attempted = measurement->succeeded = 100;
    measurement->success_rate = 1;
    measurement->window_s = 1;
    measurement->tokens_estimated = estimated;
    measurement->concurrency_actual = (double)cell->concurrency;
    measurement->request_throughput = 10 * (double)cell->concurrency;
    measurement->output_throughput = 160 * (double)cell->concurrency;
    measurement->latency[METRIC_TTFT] = (struct latency_summary){ .count = 100,
                                                                  .mean_ms = 21,
                                                                  .p50_ms = 20,
                                                                  .p90_ms = 24,
                                                                  .p95_ms = 26,
                                                                  .p99_ms = 30,
                                                                  .max_ms = 31 };
    measurement->latency[METRIC_ITL] = (struct latency_summary){
        .count = 1500, .mean_ms = 2, .p50_ms = 2, .p90_ms = 2, .p95_ms = 3, .p99_ms = 3, .max_ms = 4
    };
    result.witness_json = "{\"output_tokens_per_s\":160}";
    assert_stored(world, attempt_begin(world->services.store, claim, cell->id, clock_utc_ms(),
                                       &attempt, &world->error));
    assert_stored(world, attempt_end(world->services.store, claim, attempt, &result, clock_utc_ms(),
                                     &world->error));
}

static inline void cell_measured(struct world *world, const struct claim *claim,
                                 const struct cell_row *cell)
{
    cell_stored(world, claim, cell, false);
}

static inline void cell_failed(struct world *world, const struct claim *claim,
                               const struct cell_row *cell)
{
    struct cell_result result = { .state = CELL_FAILED, .reason = "timeout: no token within 9 s" };
    int64_t attempt;

    assert_stored(world, attempt_begin(world->services.store, claim, cell->id, clock_utc_ms(),
                                       &attempt, &world->error));
    assert_stored(world, attempt_end(world->services.store, claim, attempt, &result, clock_utc_ms(),
                                     &world->error));
}

/* Stores the first `count` cells as measured, then ends the sweep with this state and reason. The
 * job ends as completed if the state is "completed", and as failed otherwise. */
static inline void sweep_measured(struct world *world, const char *sweep_id, size_t count,
                                  const char *state, const char *reason)
{
    struct claim claim = sweep_claimed(world, sweep_id);
    bool completed = strcmp(state, "completed") == 0;
    struct cell_row *cells;
    size_t total;

    assert_stored(world,
                  cell_list(world->services.store, sweep_id, NULL, &cells, &total, &world->error));
    assert_true(count <= total);
    for (size_t i = 0; i < total; i++)
        assert_stored(world, run_fingerprint_set(world->services.store, &claim, sweep_id,
                                                 cells[i].deployment_id,
                                                 "{\"model\":\"simserve/toy\"}", &world->error));
    for (size_t i = 0; i < count; i++)
        cell_measured(world, &claim, &cells[i]);
    cell_rows_free(cells, total);
    assert_stored(world,
                  job_finish(world->services.store, &claim,
                             &(struct job_ending){ .state = completed ? JOB_COMPLETED : JOB_FAILED,
                                                   .outcome_json = "{}",
                                                   .sweep_state = state,
                                                   .sweep_reason = reason },
                             clock_utc_ms(), &world->error));
}
